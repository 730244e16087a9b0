"""Sparse tables: SciPy CSR or CSC, 32- or 64-bit indices; centred implicitly, never densified.

With a shift c, ``(X - 1 c') W = X W - 1 (c' W)`` and ``(X - 1 c')' R = X' R - c (1' R)``: two small
corrections around the sparse products.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from tikhon._kernels import ColumnScan
from tikhon.data.dense import centre, take_scan
from tikhon.data.design import BLOCK_BYTES, Block, ColumnStats, block_rows
from tikhon.data.moments import Cells, Moments
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = ["SparseDesign"]


@dataclass(frozen=True, eq=False)
class SparseDesign:
    """A SciPy CSR or CSC array `X` and the scan of its columns (zeros included)."""

    X: sparse.csr_array | sparse.csc_array
    scan: ColumnScan

    @classmethod
    def of(cls, X: sparse.csr_array | sparse.csc_array) -> SparseDesign:
        """Wrap a canonical sparse array that is already known to be finite floats."""
        return cls(X, scan(X))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def eps(self) -> float:
        """Relative rounding of the stored numbers."""
        return float(np.finfo(self.X.dtype).eps)

    @property
    def direct(self) -> bool:
        """Sparse products take any float type."""
        return True

    @property
    def is_sparse(self) -> bool:
        """Zeros are not stored."""
        return True

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The table in compressed columns: itself, or converted once."""
        return self.X.tocsc()

    def predict(self, W: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift') W``."""
        Z = np.asarray(self.X @ W, dtype=np.float64)
        return Z if shift is None else np.asarray(Z - shift @ W)

    def correlate(self, R: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift')' R``."""
        G = np.asarray(self.X.T @ R, dtype=np.float64)
        if shift is None:
            return G
        sums = R.sum(axis=0)
        return np.asarray(G - (np.multiply.outer(shift, sums) if R.ndim == 2 else shift * sums))

    def gram(
        self,
        y: Float64Array,
        s: Float64Array | None,
        cells: Cells,
        shift: Float64Array,
        *,
        threads: int | None = None,  # noqa: ARG002
    ) -> list[Moments]:
        """Return the moments of ``[X - shift, y]`` over each cell of rows, in one pass."""
        X = self.X.tocsr()
        result = []
        for cell in range(len(cells)):
            index = cells.rows(cell)
            weights = np.ones(len(index)) if s is None else s[index]
            result.append(_cell_moments(X[index], y[index], weights, shift))
        return result

    def stats(self, s: Float64Array | None = None) -> ColumnStats:
        """Return the columns' statistics, with row weights `s`."""
        n = self.shape[0]
        weights = np.ones(n) if s is None else s
        total = float(weights.sum())
        mean = np.asarray(self.X.T @ weights) / total
        squares = _squared_deviations(self.columns, weights, mean)
        sd = np.sqrt(squares / total)
        sd[self.scan.minimum == self.scan.maximum] = 0.0
        return ColumnStats(mean, sd, self.scan.minimum, self.scan.maximum)

    def centre(self) -> Float64Array:
        """Return a shift near every column's mean, exact for constant columns."""
        return centre(self.scan, self.shape[0])

    def take(self, columns: IntArray) -> SparseDesign:
        """Return the same rows with only these columns."""
        return SparseDesign(self.X[:, columns], take_scan(self.scan, columns))

    def rows(self, index: IntArray) -> SparseDesign:
        """Return these rows only."""
        return SparseDesign.of(self.X.tocsr()[index])

    def rows_of_columns(self, rows: IntArray | None, columns: IntArray) -> Float64Array:
        """Return some rows (all for None) of some columns, dense, in float64."""
        part = self.columns[:, columns]
        chosen = part.toarray() if rows is None else part.tocsr()[rows].toarray()
        return np.asarray(chosen, dtype=np.float64)

    def blocks(
        self, shift: Float64Array | None = None, index: IntArray | None = None
    ) -> Iterator[Block]:
        """Hand out the rows of ``X - 1 shift'`` in order, in dense float64 blocks."""
        X = self.X.tocsr() if index is None else self.X.tocsr()[index]
        n, d = X.shape
        step = block_rows(d, n)
        for start in range(0, n, step):
            Z = X[start : start + step].toarray().astype(np.float64, copy=False)
            if shift is not None:
                Z -= shift
            yield Block(start, start + len(Z), Z)

    def column_blocks(
        self, shift: Float64Array | None, factor: Float64Array | None
    ) -> Iterator[tuple[int, Float64Array]]:
        """Hand out all columns of ``(X - 1 shift') diag(factor)`` in dense float64 blocks."""
        n, d = self.shape
        X = self.X.tocsc()
        step = max(16, min(d, BLOCK_BYTES // (8 * max(n, 1))))
        for start in range(0, d, step):
            Z = X[:, start : start + step].toarray().astype(np.float64, copy=False)
            columns = slice(start, start + Z.shape[1])
            if shift is not None:
                Z -= shift[columns]
            if factor is not None:
                Z *= factor[columns]
            yield start, Z


def scan(X: sparse.csr_array | sparse.csc_array) -> ColumnScan:
    """Sum, smallest and largest value and number of non-finite values of each column."""
    n, d = X.shape
    C = X.tocsc()
    filled = np.diff(C.indptr)
    bad = np.zeros(d, dtype=np.int64)
    wrong = ~np.isfinite(C.data)
    if wrong.any():
        np.add.at(bad, np.repeat(np.arange(d), filled)[wrong], 1)
    some = filled > 0
    minimum, maximum = np.zeros(d), np.zeros(d)
    starts = C.indptr[:-1][some]
    if len(starts):
        minimum[some] = np.minimum.reduceat(C.data, starts)
        maximum[some] = np.maximum.reduceat(C.data, starts)
    holes = filled < n
    minimum[holes] = np.minimum(minimum[holes], 0.0)
    maximum[holes] = np.maximum(maximum[holes], 0.0)
    sums = np.asarray(X.sum(axis=0), dtype=np.float64).ravel()
    return ColumnScan(sums, minimum, maximum, bad)


def _squared_deviations(C: sparse.csc_array, s: Float64Array, mean: Float64Array) -> Float64Array:
    """``sum_i s_i (x_ij - mean_j)^2`` over all rows, stored and implied zeros alike."""
    filled = np.diff(C.indptr)
    weights = s[C.indices]
    deviation = C.data - np.repeat(mean, filled)
    starts = C.indptr[:-1][filled > 0]
    stored, stored_weight = np.zeros(C.shape[1]), np.zeros(C.shape[1])
    if len(starts):
        stored[filled > 0] = np.add.reduceat(weights * deviation**2, starts)
        stored_weight[filled > 0] = np.add.reduceat(weights, starts)
    implied = np.maximum(float(s.sum()) - stored_weight, 0.0)
    return np.asarray(stored + implied * mean**2)


def _cell_moments(
    X: sparse.csr_array, y: Float64Array, s: Float64Array, shift: Float64Array
) -> Moments:
    """Moments of ``[X - shift, y]``: the sparse product, then the shift as a rank-two update."""
    weight = float(s.sum())
    raw = np.asarray(X.T @ s)
    x = raw - weight * shift
    xx = np.asarray((X.T @ (X * s[:, None])).todense(), dtype=np.float64)
    xx -= np.outer(shift, raw)
    xx -= np.outer(x, shift)
    ys = y * s[:, None]
    xy = np.asarray(X.T @ ys) - np.outer(shift, ys.sum(axis=0))
    return Moments(weight, x, ys.sum(axis=0), xx, xy, np.einsum("it,it->t", y, ys))
