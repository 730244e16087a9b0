"""The bookkeeping of working sets: which columns a training set's small problem holds.

A path with a hundred nonzero coefficients among a hundred thousand columns is a small problem, once
one knows which columns matter. Columns that matter are gathered once, dense and shifted, for all
training sets together; each training set keeps the moments of its own choice of them, and extends
these as the choice grows.
"""

from __future__ import annotations

import numpy as np

from tikhon.data.design import Design
from tikhon.typing import Float64Array, IntArray

__all__ = ["ColumnStore", "TrainingSet"]


class ColumnStore:
    """Columns of a table, dense, in float64, minus a shift; each gathered when first asked for."""

    def __init__(self, design: Design, shift: Float64Array) -> None:
        self.design = design
        self.shift = shift
        self._place = np.full(design.shape[1], -1, dtype=np.int64)
        self._held = 0
        self._data = np.empty((design.shape[0], 0), order="F")

    def places(self, columns: IntArray) -> IntArray:
        """Return where these columns are in `data`, gathering the ones that are new."""
        new = columns[self._place[columns] < 0]
        if len(new):
            count = self._held + len(new)
            if count > self._data.shape[1]:
                larger = np.empty((len(self._data), max(count, 2 * self._data.shape[1])), order="F")
                larger[:, : self._held] = self._data[:, : self._held]
                self._data = larger
            fresh = self.design.rows_of_columns(None, new)
            np.subtract(fresh, self.shift[new], out=self._data[:, self._held : count])
            self._place[new] = np.arange(self._held, count)
            self._held = count
        return self._place[columns]

    @property
    def data(self) -> Float64Array:
        """All gathered columns: (n, held)."""
        return self._data[:, : self._held]


class TrainingSet:
    """One training set, its working set of columns, and the moments of these.

    Attributes
    ----------
    p : ndarray of shape (n,)
        Row weights summing to 1, 0 for rows that are held out.
    y, y_mean : ndarray of shape (n, targets) and (targets,)
        Targets about their mean, and the mean.
    mean, unit : ndarray of shape (d,)
        Column means (from the store's shift), and what the solver divides columns by.
    columns : ndarray of shape (m,)
        The working set, in the order in which columns came.
    moments, C : ndarray of shape (m, m) and (m, targets)
        Moments of the working set.
    """

    def __init__(
        self,
        store: ColumnStore,
        p: Float64Array,
        y: Float64Array,
        y_mean: Float64Array,
        mean: Float64Array,
        unit: Float64Array,
    ) -> None:
        self.store = store
        self.p = p
        self.y, self.y_mean, self.mean, self.unit = y - y_mean, y_mean, mean, unit
        self.columns = np.empty(0, dtype=np.int64)
        self.holds = np.zeros(len(mean), dtype=np.bool_)
        self._counted = 0
        self._moments = np.empty((0, 0))
        self.C = np.empty((0, y.shape[1]))

    @property
    def moments(self) -> Float64Array:
        """Second moments of the working set; rows are contiguous."""
        m = self._counted
        return self._moments[:m, :m]

    def join(self, columns: IntArray) -> None:
        """Add columns to the working set; their moments wait until they are asked for."""
        new = columns[~self.holds[columns]]
        self.columns = np.concatenate([self.columns, new])
        self.holds[new] = True

    def extend(self, columns: IntArray) -> None:
        """Add columns to the working set, and the moments of all that have none."""
        self.join(columns)
        old, m = self._counted, len(self.columns)
        new = self.columns[old:]
        if not len(new):
            return
        if m > len(self._moments):
            larger = np.empty((max(m, 2 * old, 64),) * 2)
            larger[:old, :old] = self._moments[:old, :old]
            self._moments = larger
        places = self.store.places(self.columns)
        data = self.store.data
        weighted = data[:, places[old:]] * self.p[:, None]
        # All gathered columns at once: a product without a copy is faster than a smaller one.
        cross = (weighted.T @ data)[:, places]
        cross -= np.outer(self.mean[new], self.mean[self.columns])
        cross /= self.unit[self.columns]
        cross /= self.unit[new, None]
        self._moments[old:m, :m] = cross
        self._moments[:old, old:m] = cross[:, :old].T
        fresh = self._moments[old:m, old:m]
        fresh[:] = (fresh + fresh.T) / 2.0
        self._counted = m
        self.C = np.vstack([self.C, (weighted.T @ self.y) / self.unit[new, None]])

    def residuals(self, coefs: Float64Array) -> Float64Array:
        """Return residuals of solutions (L, m, targets) on all rows, by row: (n, L, targets)."""
        length, m, targets = coefs.shape
        columns = self.columns[:m]
        V = coefs / self.unit[columns, None]
        used = np.flatnonzero(np.any(V != 0, axis=(0, 2)))
        flat = np.ascontiguousarray(V[:, used].transpose(1, 0, 2))
        flat = flat.reshape(len(used), length * targets)
        places = self.store.places(columns[used])
        Z = self.store.data[:, places] @ flat - self.mean[columns[used]] @ flat
        return self.y[:, None, :] - Z.reshape(len(Z), length, targets)
