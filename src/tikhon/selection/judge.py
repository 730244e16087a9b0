"""Score one fold: every strength of a fit on the rows that were held out."""

from __future__ import annotations

import numpy as np

from tikhon.data.design import BLOCK_BYTES
from tikhon.selection.scores import SQUARED_ERROR, Score
from tikhon.solvers.training import FoldFit, Training
from tikhon.typing import BoolArray, Float64Array

__all__ = ["judge_fold"]


def judge_fold(
    training: Training,
    fit: FoldFit,
    test: BoolArray,
    lams: Float64Array,
    score: Score,
    weight: float,
) -> Float64Array:
    """Score every strength on one fold: (L,)."""
    if score is SQUARED_ERROR and training.offset is None:
        return np.asarray(fit.squared_error(test, lams).mean(axis=1) / weight)
    rows = training.cells.where(test)
    y = training.y[rows]
    s = None if training.s is None else training.s[rows]
    at_once = max(1, 8 * BLOCK_BYTES // (8 * y.size))
    values: list[float] = []
    for start in range(0, len(lams), at_once):
        Z = fit.predict(rows, lams[start : start + at_once])
        if training.offset is not None:
            Z += training.offset[rows]
        values += [score(y, z, s) for z in Z]
    return np.array(values)
