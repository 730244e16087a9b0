"""A path: one problem at many strengths."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data, as_data
from tikhon.data.moments import Cells
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid, as_grid
from tikhon.paths.penalised_path import penalised_path
from tikhon.paths.ridge_path import ridge_lams, ridge_path, smallest_lam
from tikhon.paths.smooth_path import path_smooth
from tikhon.penalties import L1, Scaled, Weighted
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.results import Path, Solution, Status, StatusCode
from tikhon.solvers.choose import has_machine, is_ridge, plan_ridge
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.solve import solve_generic
from tikhon.solvers.targets import check_offset, check_targets
from tikhon.solvers.training import Training
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["generic_lams", "generic_path", "path"]


def path(
    loss: Loss,
    penalty: Penalty,
    X: Any,
    y: Any,
    *,
    lams: int | float | ArrayLike | Grid = 100,
    sample_weight: Any = None,
    offset: Any = None,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
) -> Path:
    """Solve a problem at each strength of a grid, strongest first; nothing is standardised.

    Parameters
    ----------
    loss : Loss
    penalty : Penalty
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,) or (n, targets)
    lams : int, array or Grid
        How many strengths, or which.
    sample_weight : array of shape (n,), optional
    offset : array of shape (n,), optional
        Added to the linear predictor of each row; for losses with a column per class
        (n, classes). Smooth losses other than the squared one.
    intercept : bool, default True
    solver : str, default "auto"
    tol : float, default 1e-8

    Returns
    -------
    Path

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> ridge = tk.path(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=[10.0, 0.1])
    >>> ridge.coefs.shape, ridge.at(0.1).lam
    ((2, 10), 0.1)
    """
    data = as_data(X, y, sample_weight=sample_weight, offset=offset)
    check_offset(loss, data)
    grid = as_grid(lams)
    if has_machine(loss, penalty, data.design.shape[1]):
        return penalised_path(
            penalty, data, grid, intercept=intercept, solver=solver, tol=tol, stop=Stop()
        )
    if not is_ridge(loss, penalty) and is_smooth(loss):
        return path_smooth(
            loss, penalty, data, grid, intercept=intercept, solver=solver, tol=tol, stop=Stop()
        )
    if not is_ridge(loss, penalty):
        return generic_path(loss, penalty, data, grid, intercept=intercept, tol=tol)
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, False, intercept)
    machine = plan_ridge(*data.design.shape, solver).machine(training, smallest_lam(grid), tol)
    chosen = ridge_lams(grid, machine.spectrum)
    return ridge_path(
        machine, chosen, tol=tol, one_target=data.one_target, feature_names=data.feature_names
    )


def generic_lams(
    loss: Loss, penalty: Penalty, data: Data, grid: Grid, *, intercept: bool
) -> Float64Array:
    """Return the strengths of a grid: from `lam_max` down, where there is one."""
    if grid.values is not None:
        return grid.below(1.0)
    n, d = data.design.shape
    y = data.y[:, 0] if data.one_target else data.y
    top = Problem(loss, penalty, 0.0, intercept).lam_max(data.design, y, data.s)
    if not np.isfinite(top):  # no strength kills every coefficient: a thousandfold shrinkage
        top = 1e3 * float(np.mean(data.design.stats(data.s).sd ** 2)) or 1.0
        return grid.below(top, 1e-8)
    return grid.below(top if top > 0 else 1.0, 1e-2 if d > n else 1e-3)


def generic_path(
    loss: Loss,
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    intercept: bool,
    tol: float,
    lams: Float64Array | None = None,
) -> Path:
    """Solve strength after strength, each from the one before."""
    check_targets(loss, data)
    if lams is None:
        lams = generic_lams(loss, penalty, data, grid, intercept=intercept)
    started = time.perf_counter()
    solutions: list[Solution] = []
    for lam in lams:
        problem = Problem(loss, penalty, float(lam), intercept)
        solutions.append(solve_generic(problem, data, solutions[-1] if solutions else None, tol))
    return Path(
        lams=lams,
        coefs=np.stack([solution.coef for solution in solutions]),
        intercepts=np.stack([np.asarray(solution.intercept) for solution in solutions]),
        certificates=tuple(solution.certificate for solution in solutions),
        df=np.array([_df(penalty, solution) for solution in solutions]),
        losses=np.array([_loss(penalty, solution) for solution in solutions]),
        status=_worst(solutions),
        solver=solutions[0].solver,
        passes=sum(solution.passes for solution in solutions),
        seconds=time.perf_counter() - started,
        feature_names=data.feature_names,
    )


def _df(penalty: Penalty, solution: Solution) -> float:
    """Degrees of freedom of a target: its nonzeros for the lasso, unknown otherwise."""
    while isinstance(penalty, Weighted | Scaled):
        penalty = penalty.penalty
    if isinstance(penalty, L1):
        return np.count_nonzero(solution.coef) * len(solution.coef) / solution.coef.size
    return float("nan")


def _loss(penalty: Penalty, solution: Solution) -> float:
    """The objective less the penalty: at a solution no constraint is violated."""
    return solution.objective - float(solution.lam) * penalty.value(solution.coef)


def _worst(solutions: list[Solution]) -> Status:
    """The first status that is not converged, with the strength it belongs to."""
    for solution in solutions:
        if not solution.status.ok:
            status = solution.status
            return Status(
                status.code, f"at lam={solution.lam:.3g}: {status.message}", status.remedy
            )
    return Status(StatusCode.CONVERGED)
