"""Solve one problem, by the fastest algorithm there is for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data, as_data
from tikhon.data.moments import Cells
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.penalties import L1, Scaled, Weighted
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.results import Solution, Status, StatusCode
from tikhon.solvers.choose import has_machine, is_ridge, plan_ridge
from tikhon.solvers.loop import Progress
from tikhon.solvers.proximal_gradient import ProximalGradient
from tikhon.solvers.ridge import ridge_refined
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.solve_penalised import Single, solve_penalised, unpenalised
from tikhon.solvers.solve_smooth import solve_smooth
from tikhon.solvers.targets import check_offset, check_targets
from tikhon.solvers.task import Solver, Task
from tikhon.solvers.training import Training

__all__ = [
    "GENERIC",
    "generic_df",
    "mean_loss",
    "no_refit",
    "refuse_solver",
    "solve",
    "solve_generic",
    "solve_one",
]

GENERIC = "proximal_gradient"

MAX_ITER = 20_000


def solve(
    problem: Problem,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    offset: Any = None,
    solver: str | Solver = "auto",
    tol: float = 1e-8,
    max_iter: int | None = None,
    max_seconds: float | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Solution:
    """Solve one problem exactly as it is stated: nothing is standardised.

    Parameters
    ----------
    problem : Problem
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,) or (n, targets)
    sample_weight : array of shape (n,), optional
    offset : array of shape (n,), optional
        Added to the linear predictor of each row; for losses with a column per class
        (n, classes). Smooth losses other than the squared one.
    solver : str or solver, default "auto"
        For least squares with L2: "tall", "wide" or "iterative". For everything, and by
        default for what has no faster solver: "proximal_gradient", which is also what "auto" means
        for a smooth loss where `max_iter` or `callback` is given. Or one of `tk.solvers` with
        its options, ``tk.solvers.GradientDescent(step=0.1)``.
    tol : float, default 1e-8
        Relative duality gap (KKT residual where there is no dual) to reach.
    max_iter : int, optional
        Iterations of an iterative solver named by a word; 20000 by default. One of `tk.solvers`
        has its own.
    max_seconds : float, optional
        After this time the best so far is returned, with its certificate. Ridge and least squares
        are solved directly, with nothing to return before the end, and finish.
    callback : callable, optional
        Iterative solvers call it with their progress; returning True stops them.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> ridge = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam=0.1)
    >>> solution = tk.solve(ridge, X, y)
    >>> solution.status == "converged", solution.certificate.gap < 1e-12
    (True, True)
    """
    data = as_data(X, y, sample_weight=sample_weight, offset=offset)
    check_offset(problem.loss, data)
    check_targets(problem.loss, data)
    stop = Stop.after(max_seconds)
    if not isinstance(solver, str):
        _refuse_what_is_no_solver(solver, max_iter)
        _refuse_offset(solver, data)
        return solver.solve(Task.of(problem, data, tol, max_seconds, callback))
    ridge = is_ridge(problem.loss, problem.penalty)
    direct = ridge or has_machine(problem.loss, problem.penalty, data.design.shape[1])
    if is_smooth(problem.loss):
        direct = not (solver == "auto" and (max_iter is not None or callback is not None))
    if direct and solver != GENERIC:
        _refuse_iteration_options(solver, max_iter, callback)
        return solve_one(
            problem, data, standardize=False, solver=solver, tol=tol, stop=stop, count=False
        ).solution
    refuse_solver(problem, solver)
    return solve_generic(
        problem, data, None, tol, stop, max_iter=max_iter or MAX_ITER, callback=callback
    )


def solve_one(
    problem: Problem,
    data: Data,
    *,
    standardize: bool,
    solver: str,
    tol: float,
    stop: Stop,
    relaxed: float = 0.0,
    count: bool = True,
) -> Single:
    """Solve one problem, with or without standardising, by the fastest solver there is.

    `relaxed` is the share of least squares on the support that is mixed in. `count` asks for
    degrees of freedom, where these are work of their own.
    """
    check_targets(problem.loss, data)
    if relaxed and not has_machine(problem.loss, problem.penalty, data.design.shape[1]):
        raise no_refit(problem.loss, problem.penalty)
    if is_smooth(problem.loss):
        return solve_smooth(
            problem.loss,
            problem.penalty,
            problem.lam,
            data,
            standardize=standardize,
            intercept=problem.intercept,
            solver=solver,
            tol=tol,
            stop=stop,
            count=count,
        )
    if solver != GENERIC:
        if is_ridge(problem.loss, problem.penalty):
            return _solve_squared(problem, data, solver, tol, standardize=standardize)
        if has_machine(problem.loss, problem.penalty, data.design.shape[1]):
            return solve_penalised(
                problem.penalty,
                problem.lam,
                data,
                standardize=standardize,
                intercept=problem.intercept,
                solver=solver,
                tol=tol,
                stop=stop,
                relaxed=relaxed,
            )
    refuse_solver(problem, solver)
    found = solve_generic(problem, data, None, tol, stop, standardize=standardize)
    df = generic_df(problem.penalty, found)
    return Single(found, df, mean_loss(problem, data, found), np.empty(0, dtype=np.int64))


def no_refit(loss: Loss, penalty: Penalty) -> UnsupportedError:
    """Say that there is no support to refit, and for what there is."""
    return UnsupportedError(
        "`relaxed` refits the support of a squared loss under a penalty that sets coefficients to "
        f"0, which {type(loss).__name__} with {type(penalty).__name__} is not. Use relaxed=False, "
        "or tk.losses.Squared with tk.penalties.L1, ElasticNet, Group or MultiTask."
    )


def refuse_solver(problem: Problem, solver: str) -> None:
    """Refuse the name of a solver that does not take this problem."""
    if solver not in ("auto", GENERIC):
        raise UnsupportedError(
            f"`solver` for {type(problem.loss).__name__} with {type(problem.penalty).__name__} "
            f"must be 'auto' or {GENERIC!r}, got {solver!r}."
        )


def generic_df(penalty: Penalty, solution: Solution) -> float:
    """Degrees of freedom of a target: its nonzeros for the lasso, unknown otherwise."""
    while isinstance(penalty, Weighted | Scaled):
        penalty = penalty.penalty
    if isinstance(penalty, L1):
        return np.count_nonzero(solution.coef) * len(solution.coef) / solution.coef.size
    return float("nan")


def mean_loss(problem: Problem, data: Data, solution: Solution) -> float:
    """Mean training loss of a solution, without the penalty."""
    y, s = (data.y[:, 0] if data.one_target else data.y), data.s
    z = data.design.predict(solution.coef) + solution.intercept
    return problem.mean_loss(y, z, s)


def _refuse_what_is_no_solver(solver: object, max_iter: int | None) -> None:
    if not isinstance(solver, Solver) or isinstance(solver, type):
        raise TypeError(
            f"`solver` must be a word or one of tk.solvers with its options, such as "
            f"tk.solvers.GradientDescent(), got {solver!r}."
        )
    if max_iter is not None:
        raise UnsupportedError(
            f"`max_iter` is an option of the solver here: give it to {type(solver).__name__}(...)."
        )


def _refuse_offset(solver: Solver, data: Data) -> None:
    if data.offset is not None and not isinstance(solver, ProximalGradient):
        raise UnsupportedError(
            f"{type(solver).__name__} takes no `offset`; use solver='auto', or "
            "tk.solvers.ProximalGradient()."
        )


def _refuse_iteration_options(solver: str, max_iter: int | None, callback: object) -> None:
    for name, given in (("max_iter", max_iter), ("callback", callback)):
        if given is not None:
            raise UnsupportedError(
                f"`{name}` counts iterations over the rows, and solver={solver!r} makes no such "
                f"iterations for this problem; use solver={GENERIC!r}, or `max_seconds`."
            )


def _solve_squared(
    problem: Problem, data: Data, solver: str, tol: float, *, standardize: bool
) -> Single:
    """Ridge, or least squares where there is no penalty."""
    started = time.perf_counter()
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, standardize, problem.intercept)
    lam = problem.lam if problem.penalty.strong_convexity > 0 else 0.0
    if lam == 0.0:
        found = unpenalised(training, data, tol, started)
        return replace(found, solution=replace(found.solution, lam=problem.lam))
    machine = plan_ridge(*data.design.shape, solver).machine(training, lambda _: lam, tol)
    fit = ridge_refined(machine.frame, machine.spectrum, np.array([lam]), tol=tol, corrections=1)
    coef, intercept, certificate = fit.coefs[0], fit.intercepts[0], fit.certificates[0]
    status = Status(StatusCode.CONVERGED)
    if certificate.gap > tol:
        message = f"gap {certificate.gap:.1e}, wanted {tol:.0e}."
        status = Status(StatusCode.MAX_ITER, message, "Use a larger `lam`.")
    solution = Solution(
        coef=coef[:, 0] if data.one_target else coef,
        intercept=float(intercept[0]) if data.one_target else intercept,
        lam=lam,
        certificate=certificate,
        status=status,
        solver=machine.name,
        passes=fit.passes + 1.0,
        seconds=time.perf_counter() - started,
    )
    none_aliased = np.empty(0, dtype=np.int64)
    return Single(solution, machine.spectrum.df(lam), float(fit.losses[0]), none_aliased)


def solve_generic(
    problem: Problem,
    data: Data,
    start: Solution | None,
    tol: float,
    stop: Stop,
    *,
    standardize: bool = False,
    max_iter: int = MAX_ITER,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Solution:
    """Solve by proximal gradient, from `start` if there is one; smooth losses only."""
    left = stop.remaining if np.isfinite(stop.remaining) else None
    task = Task.of(problem, data, tol, left, callback, standardize=standardize)
    accelerated = ProximalGradient(
        momentum=True, restart=True, step="backtracking", max_iter=max_iter
    )
    return accelerated.solve(task, start)
