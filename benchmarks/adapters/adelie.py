"""adelie: coordinate descent on the data, `grpnet`.

Its objective is the mean form, so its lambda is lam. `cv_grpnet` cannot be used: it makes its own
path from the largest useful lambda, which a pure ridge does not have, and returns NaN. The loop
below does what `cv_grpnet` does (held-out rows get weight zero, one path per fold, one on all
rows), with the held-out error computed on held-out rows only, which is cheaper.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

import adelie
import numpy as np
from scipy import sparse

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("adelie", "numpy", "scipy")


def ridge_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`grpnet` once per fold, then on all rows, with alpha = 0."""
    return _folds(problem, threads, tolerance, alpha=0.0)


def lasso_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`grpnet` once per fold, then on all rows, with alpha = 1."""
    return _folds(problem, threads, tolerance, alpha=1.0)


def lasso_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`grpnet` on all rows."""
    return _path(problem, threads, tolerance, None)


def group_path(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`grpnet` on all rows with groups, whose weights are the roots of their sizes as here."""
    return _path(problem, threads, tolerance, np.arange(0, len(problem.groups), problem.group_size))


def _path(
    problem: Problem, threads: int, tolerance: float | None, groups: np.ndarray | None
) -> Outcome:
    kind = adelie.matrix.sparse if sparse.issparse(problem.X) else adelie.matrix.dense
    design = kind(problem.X, method="naive", n_threads=threads)
    glm = adelie.glm.gaussian(y=problem.y)
    start = perf_counter()
    path = adelie.grpnet(
        X=design,
        glm=glm,
        groups=groups,
        lmda_path=problem.lams,
        tol=tolerance,
        early_exit=False,
        n_threads=threads,
        progress_bar=False,
    )
    seconds = perf_counter() - start
    return Outcome(seconds, path=(path.betas.toarray(), np.asarray(path.intercepts)))


def _folds(problem: Problem, threads: int, tolerance: float | None, alpha: float) -> Outcome:
    X, y, lams = problem.X, problem.y, problem.lams
    splits = problem.splits()
    design = adelie.matrix.dense(X, method="naive", n_threads=threads)
    options = {
        "alpha": alpha,
        "lmda_path": lams,
        "tol": tolerance,
        "early_exit": False,
        "n_threads": threads,
        "progress_bar": False,
    }

    start = perf_counter()
    errors = np.empty((len(splits), len(lams)))
    for k, (train, held) in enumerate(splits):
        weights = np.zeros(len(y))
        weights[train] = 1 / len(train)
        path = adelie.grpnet(X=design, glm=adelie.glm.gaussian(y=y, weights=weights), **options)
        W, b = path.betas.toarray().T, path.intercepts
        errors[k] = np.mean((y[held, None] - X[held] @ W - b) ** 2, axis=0)
    curve = errors.mean(axis=0)
    best = int(np.argmin(curve))
    path = adelie.grpnet(X=design, glm=adelie.glm.gaussian(y=y), **options)
    coefs, intercepts = path.betas.toarray(), path.intercepts
    seconds = perf_counter() - start

    return Outcome(
        seconds,
        lams[best],
        lams[best],
        coefs[best],
        intercepts[best],
        curve=curve,
        path=(coefs, intercepts),
    )
