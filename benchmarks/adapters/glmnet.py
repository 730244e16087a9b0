"""python-glmnet: the Fortran of glmnet behind `glmnet.ElasticNet`.

It divides y by its standard deviation s (1/n form) and reports lambda times s, so a pure ridge
takes lambda = s lam. The s of a fold differs a little from the s of all rows and the package
accepts one path for both: its folds therefore solve slightly shifted strengths, by about
1 / sqrt(n) relative. The final fit is exact. For the lasso lambda is lam, fold by fold.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from glmnet import ElasticNet

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

MANY = 10**8
"""Enough passes: what ends the work is the tolerance."""

PACKAGES = ("python-glmnet", "scikit-learn", "numpy", "scipy")


def ridge_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`ElasticNet(alpha=0)` over the given folds, which `groups` imposes."""
    spread = problem.y.std()
    model = ElasticNet(
        alpha=0,
        lambda_path=problem.lams * spread,
        standardize=False,
        n_splits=problem.n_folds,
        scoring="mean_squared_error",
        cut_point=0,  # the minimum of the curve, not the one-standard-error choice
        n_jobs=threads,
        tol=tolerance,
    )
    start = perf_counter()
    model.fit(problem.X, problem.y, groups=problem.folds)
    seconds = perf_counter() - start
    lam = float(model.lambda_max_ / spread)
    return Outcome(
        seconds,
        lam,
        lam,
        model.coef_,
        model.intercept_,
        curve=-model.cv_mean_score_,
        path=(model.coef_path_.T, model.intercept_path_),
    )


def lasso_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`ElasticNet(alpha=1)` over the given folds, which `groups` imposes."""
    model = ElasticNet(
        alpha=1,
        lambda_path=problem.lams,
        standardize=False,
        n_splits=problem.n_folds,
        scoring="mean_squared_error",
        cut_point=0,
        n_jobs=threads,
        tol=tolerance,
        max_iter=MANY,
    )
    start = perf_counter()
    model.fit(problem.X, problem.y, groups=problem.folds)
    seconds = perf_counter() - start
    lam = float(model.lambda_max_)
    return Outcome(
        seconds,
        lam,
        lam,
        model.coef_,
        model.intercept_,
        curve=-model.cv_mean_score_,
        path=(model.coef_path_.T, model.intercept_path_),
    )


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`ElasticNet(alpha=1)` without folds: its Fortran path alone."""
    del threads
    model = ElasticNet(
        alpha=1,
        lambda_path=problem.lams,
        standardize=False,
        n_splits=0,
        tol=tolerance,
        max_iter=MANY,
    )
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    path = np.ascontiguousarray(model.coef_path_.T), np.asarray(model.intercept_path_)
    return Outcome(seconds, path=path)
