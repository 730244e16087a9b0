"""Dense tables: NumPy arrays of float32 or float64 in any memory order, never copied whole.

float64 with one unit stride goes to BLAS as it is. Everything else (float32, odd strides, a
shift to subtract) is converted block by block, so the extra memory is one block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tikhon import _kernels
from tikhon._kernels import ColumnScan
from tikhon.data.design import BLOCK_BYTES, Block, ColumnStats, block_rows
from tikhon.data.moments import Cells, Moments, accumulate
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = ["DenseDesign"]


@dataclass(frozen=True, slots=True, eq=False)
class DenseDesign:
    """A dense matrix `X` and the scan of its columns."""

    X: FloatArray
    scan: ColumnScan

    @classmethod
    def of(cls, X: FloatArray) -> DenseDesign:
        """Wrap a matrix that is already known to be finite floats."""
        return cls(X, _kernels.scan(X))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.X.shape[0], self.X.shape[1]

    @property
    def eps(self) -> float:
        """Relative rounding of the stored numbers."""
        return float(np.finfo(self.X.dtype).eps)

    @property
    def is_sparse(self) -> bool:
        """Zeros are stored."""
        return False

    @property
    def direct(self) -> bool:
        """float64 with one unit stride."""
        item = self.X.itemsize
        return self.X.dtype == np.float64 and item in self.X.strides

    def predict(self, W: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift') W``."""
        if shift is None and self.direct:
            return np.asarray(self.X @ W)
        out = np.empty((self.shape[0], *W.shape[1:]))
        for block in self.blocks(shift):
            np.matmul(block.rows, W, out=out[block.start : block.stop])
        return out

    def correlate(self, R: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift')' R``."""
        if shift is None and self.direct:
            return np.asarray(self.X.T @ R)
        out = np.zeros((self.shape[1], *R.shape[1:]))
        for block in self.blocks(shift):
            out += block.rows.T @ R[block.start : block.stop]
        return out

    def gram(
        self,
        y: Float64Array,
        s: Float64Array | None,
        cells: Cells,
        shift: Float64Array,
        *,
        threads: int | None = None,
    ) -> list[Moments]:
        """Return the moments of ``[X - shift, y]`` over each cell of rows, in one pass."""
        n, d = self.shape
        # With fewer rows than half the columns, adding a product costs more than making it.
        step = max(block_rows(d, n), min(n, d // 2))
        buffer = np.empty((step, d))
        result = []
        for cell in range(len(cells)):
            moments = Moments.zero(d, y.shape[1])
            rows = cells.rows(cell)
            for start in range(0, len(rows), step):
                index = rows[start : start + step]
                Z, v = buffer[: len(index)], y[index]
                weights = None if s is None else s[index]
                root = None if weights is None else np.sqrt(weights)
                _kernels.gather(self.X, Z, index=index, shift=shift, scale=root, threads=threads)
                if root is not None:
                    v = v * root[:, None]
                moments = accumulate(moments, Z, v, weights)
            result.append(moments)
        return result

    def stats(self, s: Float64Array | None = None) -> ColumnStats:
        """Return the columns' statistics, with row weights `s`."""
        n, d = self.shape
        centre = self.centre()
        first, second = np.zeros(d), np.zeros(d)
        weight = float(n) if s is None else float(s.sum())
        for block in self.blocks(centre):
            part = None if s is None else s[block.start : block.stop]
            if part is None:
                first += block.rows.sum(axis=0)
                second += np.einsum("ij,ij->j", block.rows, block.rows)
            else:
                first += part @ block.rows
                second += np.einsum("i,ij,ij->j", part, block.rows, block.rows)
        offset = first / weight
        variance = np.maximum(second / weight - offset**2, 0.0)
        return ColumnStats(centre + offset, np.sqrt(variance), self.scan.minimum, self.scan.maximum)

    def centre(self) -> Float64Array:
        """Return a shift near every column's mean, exact for constant columns."""
        return centre(self.scan, self.shape[0])

    def take(self, columns: IntArray) -> DenseDesign:
        """Return the same rows with only these columns."""
        return DenseDesign(self.X[:, columns], take_scan(self.scan, columns))

    def rows(self, index: IntArray) -> DenseDesign:
        """Return these rows only."""
        return DenseDesign.of(self.X[index])

    def rows_of_columns(self, rows: IntArray | None, columns: IntArray) -> Float64Array:
        """Return some rows (all for None) of some columns, dense, in float64."""
        part = self.X[:, columns] if rows is None else self.X[np.ix_(rows, columns)]
        return np.asarray(part, dtype=np.float64)

    def blocks(
        self, shift: Float64Array | None = None, index: IntArray | None = None
    ) -> Iterator[Block]:
        """Hand out the rows of ``X - 1 shift'`` in order, in dense float64 blocks."""
        d = self.shape[1]
        count = self.shape[0] if index is None else len(index)
        step = block_rows(d, count)
        if index is None and shift is None and self.direct:
            for start in range(0, count, step):
                rows = self.X[start : start + step]
                yield Block(start, start + len(rows), np.asarray(rows, dtype=np.float64))
            return
        buffer = np.empty((step, d))
        for start in range(0, count, step):
            stop = min(start + step, count)
            Z = buffer[: stop - start]
            if index is None:
                _kernels.gather(self.X[start:stop], Z, shift=shift)
            else:
                _kernels.gather(self.X, Z, index=index[start:stop], shift=shift)
            yield Block(start, stop, Z)

    def column_blocks(
        self, shift: Float64Array | None, factor: Float64Array | None
    ) -> Iterator[tuple[int, Float64Array]]:
        """Hand out all columns of ``(X - 1 shift') diag(factor)`` in dense float64 blocks."""
        n, d = self.shape
        step = max(16, min(d, BLOCK_BYTES // (8 * max(n, 1))))
        buffer = np.empty(n * step)
        for start in range(0, d, step):
            part = self.X[:, start : start + step]
            columns = slice(start, start + part.shape[1])
            Z = buffer[: n * part.shape[1]].reshape(n, part.shape[1])
            _kernels.gather(
                part,
                Z,
                shift=None if shift is None else shift[columns],
                column_scale=None if factor is None else factor[columns],
            )
            yield start, Z


def centre(scan: ColumnScan, n: int) -> Float64Array:
    """Return the column means, or the value itself where a column is constant.

    The mean of n equal values can differ from the value by a rounding; such a column would
    come out with a variance of 1e-33 in place of 0.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        mean = scan.sums / n
    middle = scan.minimum / 2 + scan.maximum / 2
    mean = np.where(np.isfinite(mean), mean, middle)
    return np.asarray(np.where(scan.minimum == scan.maximum, scan.minimum, mean))


def take_scan(scan: ColumnScan, columns: IntArray) -> ColumnScan:
    """Return the scan of some of the columns."""
    return ColumnScan(
        scan.sums[columns],
        scan.minimum[columns],
        scan.maximum[columns],
        scan.nonfinite[columns],
    )
