"""Rows cut into cells, and folds as unions of cells.

Every cross-validation scheme, expanding time windows and overlapping test sets included, is a
partition of the rows into cells such that each training and each test set is a union of cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tikhon import _kernels
from tikhon.data.dense import DenseDesign
from tikhon.data.design import Design
from tikhon.data.moments import Cells
from tikhon.data.sparse import SparseDesign
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Rows", "Split"]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """What a rule may look at when it cuts rows: targets, groups and, for ties, the content.

    `used` are the rows with positive weight, ascending.
    """

    design: Design
    y: Float64Array
    used: IntArray
    groups: npt.NDArray[Any] | None = None

    @property
    def n(self) -> int:
        """All rows, used or not."""
        return self.design.shape[0]

    def label(self, used_labels: IntArray) -> IntArray:
        """Spread labels of the used rows over all rows, -1 for the others."""
        labels = np.full(self.n, -1, dtype=np.int64)
        labels[self.used] = used_labels
        return labels

    def content(self) -> npt.NDArray[np.uint64]:
        """Return a hash of each used row: the same for dense, sparse and every memory order.

        Columns are first scaled by the power of two nearest their largest value, so a change
        of units by a power of two does not change the folds; rows of weight 0 have no say in it.
        """
        whole = len(self.used) == self.n
        scan = (self.design if whole else self.design.rows(self.used)).scan
        largest = np.maximum(np.abs(scan.minimum), np.abs(scan.maximum))
        exponent = np.frexp(largest)[1].astype(np.int32)
        if not isinstance(self.design, DenseDesign | SparseDesign):
            raise TypeError(f"no content hash for {type(self.design).__name__}")
        hashes = _kernels.hash_rows(self.design.X, exponent=exponent)
        return np.asarray(hashes[self.used])


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """K folds over C cells.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        The cell of each row, -1 for rows not in use. Every used row has a cell, also one that
        no fold trains or tests on: the final fit wants it.
    cells : Cells
    train, test : ndarray of shape (K, C)
        Which cells each fold trains on and tests on.
    """

    labels: IntArray
    cells: Cells
    train: BoolArray
    test: BoolArray

    def __len__(self) -> int:
        return len(self.train)

    @classmethod
    def partition(cls, labels: IntArray, k: int) -> Split:
        """Folds 0 .. k-1 held out in turn; a label of k is trained on always."""
        count = int(labels.max()) + 1
        test = np.eye(k, count, dtype=np.bool_)
        return cls(labels, Cells.of(labels), ~test, test)

    @classmethod
    def of(cls, pairs: Sequence[tuple[IntArray, IntArray]], rows: Rows) -> Split:
        """Folds from explicit training and test rows, which may overlap from fold to fold."""
        if not pairs:
            raise ValueError("`folds` is empty; give at least one (training rows, test rows).")
        member = np.zeros((rows.n, 2 * len(pairs)), dtype=np.bool_)
        for k, (train, test) in enumerate(pairs):
            member[train, 2 * k] = True
            member[test, 2 * k + 1] = True
            both = np.flatnonzero(member[:, 2 * k] & member[:, 2 * k + 1])
            if both.size:
                raise ValueError(
                    f"fold {k}: row {both[0]} is in the training and in the test rows "
                    f"({both.size} such rows); a test row must not be trained on."
                )
        patterns, inverse = np.unique(member[rows.used], axis=0, return_inverse=True)
        labels = rows.label(inverse.ravel())
        trained, tested = patterns[:, 0::2].T.copy(), patterns[:, 1::2].T.copy()
        for k in range(len(pairs)):
            for name, part in (("training", trained[k]), ("test", tested[k])):
                if not part.any():
                    raise ValueError(f"fold {k} has no {name} rows of positive weight.")
        return cls(labels, Cells.of(labels), trained, tested)
