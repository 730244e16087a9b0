"""One strength of a smooth loss with any penalty, certified on the rows."""

from __future__ import annotations

import time

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.results import Solution
from tikhon.solvers.choose_smooth import plan_smooth
from tikhon.solvers.penalised import certified_fit
from tikhon.solvers.smooth import smooth_training
from tikhon.solvers.solve_penalised import Single
from tikhon.solvers.targets import check_targets

__all__ = ["solve_smooth"]


def solve_smooth(
    loss: Loss,
    penalty: Penalty,
    lam: float,
    data: Data,
    *,
    standardize: bool = False,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
    stop: Stop | None = None,
    count: bool = True,
) -> Single:
    """Solve one strength, 0 included, and certify it.

    Parameters
    ----------
    loss : Loss
        Smooth: see `tikhon.solvers.smooth.is_smooth`.
    penalty : Penalty
    lam : float
    data : Data
        Checked input, offset included.
    standardize, intercept : bool
    solver : str
        "auto", or a regime of `tikhon.solvers.choose_smooth`.
    tol : float
        Relative duality gap (KKT residual where there is no dual) to reach.
    stop : Stop, optional
    count : bool
        Whether to count degrees of freedom, which may cost as much as the solution; else nan.

    Returns
    -------
    Single
        The solution, its degrees of freedom and its training loss.
    """
    started = time.perf_counter()
    check_targets(loss, data)
    cells = Cells.of(data.labels())
    training = smooth_training(loss, data, cells, standardize=standardize, intercept=intercept)
    plan = plan_smooth(data.design, loss, penalty, solver, targets=data.y.shape[1])
    machine = plan.machine(training, loss, penalty, tol, stop or Stop())
    strength = np.array([lam])
    fit = machine.fits([training.everything()], strength)[0]
    found = certified_fit(machine, machine.null(), strength, fit.dense(), fit.intercepts)
    vector = data.one_target and not loss.per_class
    solution = Solution(
        coef=found.coefs[0][:, 0] if vector else found.coefs[0],
        intercept=float(found.intercepts[0, 0]) if vector else found.intercepts[0],
        lam=lam,
        certificate=found.certificates[0],
        status=machine.judge(strength, found, fit.solved),
        solver=str(plan),
        passes=machine.passes,
        seconds=time.perf_counter() - started,
    )
    df = float(machine.df(strength, found)[0]) if count else float("nan")
    return Single(solution, df, float(found.losses[0]), np.empty(0, dtype=np.int64))
