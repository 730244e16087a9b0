"""Cross-validation of smooth losses: every fold and strength from one preparation of the table."""

from __future__ import annotations

from typing import Any

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.penalties.base import Penalty
from tikhon.selection.folds import as_folds
from tikhon.selection.penalised_study import PenalisedBench, PenalisedFits
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score, loss_score
from tikhon.selection.split import Rows
from tikhon.selection.study import Study
from tikhon.solvers.choose_smooth import plan_smooth
from tikhon.solvers.smooth import smooth_training
from tikhon.solvers.targets import check_targets

__all__ = ["study_smooth"]


def study_smooth(
    data: Data,
    loss: Loss,
    penalty: Penalty,
    grid: Grid,
    *,
    folds: Any = 10,
    rule: str | Rule = "min",
    score: Score | None = None,
    standardize: bool = False,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
    stop: Stop | None = None,
) -> Study:
    """Score a grid of strengths on held-out rows, and solve the path on all rows.

    Parameters
    ----------
    data : Data
        Checked input, offset included.
    loss : Loss
        Smooth. With a column of z per class, `Study.path.coefs` are (L, d, classes).
    penalty : Penalty
    grid : Grid
    folds
        As for `tk.cross_validate`.
    rule : str or Rule
    score : Score, optional
        Of the linear predictor, offset included, (m,) or (m, classes), as `Score.of` makes it; the
        mean loss by default.
    standardize, intercept : bool
    solver : str
        "auto", or a regime of `tikhon.solvers.choose_smooth`.
    tol : float
    stop : Stop, optional

    Returns
    -------
    Study
    """
    check_targets(loss, data)
    if isinstance(folds, str):
        raise UnsupportedError(
            f"folds={folds!r} has a closed form for ridge only; use a number of folds."
        )
    cut = as_folds(folds, grouped=data.groups is not None)
    split = cut.split(Rows(data.design, data.y, data.used, data.groups))
    training = smooth_training(
        loss, data, split.cells, standardize=standardize, intercept=intercept
    )
    plan = plan_smooth(data.design, loss, penalty, solver, targets=data.y.shape[1])
    machine = plan.machine(training, loss, penalty, tol, stop or Stop())
    bench = PenalisedBench(data, split, solver, training, machine.stop, tol)
    chosen = loss_score(loss) if score is None else score
    fits = PenalisedFits.of(bench, machine, grid)
    return fits.study(rule=rule, score=chosen, plan=plan)
