"""A path of a smooth loss: all strengths from one preparation of the table, certified."""

from __future__ import annotations

import time

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.paths.penalised_path import PenalisedPath, penalised_lams
from tikhon.penalties.base import Penalty
from tikhon.results import Path
from tikhon.solvers.choose_smooth import plan_smooth
from tikhon.solvers.smooth import smooth_training
from tikhon.solvers.targets import check_targets

__all__ = ["path_smooth"]


def path_smooth(
    loss: Loss,
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    standardize: bool = False,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
    stop: Stop | None = None,
) -> Path:
    """Solve a grid of strengths, 0 included, on all rows."""
    started = time.perf_counter()
    check_targets(loss, data)
    cells = Cells.of(data.labels())
    training = smooth_training(loss, data, cells, standardize=standardize, intercept=intercept)
    plan = plan_smooth(data.design, loss, penalty, solver, targets=data.y.shape[1])
    machine = plan.machine(training, loss, penalty, tol, stop or Stop())
    lams = penalised_lams(machine, grid)
    fit = machine.fits([training.everything()], lams)[0]
    kept = max(1, fit.solved)
    path = PenalisedPath(
        machine,
        fit.part(0, kept),
        lams[:kept],
        one_target=data.one_target and not loss.per_class,
        feature_names=data.feature_names,
        seconds=time.perf_counter() - started,
        skipped=len(lams) - kept,
    )
    return path.computed(time.perf_counter() - started)
