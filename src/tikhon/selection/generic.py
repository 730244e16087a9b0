"""Cross-validation as the textbook has it: a path for each fold, one after the other.

For losses and penalties that have no shared passes yet; and the other hand that faster
cross-validation is checked against.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.paths.solve_path import generic_lams, generic_path
from tikhon.penalties.base import Penalty
from tikhon.results import Path
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows
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
) -> Study:
    """Solve the path on every training set and score it on the rows left out."""
    if standardize:
        raise UnsupportedError(
            f"standardize=True is available for the squared loss with L2; for "
            f"{type(loss).__name__} with {type(penalty).__name__} scale the columns beforehand."
        )
    if isinstance(folds, str):
        raise UnsupportedError(
            f"folds={folds!r} has a closed form for the squared loss with L2 only; use a number."
        )
    if loss.per_class:
        raise UnsupportedError("cross-validation of a loss with several classes: use tk.path.")
    started = time.perf_counter()
    lams = generic_lams(loss, penalty, data, grid, intercept=intercept)
    whole = generic_path(loss, penalty, data, grid, intercept=intercept, tol=tol, lams=lams)
    split = as_folds(folds, grouped=data.groups is not None).split(
        Rows(data.design, data.y, data.used, data.groups)
    )
    columns, weights = [], []
    for k in range(len(split)):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        part = generic_path(
            loss, penalty, data.rows(train), grid, intercept=intercept, tol=tol, lams=lams
        )
        columns.append(_score_path(part, data, test, score))
        weights.append(float(len(test)) if data.s is None else float(data.s[test].sum()))
    scores, fold_weight = np.column_stack(columns), np.array(weights)
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
    )


def _score_path(path: Path, data: Data, rows: IntArray, score: Score) -> Float64Array:
    design, y = data.design.rows(rows), data.y[rows]
    s = None if data.s is None else data.s[rows]
    return np.array(
        [
            score(y, (design.predict(w) + b).reshape(len(rows), -1), s)
            for w, b in zip(path.coefs, path.intercepts, strict=True)
        ]
    )
