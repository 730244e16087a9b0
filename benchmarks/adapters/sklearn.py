"""scikit-learn: `RidgeCV` with folds, its leave-one-out form, one `Ridge`; the lasso and its path.

Its ridge minimises sum of squares + alpha ||w||^2, so alpha = n_train lam, where n_train counts
the rows of the fit at hand. `RidgeCV` keeps alpha when it refits on all rows: the coefficients
it returns belong to the strength alpha / n.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from sklearn.linear_model import Lasso, LassoCV, Ridge, RidgeCV
from sklearn.linear_model import lasso_path as sklearn_path

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


MANY = 10**7
"""Enough iterations: what ends the work is the tolerance."""


def lasso_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`LassoCV` over the given folds, which run side by side; the strengths mean the same."""
    model = LassoCV(
        alphas=problem.lams, cv=problem.splits(), tol=tolerance, max_iter=MANY, n_jobs=threads
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


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`lasso_path` on centred data, which it expects; a sparse table is fitted warm, in turn."""
    del threads
    if sparse.issparse(problem.X):
        return _warm(problem, tolerance)
    mean, y_mean = problem.X.mean(axis=0), problem.y.mean()
    X, y = np.asfortranarray(problem.X - mean), problem.y - y_mean
    start = perf_counter()
    _, coefs, _ = sklearn_path(X, y, alphas=problem.lams, tol=tolerance, max_iter=MANY)
    seconds = perf_counter() - start
    return Outcome(seconds, path=(coefs.T, y_mean - mean @ coefs))


def _warm(problem: Problem, tolerance: float | None) -> Outcome:
    model = Lasso(tol=tolerance, max_iter=MANY, warm_start=True)
    coefs, intercepts = np.empty((len(problem.lams), problem.X.shape[1])), []
    start = perf_counter()
    for k, lam in enumerate(problem.lams):
        model.set_params(alpha=lam).fit(problem.X, problem.y)
        coefs[k] = model.coef_
        intercepts.append(model.intercept_)
    return Outcome(perf_counter() - start, path=(coefs, np.array(intercepts)))
