"""What a penalised solver gives back for one training set: solutions along a grid."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from tikhon.solvers.training import Training, summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["PathFit"]


@dataclass(frozen=True, slots=True, eq=False)
class PathFit:
    """Solutions at each strength, on the user's scale, for the columns that are ever used.

    Attributes
    ----------
    training : Training
    lams : ndarray of shape (L,)
        Strengths, all different.
    columns : ndarray of shape (m,)
        All other columns have coefficients 0.
    coefs : ndarray of shape (L, m, targets)
    intercepts : ndarray of shape (L, targets)
    solved : int
        How many strengths were solved before the time was up; the others hold the last iterate.
    """

    training: Training
    lams: Float64Array
    columns: IntArray
    coefs: Float64Array
    intercepts: Float64Array
    solved: int

    def part(self, start: int, stop: int) -> Self:
        """Return the solutions from one position of the grid to another."""
        return replace(
            self,
            lams=self.lams[start:stop],
            coefs=self.coefs[start:stop],
            intercepts=self.intercepts[start:stop],
            solved=max(0, min(self.solved, stop) - start),
        )

    def dense(self) -> Float64Array:
        """Return the coefficients of all columns: (L, d, targets)."""
        d = self.training.design.shape[1]
        if np.array_equal(self.columns, np.arange(d)):  # all of them, and in order
            return self.coefs
        length, _, targets = self.coefs.shape
        every = np.zeros((length, d, targets))
        every[:, self.columns] = self.coefs
        return every

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at some strengths of the grid: (L, rows, targets)."""
        wanted = self._positions(lams)
        coefs, intercepts = self.coefs[wanted], self.intercepts[wanted]
        length, m, targets = coefs.shape
        flat = np.ascontiguousarray(coefs.transpose(1, 0, 2)).reshape(m, -1)
        design = self.training.design
        if design.is_sparse:
            Z = design.rows(rows).take(self.columns).predict(flat)
        else:
            Z = design.rows_of_columns(rows, self.columns) @ flat
        stacked = Z.reshape(len(rows), length, targets).transpose(1, 0, 2)
        return np.asarray(stacked + intercepts[:, None, :])

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        return summed_squares(self.training, self, test, lams)

    def _positions(self, lams: Float64Array) -> IntArray:
        """Where in the grid some of its strengths are."""
        return np.flatnonzero(np.isin(self.lams, lams))
