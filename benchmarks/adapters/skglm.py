"""skglm: working sets with Anderson acceleration, compiled by numba; the mean form, as here.

Its classes keep the last solution (`warm_start`) from one strength to the next.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from skglm import GroupLasso, Lasso

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("skglm", "scikit-learn", "numpy", "scipy", "numba")

MANY = 10_000
"""Enough iterations: what ends the work is the tolerance."""


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`Lasso` from strength to strength."""
    del threads
    model = Lasso(tol=tolerance, max_iter=MANY, max_epochs=50_000, warm_start=True)
    return _in_turn(problem, model)


def group_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`GroupLasso` from strength to strength; weights are the roots of group sizes, as here."""
    del threads
    size = problem.group_size
    weights = np.full(len(problem.groups) // size, np.sqrt(size))
    model = GroupLasso(
        groups=size,
        weights=weights,
        tol=tolerance,
        max_iter=MANY,
        max_epochs=50_000,
        warm_start=True,
    )
    return _in_turn(problem, model)


def _in_turn(problem: Problem, model: Lasso | GroupLasso) -> Outcome:
    coefs, intercepts = np.empty((len(problem.lams), problem.X.shape[1])), []
    start = perf_counter()
    for k, lam in enumerate(problem.lams):
        model.alpha = lam
        model.fit(problem.X, problem.y)
        coefs[k] = model.coef_
        intercepts.append(float(model.intercept_))
    return Outcome(perf_counter() - start, path=(coefs, np.array(intercepts)))
