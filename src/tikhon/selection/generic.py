"""Cross-validation as the textbook has it: a path for each fold, one after the other.

For losses and penalties that have no shared passes yet; and the other hand that faster
cross-validation is checked against.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.paths.solve_path import generic_lams, generic_path
from tikhon.penalties.base import Penalty
from tikhon.results import Path, StatusCode
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows, Split
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.typing import Float64Array, IntArray

__all__ = ["cross_validate_generic"]


def cross_validate_generic(
    loss: Loss,
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    folds: Any,
    rule: str | Rule,
    score: Score,
    standardize: bool,
    intercept: bool,
    tol: float,
    stop: Stop,
) -> Study:
    """Solve the path on every training set and score it on the rows left out."""
    if isinstance(folds, str):
        raise UnsupportedError(
            f"folds={folds!r} has a closed form for the squared loss with L2 only; use a number."
        )
    if loss.per_class:
        raise UnsupportedError("cross-validation of a loss with several classes: use tk.path.")
    started = time.perf_counter()
    lams = generic_lams(loss, penalty, data, grid, intercept=intercept, standardize=standardize)
    split = as_folds(folds, grouped=data.groups is not None).split(
        Rows(data.design, data.y, data.used, data.groups)
    )

    def solved(rows: Data, left: int) -> Path:
        """The path on some rows, with a fair share of the time that is left."""
        share = Stop(stop.remaining / left)
        how = {"intercept": intercept, "standardize": standardize}
        part = generic_path(loss, penalty, rows, grid, tol=tol, stop=share, lams=lams, **how)
        if part.status.code is StatusCode.INTERRUPTED:
            raise KeyboardInterrupt
        return part

    whole = solved(data, len(split) + 1)
    scores, fold_weight = _fold_scores(solved, split, data, score)
    kept = min(len(whole), len(scores))
    scores, whole = scores[:kept], whole.first(kept, len(lams))
    mean, se = summarise(scores, fold_weight)
    return Study(
        path=whole,
        scores=scores,
        mean=mean,
        se=se,
        fold=fold_of_rows(split),
        fold_weight=fold_weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        method="folds",
        rule=rule,
        solver=whole.solver,
        seconds=time.perf_counter() - started,
        sample=Sample.of(loss, data, intercept=intercept),
        skipped=len(lams) - kept,
    )


def _fold_scores(
    solved: Callable[[Data, int], Path], split: Split, data: Data, score: Score
) -> tuple[Float64Array, Float64Array]:
    """Scores (L, folds) of the strengths that every fold has solved, and the folds' weights."""
    columns, weights = [], []
    for k in range(len(split)):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        part = solved(data.rows(train), len(split) - k)
        columns.append(_score_path(part, data, test, score))
        weights.append(float(len(test)) if data.s is None else float(data.s[test].sum()))
    kept = min(map(len, columns))
    return np.column_stack([column[:kept] for column in columns]), np.array(weights)


def _score_path(path: Path, data: Data, rows: IntArray, score: Score) -> Float64Array:
    design, y = data.design.rows(rows), data.y[rows]
    s = None if data.s is None else data.s[rows]
    return np.array(
        [
            score(y, (design.predict(w) + b).reshape(len(rows), -1), s)
            for w, b in zip(path.coefs, path.intercepts, strict=True)
        ]
    )
