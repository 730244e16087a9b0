"""A path: one problem at many strengths."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data, as_data
from tikhon.data.moments import Cells
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.paths.grid import Grid, as_grid
from tikhon.paths.penalised_path import penalised_path
from tikhon.paths.ridge_path import ridge_lams, ridge_path, smallest_lam
from tikhon.paths.smooth_path import path_smooth
from tikhon.penalties import NoPenalty, NormBall
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.results import Path, Solution, Status, StatusCode, unfinished
from tikhon.solvers.choose import has_machine, is_ridge, plan_ridge
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.solve import (
    GENERIC,
    generic_df,
    mean_loss,
    no_refit,
    refuse_solver,
    solve_generic,
)
from tikhon.solvers.targets import check_offset, check_targets
from tikhon.solvers.task import generic_view
from tikhon.solvers.training import Training
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["ENDED_EARLY", "as_share", "generic_lams", "generic_path", "path", "refuse_no_strength"]

ENDED_EARLY = (StatusCode.MAX_SECONDS, StatusCode.INTERRUPTED)
"""Outcomes after which a path goes no further."""


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
    max_seconds: float | None = None,
    relaxed: float = 0.0,
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
    max_seconds : float, optional
        After this time the strengths solved so far are the path, and its status says so. Ridge is
        solved for all strengths at once, and finishes.
    relaxed : float, default 0
        With the squared loss and a penalty that sets coefficients to 0: the share of least squares
        on the support that is mixed into every solution. 1 is the refit without any shrinkage.

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
    grid, stop = as_grid(lams), Stop.after(max_seconds)
    refuse_no_strength(loss, penalty, data.design.shape[1], grid)
    if has_machine(loss, penalty, data.design.shape[1]) and solver != GENERIC:
        return penalised_path(
            penalty,
            data,
            grid,
            intercept=intercept,
            solver=solver,
            tol=tol,
            stop=stop,
            relaxed=as_share(relaxed),
        )
    if relaxed:
        raise no_refit(loss, penalty)
    if is_smooth(loss):
        return path_smooth(
            loss, penalty, data, grid, intercept=intercept, solver=solver, tol=tol, stop=stop
        )
    if not is_ridge(loss, penalty) or solver == GENERIC:
        refuse_solver(Problem(loss, penalty, 0.0, intercept), solver)
        return generic_path(loss, penalty, data, grid, intercept=intercept, tol=tol, stop=stop)
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, False, intercept)
    machine = plan_ridge(*data.design.shape, solver).machine(training, smallest_lam(grid), tol)
    chosen = ridge_lams(grid, machine.spectrum)
    return ridge_path(
        machine, chosen, tol=tol, one_target=data.one_target, feature_names=data.feature_names
    )


def as_share(relaxed: float) -> float:
    """Check a share of least squares on the support."""
    if not isinstance(relaxed, int | float | np.number) or not 0 <= relaxed <= 1:
        raise ValueError(f"`relaxed` must be a share between 0 and 1, got {relaxed!r}.")
    return float(relaxed)


def refuse_no_strength(loss: Loss, penalty: Penalty, d: int, grid: Grid) -> None:
    """Refuse a grid of strengths where there is nothing for them to multiply."""
    if isinstance(penalty, NoPenalty):
        instead = "tk.LinearRegression" if isinstance(loss, Squared) else "tk.solve with lam=0"
        raise UnsupportedError(
            f"NoPenalty has no strength, so a grid of strengths is one model; use {instead}."
        )
    form = penalty.coordinates(d)
    constraint = form is not None and not (form.l1.any() or form.l2.any())
    if grid.values is None and (constraint or isinstance(penalty, NormBall)):
        raise UnsupportedError(
            f"{type(penalty).__name__} is a constraint without a strength, so a grid of strengths "
            "is one model; give one number, such as lam=1.0."
        )


def generic_lams(
    loss: Loss,
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    intercept: bool,
    standardize: bool = False,
) -> Float64Array:
    """Return the strengths of a grid: from `lam_max` down, where there is one."""
    if grid.values is not None:
        return grid.below(1.0)
    n, d = data.design.shape
    design = data.design if len(data.used) == n else data.design.rows(data.used)
    y = data.y[data.used][:, 0] if data.one_target else data.y[data.used]
    s = None if data.s is None else data.s[data.used]
    view = generic_view(design, s, standardize=standardize, intercept=intercept)
    problem = Problem(loss, penalty.on_scaled(view.scale), 0.0, intercept)
    top = problem.lam_max(view, y, s)
    if not np.isfinite(top):  # no strength kills every coefficient: a thousandfold shrinkage
        variance = 1.0 if standardize else float(np.mean(design.stats(s).sd ** 2))
        return grid.below(1e3 * variance or 1.0, 1e-8)
    return grid.below(top if top > 0 else 1.0, 1e-2 if d > n else 1e-3)


def generic_path(
    loss: Loss,
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    intercept: bool,
    tol: float,
    stop: Stop,
    standardize: bool = False,
    lams: Float64Array | None = None,
) -> Path:
    """Solve strength after strength, each from the one before, until the time is up."""
    check_targets(loss, data)
    if lams is None:
        lams = generic_lams(loss, penalty, data, grid, intercept=intercept, standardize=standardize)
    started = time.perf_counter()
    solutions: list[Solution] = []
    losses: list[float] = []
    for lam in lams:
        problem = Problem(loss, penalty, float(lam), intercept)
        start = solutions[-1] if solutions else None
        found = solve_generic(problem, data, start, tol, stop, standardize=standardize)
        if solutions and found.status.code in ENDED_EARLY:
            break
        solutions.append(found)
        losses.append(mean_loss(problem, data, found))
        if stop.now or found.status.code in ENDED_EARLY:
            break
    return Path(
        lams=lams[: len(solutions)],
        coefs=np.stack([solution.coef for solution in solutions]),
        intercepts=np.stack([np.asarray(solution.intercept) for solution in solutions]),
        certificates=tuple(solution.certificate for solution in solutions),
        df=np.array([generic_df(penalty, solution) for solution in solutions]),
        losses=np.array(losses),
        status=_worst(solutions, len(lams)),
        solver=solutions[0].solver,
        passes=sum(solution.passes for solution in solutions),
        seconds=time.perf_counter() - started,
        feature_names=data.feature_names,
    )


def _worst(solutions: list[Solution], asked: int) -> Status:
    """The first status that is not converged, with its strength; or that strengths are missing."""
    for solution in solutions:
        if not solution.status.ok:
            status = solution.status
            return Status(
                status.code, f"at lam={solution.lam:.3g}: {status.message}", status.remedy
            )
    return unfinished(len(solutions), asked) or Status(StatusCode.CONVERGED)
