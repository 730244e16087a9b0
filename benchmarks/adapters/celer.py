"""celer: working sets and dual extrapolation, `celer_path` and `LassoCV`; mean form, as here."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from celer import LassoCV, celer_path
from scipy import sparse

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("celer", "scikit-learn", "numpy", "scipy")

MANY = 10_000
"""Enough iterations: what ends the work is the tolerance."""


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`celer_path` on centred data; a sparse table is centred implicitly, as its classes do."""
    del threads
    X, y_mean = problem.X, problem.y.mean()
    y = problem.y - y_mean
    mean = np.asarray(X.mean(axis=0)).ravel()
    options = {"alphas": problem.lams, "tol": tolerance, "max_iter": MANY, "max_epochs": 50_000}
    if sparse.issparse(X):
        options |= {"X_offset": mean, "X_scale": np.ones_like(mean)}
    else:
        X = np.asfortranarray(X - mean)
    start = perf_counter()
    _, coefs, _ = celer_path(X, y, pb="lasso", **options)
    seconds = perf_counter() - start
    return Outcome(seconds, path=(np.ascontiguousarray(coefs.T), y_mean - mean @ coefs))


def lasso_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`LassoCV` over the given folds, which run side by side."""
    model = LassoCV(
        alphas=problem.lams,
        cv=problem.splits(),
        tol=tolerance,
        max_iter=MANY,
        max_epochs=50_000,
        n_jobs=threads,
    )
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    return Outcome(
        seconds,
        model.alpha_,
        model.alpha_,
        model.coef_,
        model.intercept_,
        curve=model.mse_path_.mean(axis=1),
    )
