"""What every kind of table can do: the five verbs, and handing out blocks of rows.

    predict(W)    X W                            (n, k)
    correlate(R)  X' R                           (d, k)
    gram(...)     moments of [X, y] cell by cell (see `tikhon.data.moments`)
    stats(s)      weighted mean, standard deviation and range of each column
    take(columns) the same rows, fewer columns

Solvers see nothing else of the data, so a new kind of table is one file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tikhon._kernels import ColumnScan
from tikhon.data.moments import Cells, Moments
from tikhon.typing import BoolArray, Float64Array, FloatArray, IntArray

__all__ = ["BLOCK_BYTES", "Block", "ColumnStats", "Design", "block_rows"]

BLOCK_BYTES = 4 * 2**20
"""A block of rows in float64: small beside the input, large enough for BLAS to run at speed."""


@dataclass(frozen=True, slots=True)
class Block:
    """Rows `start` to `stop`, dense, in float64."""

    start: int
    stop: int
    rows: Float64Array


@dataclass(frozen=True, slots=True)
class ColumnStats:
    """Weighted mean and (1/n) standard deviation, smallest and largest value of each column.

    The standard deviation of a constant column is exactly 0.
    """

    mean: Float64Array
    sd: Float64Array
    minimum: Float64Array
    maximum: Float64Array

    @property
    def constant(self) -> BoolArray:
        """Columns that hold one value only."""
        return np.asarray(self.minimum == self.maximum)

    @property
    def scale(self) -> Float64Array:
        """What standardising divides by: the standard deviation, 1 for a constant column."""
        return np.where(self.sd > 0, self.sd, 1.0)


@runtime_checkable
class Design(Protocol):
    """A table of n rows and d columns of numbers."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    @property
    def is_sparse(self) -> bool:
        """Whether zeros are not stored."""
        ...

    @property
    def direct(self) -> bool:
        """Whether products take the stored numbers as they are, without a converted copy."""
        ...

    @property
    def eps(self) -> float:
        """Relative rounding of the stored numbers."""
        ...

    @property
    def scan(self) -> ColumnScan:
        """Sum, smallest and largest value of each column, taken once when the data came in."""
        ...

    def predict(self, W: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift') W``, of shape (n,) or (n, k)."""
        ...

    def correlate(self, R: FloatArray, shift: Float64Array | None = None) -> Float64Array:
        """Return ``(X - 1 shift')' R``, of shape (d,) or (d, k)."""
        ...

    def gram(
        self,
        y: Float64Array,
        s: Float64Array | None,
        cells: Cells,
        shift: Float64Array,
        *,
        threads: int | None = None,
    ) -> list[Moments]:
        """Return the moments of ``[X - shift, y]`` over each cell of rows, in one pass.

        `threads` prepare the rows; what BLAS may use is set elsewhere.
        """
        ...

    def stats(self, s: Float64Array | None = None) -> ColumnStats:
        """Return the columns' statistics, with row weights `s`."""
        ...

    def take(self, columns: IntArray) -> Design:
        """Return the same rows with only these columns."""
        ...

    def rows(self, index: IntArray) -> Design:
        """Return these rows only."""
        ...

    def rows_of_columns(self, rows: IntArray | None, columns: IntArray) -> Float64Array:
        """Return some rows (all for None) of some columns, dense, in float64: (rows, columns)."""
        ...

    def centre(self) -> Float64Array:
        """Return a shift near every column's mean, exact for constant columns."""
        ...

    def blocks(
        self, shift: Float64Array | None = None, index: IntArray | None = None
    ) -> Iterator[Block]:
        """Hand out the rows of ``X - 1 shift'`` in order, in dense float64 blocks.

        With `index`, those rows only; `Block.start` then counts along the index. A block is
        valid until the next one is asked for, and is not to be written to.
        """
        ...

    def column_blocks(
        self, shift: Float64Array | None, factor: Float64Array | None
    ) -> Iterator[tuple[int, Float64Array]]:
        """Hand out all columns of ``(X - 1 shift') diag(factor)`` in dense float64 blocks.

        Each comes with the number of its first column and is valid until the next one.
        """
        ...


def block_rows(n_features: int, n_samples: int) -> int:
    """Rows in a block of about `BLOCK_BYTES`."""
    return max(16, min(n_samples, BLOCK_BYTES // (8 * max(n_features, 1))))
