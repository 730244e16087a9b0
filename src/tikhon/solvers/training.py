"""What a solver is given, and what it gives back for one training set.

A *machine* holds a table prepared once (moments, or a kernel matrix) and fits any union of cells
of rows for all strengths. Cross-validation asks it for one fold after another; the final fit is
the union of all cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from tikhon.data.design import Design
from tikhon.data.moments import Cells
from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.squared import Frame
from tikhon.solvers.spectrum import Eigenspace
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["FoldFit", "Machine", "Training"]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """Rows, targets, weights and how to treat the columns.

    Attributes
    ----------
    design : Design
    y : ndarray of shape (n, targets)
    s : ndarray of shape (n,) or None
        Sample weights; rows of weight 0 belong to no cell.
    cells : Cells
        The rows in use, cut so that every training and test set is a union of cells.
    standardize : bool
    intercept : bool
    offset : ndarray of shape (n, 1) or (n, columns of z), or None
        Added to the linear predictor of each row.
    """

    design: Design
    y: Float64Array
    s: Float64Array | None
    cells: Cells
    standardize: bool
    intercept: bool
    offset: Float64Array | None = None

    def shift(self) -> tuple[Float64Array, Float64Array]:
        """One global shift of columns and targets; 0 without an intercept."""
        d, targets = self.design.shape[1], self.y.shape[1]
        if not self.intercept:
            return np.zeros(d), np.zeros(targets)
        return self.design.centre(), self.y.mean(axis=0)

    def used(self) -> IntArray:
        """Rows in use, ascending."""
        return np.sort(self.cells.order[self.cells.bounds[0] :])

    def rescaled(self, *, standardize: bool) -> Training:
        """Return the same rows with columns to be scaled, or not."""
        return replace(self, standardize=standardize)

    def everything(self) -> BoolArray:
        """All cells."""
        return np.ones(len(self.cells), dtype=np.bool_)

    def probabilities(self) -> Float64Array | None:
        """Row weights summing to 1 over the rows in use; None where all are equal."""
        n = self.design.shape[0]
        if self.s is None and len(self.used()) == n:
            return None
        weights = np.zeros(n)
        used = self.used()
        weights[used] = 1.0 if self.s is None else self.s[used]
        return np.asarray(weights / weights.sum())

    def frame(
        self, mean: Float64Array, scale: Float64Array, y_mean: Float64Array, weight: float
    ) -> Frame:
        """Coordinates of the fit to all rows in use."""
        view = StandardizedDesign(self.design, mean, scale)
        return Frame(view, self.y, y_mean, self.probabilities(), weight, self.intercept)


class FoldFit(Protocol):
    """A fit to one training set: ridge for any strengths, other penalties for their grid."""

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at each strength: (L, rows, targets)."""
        ...

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        ...


class Machine(Protocol):
    """A prepared table that fits any union of cells."""

    @property
    def name(self) -> str:
        """The algorithm."""
        ...

    @property
    def small_folds(self) -> bool:
        """Whether folds are small work, best done side by side; else BLAS has the threads."""
        ...

    @property
    def training(self) -> Training:
        """What it was prepared from."""
        ...

    @property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        ...

    @property
    def spectrum(self) -> Eigenspace:
        """Spectrum of the fit to all rows in use."""
        ...

    def fold(self, train: BoolArray, test: BoolArray) -> FoldFit:
        """Fit the rows of the cells in `train`, to be asked about those in `test` only."""
        ...


def summed_squares(
    training: Training, fit: FoldFit, test: BoolArray, lams: Float64Array
) -> Float64Array:
    """Weighted sum of squared errors from predictions: exact where moments would cancel."""
    rows = training.cells.where(test)
    residual = fit.predict(rows, lams)
    np.subtract(training.y[rows], residual, out=residual)
    if training.s is None:
        return np.asarray(np.einsum("lit,lit->lt", residual, residual))
    return np.asarray(np.einsum("i,lit,lit->lt", training.s[rows], residual, residual))
