"""adelie: coordinate descent on the data, `grpnet` with alpha = 0.

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

from benchmarks.outcome import Outcome

if TYPE_CHECKING:
    from benchmarks.problems import Problem

PACKAGES = ("adelie", "numpy", "scipy")


def ridge_cv(problem: Problem, threads: int, tolerance: float | None) -> Outcome:
    """`grpnet` once per fold, then on all rows."""
    X, y, lams = problem.X, problem.y, problem.lams
    splits = problem.splits()
    design = adelie.matrix.dense(X, method="naive", n_threads=threads)
    options = {
        "alpha": 0,
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
