"""tikhon itself, called as a user calls it: validation, cross-validation, refit and certificate."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

import tikhon as tk
from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("tikhon", "numpy", "scipy")

TOLERANCE = 1e-8
"""The default of the library: a relative duality gap, certified at every strength."""


def ridge_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`Ridge` over the given strengths and folds."""
    del threads, tolerance  # the process is pinned; the solution is direct
    model = tk.Ridge(
        lam=tk.Grid(values=problem.lams), folds=problem.folds, rule="min", standardize=False
    )
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    path = model.study_.path
    order = np.argsort(path.lams)[::-1]  # the problem's strengths decrease
    return Outcome(
        seconds,
        model.lam_,
        model.lam_,
        model.coef_,
        model.intercept_,
        curve=np.asarray(model.study_.mean)[order],
        path=(path.coefs[order], path.intercepts[order]),
        gap=model.certificate_.gap,
    )


def ridge_fit(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`Ridge` at the middle strength."""
    del threads, tolerance
    lam = float(problem.lams[len(problem.lams) // 2])
    model = tk.Ridge(lam=lam, standardize=False)
    start = perf_counter()
    model.fit(problem.X, problem.y)
    return Outcome(perf_counter() - start, lam, lam, model.coef_, model.intercept_)


def lasso_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`Lasso` over the given strengths and folds, at its own tolerance unless one is given."""
    del threads
    model = tk.Lasso(
        lam=tk.Grid(values=problem.lams),
        folds=problem.folds,
        rule="min",
        standardize=False,
        tol=tolerance or TOLERANCE,
    )
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    path = model.path_
    return Outcome(
        seconds,
        model.lam_,
        model.lam_,
        model.coef_,
        model.intercept_,
        curve=np.asarray(model.study_.mean),
        path=(path.coefs, path.intercepts),
        gap=model.certificate_.gap,
    )


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`tk.path`, every strength certified."""
    del threads
    return _path(problem, tk.penalties.L1(), tolerance)


def group_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`tk.path` with groups, every strength certified."""
    del threads
    return _path(problem, tk.penalties.Group(problem.groups), tolerance)


def _path(problem: Problem, penalty: object, tolerance: float | None) -> Outcome:
    start = perf_counter()
    path = tk.path(
        tk.losses.Squared(),
        penalty,
        problem.X,
        problem.y,
        lams=tk.Grid(values=problem.lams),
        tol=tolerance or TOLERANCE,
    )
    seconds = perf_counter() - start
    gap = max(certificate.gap for certificate in path.certificates)
    return Outcome(seconds, path=(path.coefs, path.intercepts), gap=gap)
