"""scikit-learn: `RidgeCV` with folds, its leave-one-out form, and one `Ridge`.

Its ridge minimises sum of squares + alpha ||w||^2, so alpha = n_train lam, where n_train counts
the rows of the fit at hand. `RidgeCV` keeps alpha when it refits on all rows: the coefficients
it returns belong to the strength alpha / n.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from sklearn.linear_model import Ridge, RidgeCV

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("scikit-learn", "numpy", "scipy")


def ridge_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`RidgeCV` over the given folds: one Cholesky solution per strength and fold."""
    del threads, tolerance
    model = RidgeCV(
        alphas=problem.lams * problem.n_train,
        cv=problem.splits(),
        scoring="neg_mean_squared_error",
    )
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    lam = model.alpha_ / problem.n_train
    curve = np.full(len(problem.lams), np.nan)
    # Only the error of the winner is kept by the class.
    curve[np.argmin(np.abs(problem.lams - lam))] = -model.best_score_
    lam_refit = model.alpha_ / len(problem.y)
    return Outcome(seconds, lam, lam_refit, model.coef_, model.intercept_, curve=curve)


def ridge_loo(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`RidgeCV` by its efficient leave-one-out formula: another criterion, for information."""
    del threads, tolerance
    model = RidgeCV(alphas=problem.lams * len(problem.y))
    start = perf_counter()
    model.fit(problem.X, problem.y)
    seconds = perf_counter() - start
    lam = model.alpha_ / len(problem.y)
    return Outcome(seconds, lam, lam, model.coef_, model.intercept_)


def ridge_fit(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """One `Ridge` at the middle strength."""
    del threads, tolerance
    lam = problem.lams[len(problem.lams) // 2]
    model = Ridge(alpha=lam * len(problem.y))
    start = perf_counter()
    model.fit(problem.X, problem.y)
    return Outcome(perf_counter() - start, lam, lam, model.coef_, model.intercept_)
