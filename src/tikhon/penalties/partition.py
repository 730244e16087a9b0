"""Columns in groups: sums and norms over each group, and one factor per group spread over rows.

`Group` and `SparseGroup` are arithmetic on the norms of groups. Labels may come in any order and
with gaps; inside, groups are numbered 0, 1, ... in the order of their labels, and sums run over the
columns sorted by group: pairwise, so that a group of a million columns keeps its digits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tikhon.typing import Float64Array, FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """The columns of a table in groups, none of them empty.

    Attributes
    ----------
    codes : ndarray of shape (d,)
        The number of each column's group.
    order : ndarray of shape (d,), or None
        The columns sorted by group; None where they come sorted.
    starts : ndarray of shape (n_groups,)
        Where each group begins in that order.

    Examples
    --------
    >>> groups = Partition.of(np.array([7, 3, 7]))
    >>> groups.norms(np.array([3.0, 1.0, -4.0]))
    array([1., 5.])
    """

    codes: npt.NDArray[np.intp]
    order: npt.NDArray[np.intp] | None
    starts: npt.NDArray[np.intp]

    @classmethod
    def of(cls, groups: npt.NDArray[np.integer[Any]]) -> Partition:
        """Number the groups of a label per column."""
        _, codes, sizes = np.unique(groups, return_inverse=True, return_counts=True)
        ordered = bool(np.all(codes[1:] >= codes[:-1]))
        starts = np.cumsum(sizes) - sizes
        return cls(codes, None if ordered else np.argsort(codes, kind="stable"), starts)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def sizes(self) -> npt.NDArray[np.intp]:
        """The number of columns in each group."""
        return np.diff(self.starts, append=len(self.codes))

    def sums(self, values: Float64Array) -> Float64Array:
        """Return the sum of one value per column over each group, (d,) -> (n_groups,)."""
        return np.add.reduceat(self._sorted(values), self.starts)

    def largest(self, values: Float64Array) -> Float64Array:
        """Return the largest of one value per column in each group, (d,) -> (n_groups,)."""
        return np.asarray(np.maximum.reduceat(self._sorted(values), self.starts))

    def norms(self, w: FloatArray) -> Float64Array:
        """Return ``||w_g||``, over the columns of a group and all targets.

        Scaled by the largest entry of the group, so that no square overflows.
        """
        rows = self.rows(w)
        largest = self.largest(rows.max(axis=1, initial=0.0))
        unit = np.where(largest > 0, largest, 1.0)
        squares = ((rows / unit[self.codes, None]) ** 2).sum(axis=1)
        return np.asarray(unit * np.sqrt(self.sums(squares)))

    def rows(self, w: FloatArray) -> Float64Array:
        """Return the sizes of coefficients as a float64 table with one row per column of X.

        Raises
        ------
        ValueError
            If there are not as many rows as labels.
        """
        self.check_length(len(w))
        return np.abs(w if w.ndim > 1 else w[:, None]).astype(np.float64)

    def spread(self, factors: Float64Array, w: FloatArray) -> FloatArray:
        """Return `w` with every group multiplied by its factor, in the float type of `w`."""
        rows = factors[self.codes].astype(w.dtype)
        return np.asarray(w * rows.reshape((-1,) + (1,) * (w.ndim - 1)))

    def check_length(self, d: int) -> None:
        """Raise unless there is one label for each of `d` coefficients."""
        if d != len(self.codes):
            raise ValueError(
                f"`groups` has {len(self.codes)} entries for {d} coefficients. "
                "Give one label per column of X."
            )

    def _sorted(self, values: Float64Array) -> Float64Array:
        return values if self.order is None else values[self.order]
