"""What is odd about the way rows were cut into folds.

    sorted_target  contiguous folds of a target in order: each is tested on values it never saw
    copies         rows whose copies are in other folds: tested on what was trained on

Folds dealt by tikhon itself keep copies together; the user's own may not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.findings import Finding
from tikhon.selection.folds import KFold, Stratified
from tikhon.selection.split import Rows
from tikhon.typing import Float64Array, IntArray

__all__ = ["fold_findings"]


def fold_findings(data: Data, folds: Any, fold: IntArray | None) -> tuple[Finding, ...]:
    """Look at a cut: what was asked for as `folds`, and the fold of each row that came of it."""
    dealt = folds is None or isinstance(folds, int | np.integer | str | KFold | Stratified)
    if fold is None or dealt:
        return ()
    tested = data.used[fold[data.used] >= 0]
    label, y = fold[tested], data.y[tested]
    return (*_sorted_target(label, y), *_copies(data, tested, label, y))


def _sorted_target(label: IntArray, y: Float64Array) -> Iterator[Finding]:
    step, fold_step = np.diff(y[:, 0]), np.diff(label)
    contiguous = np.all(fold_step >= 0)
    in_order = np.all(step >= 0) or np.all(step <= 0)
    if contiguous and in_order and y[0, 0] != y[-1, 0]:
        yield Finding(
            "sorted_target",
            f"the target is sorted ({y[0, 0]:g} to {y[-1, 0]:g} over {len(y)} rows) and the folds "
            "are contiguous, so each is tested on targets it was not trained on",
            "Use folds=10, which deals rows at random, unless the order is that of time.",
            (),
            float(len(y)),
        )


def _copies(data: Data, tested: IntArray, label: IntArray, y: Float64Array) -> Iterator[Finding]:
    if len(np.unique(y[:, 0])) == len(y):
        return
    content = Rows(data.design, data.y, tested).content()
    order = np.lexsort((label, y[:, 0], content))
    same = (content[order][1:] == content[order][:-1]) & np.all(
        y[order][1:] == y[order][:-1], axis=1
    )
    apart = same & (label[order][1:] != label[order][:-1])
    count = int(np.count_nonzero(apart))
    if count:
        yield Finding(
            "copies",
            f"{count} rows have an identical row in another fold, so they are tested on what was "
            "trained on",
            "Use folds=10, which keeps identical rows together, or give them one group.",
            (),
            float(count),
        )
