"""Solve one problem, by the fastest algorithm there is for it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data, as_data
from tikhon.data.moments import Cells
from tikhon.errors import Problems, UnsupportedError
from tikhon.problem.problem import Problem
from tikhon.results import Solution, Status, StatusCode
from tikhon.solvers.choose import has_machine, is_ridge, plan_ridge
from tikhon.solvers.least_squares import least_squares
from tikhon.solvers.loop import Progress
from tikhon.solvers.proximal_gradient import ProximalGradient
from tikhon.solvers.ridge import ridge_refined
from tikhon.solvers.solve_penalised import solve_penalised
from tikhon.solvers.task import Solver, Task
from tikhon.solvers.training import Training

__all__ = ["check_targets", "solve", "solve_generic"]

GENERIC = "proximal_gradient"

MAX_ITER = 20_000


def solve(
    problem: Problem,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
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
    solver : str or solver, default "auto"
        For least squares with L2: "tall", "wide" or "iterative". For everything, and by
        default for what has no faster solver: "proximal_gradient". Or one of `tk.solvers` with
        its options, ``tk.solvers.GradientDescent(step=0.1)``.
    tol : float, default 1e-8
        Relative duality gap (KKT residual where there is no dual) to reach.
    max_iter : int, optional
        Iterations of an iterative solver named by a word; 20000 by default. One of `tk.solvers`
        has its own.
    max_seconds : float, optional
        Iterative solvers return the best so far after this time, with its certificate.
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
    data = as_data(X, y, sample_weight=sample_weight)
    check_targets(problem, data)
    if not isinstance(solver, str):
        _refuse_what_is_no_solver(solver, max_iter)
        return solver.solve(Task.of(problem, data, tol, max_seconds, callback))
    ridge = is_ridge(problem.loss, problem.penalty)
    direct = ridge or has_machine(problem.loss, problem.penalty, data.design.shape[1])
    if direct and solver != GENERIC:
        _refuse_iteration_options(solver, max_iter, callback)
        if ridge:
            return _solve_squared(problem, data, solver, tol)
        return solve_penalised(
            problem.penalty,
            problem.lam,
            data,
            standardize=False,
            intercept=problem.intercept,
            solver=solver,
            tol=tol,
            stop=Stop(float("inf") if max_seconds is None else max_seconds),
        ).solution
    if solver not in ("auto", GENERIC):
        raise UnsupportedError(
            f"`solver` for {type(problem.loss).__name__} with {type(problem.penalty).__name__} "
            f"must be 'auto' or {GENERIC!r}, got {solver!r}."
        )
    return solve_generic(problem, data, None, tol, max_iter or MAX_ITER, max_seconds, callback)


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


def _refuse_iteration_options(solver: str, max_iter: int | None, callback: object) -> None:
    for name, given in (("max_iter", max_iter), ("callback", callback)):
        if given is not None:
            raise UnsupportedError(
                f"`{name}` counts iterations over the rows, and solver={solver!r} makes no such "
                f"iterations for this problem; use solver={GENERIC!r}, or `max_seconds`."
            )


def check_targets(problem: Problem, data: Data) -> None:
    """Refuse targets that a loss has no meaning for."""
    y = data.y[data.used]
    complaint = problem.loss.check_targets(y[:, 0] if problem.loss.per_class else y)
    problems = Problems()
    if complaint:
        problems.add("target", complaint, "See the loss for the targets it takes.")
    elif problem.loss.classification and y.min() == y.max():
        problems.add(
            "one_class",
            "every target is the same class",
            "Give rows of at least two classes.",
            value=f"{y[0, 0]:g}",
            count=len(y),
        )
    problems.raise_if_any()


def _solve_squared(problem: Problem, data: Data, solver: str, tol: float) -> Solution:
    started = time.perf_counter()
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, False, problem.intercept)
    lam = problem.lam if problem.penalty.strong_convexity > 0 else 0.0
    if lam == 0.0:
        free = least_squares(training, tol)
        coefs, intercepts, certificate = free.coef, free.intercept, free.certificate
        name, passes = free.rung, free.passes
        deficient = 0 <= free.rank < data.design.shape[1]
    else:
        machine = plan_ridge(*data.design.shape, solver).machine(training, lambda _: lam, tol)
        fit = ridge_refined(
            machine.frame, machine.spectrum, np.array([lam]), tol=tol, corrections=1
        )
        coefs, intercepts, certificate = fit.coefs[0], fit.intercepts[0], fit.certificates[0]
        name, passes, deficient = machine.name, fit.passes + 1.0, False
    return Solution(
        coef=coefs[:, 0] if data.one_target else coefs,
        intercept=float(intercepts[0]) if data.one_target else intercepts,
        lam=problem.lam,
        certificate=certificate,
        status=_squared_status(certificate.gap, tol, deficient=deficient),
        solver=name,
        passes=passes,
        seconds=time.perf_counter() - started,
    )


def _squared_status(gap: float, tol: float, *, deficient: bool) -> Status:
    if deficient:
        return Status(
            StatusCode.RANK_DEFICIENT,
            "the columns do not determine the coefficients; those of least norm are returned.",
        )
    if gap <= tol:
        return Status(StatusCode.CONVERGED)
    return Status(StatusCode.MAX_ITER, f"gap {gap:.1e}, wanted {tol:.0e}.", "Use a larger `lam`.")


def solve_generic(
    problem: Problem,
    data: Data,
    start: Solution | None,
    tol: float,
    max_iter: int = MAX_ITER,
    max_seconds: float | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Solution:
    """Solve by proximal gradient, from `start` if there is one; smooth losses only."""
    accelerated = ProximalGradient(
        momentum=True, restart=True, step="backtracking", max_iter=max_iter
    )
    return accelerated.solve(Task.of(problem, data, tol, max_seconds, callback), start)
