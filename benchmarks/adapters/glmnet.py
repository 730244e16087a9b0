"""python-glmnet: the Fortran of glmnet behind `glmnet.ElasticNet`.

It divides y by its standard deviation s (1/n form) and reports lambda times s, so a pure ridge
takes lambda = s lam. The s of a fold differs a little from the s of all rows and the package
accepts one path for both: its folds therefore solve slightly shifted strengths, by about
1 / sqrt(n) relative. The final fit is exact.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from glmnet import ElasticNet

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

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
