"""Column statistics of a table for every training set, and products with many residuals at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.squared import Frame
from tikhon.solvers.row_kernel import cell_column_sums
from tikhon.solvers.training import Training
from tikhon.typing import BoolArray, Float64Array

__all__ = ["TrainingColumns", "WideTable"]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingColumns:
    """One training set's rows and columns.

    Attributes
    ----------
    p : ndarray of shape (n,)
        Row weights summing to 1, 0 for rows that are not in the set.
    weight : float
        Total sample weight.
    y_mean : ndarray of shape (targets,)
    mean : ndarray of shape (d,)
        Column means, on top of the table's shift; 0 without an intercept.
    spread : ndarray of shape (d,)
        Standard deviations (about 0 without an intercept), 1 where that is 0.
    scale : ndarray of shape (d,)
        What the penalty takes the columns to be divided by.
    """

    p: Float64Array
    weight: float
    y_mean: Float64Array
    mean: Float64Array
    spread: Float64Array
    scale: Float64Array


class WideTable:
    """A table and the sums of its columns over each cell of rows."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.shift, _ = training.shift()

    @cached_property
    def _sums(self) -> tuple[Float64Array, Float64Array]:
        training = self.training
        return cell_column_sums(training.design, training.s, training.cells, self.shift)

    def columns(self, members: BoolArray) -> TrainingColumns:
        """Return the statistics of a union of cells."""
        training = self.training
        scan = training.design.scan
        rows = training.cells.where(members)
        p = np.zeros(training.design.shape[0])
        p[rows] = 1.0 if training.s is None else training.s[rows]
        weight = float(p.sum())
        p /= weight
        first, second = (part[members].sum(axis=0) / weight for part in self._sums)
        constant = scan.minimum == scan.maximum
        about_mean = np.maximum(second - first**2, 0.0)
        about_mean[constant] = 0.0
        spread = np.sqrt(about_mean if training.intercept else second)
        scale = np.where(about_mean > 0, np.sqrt(about_mean), 1.0)
        if not training.intercept and training.standardize:
            scale = np.where(constant | (second == 0), 1.0, np.sqrt(second))
        return TrainingColumns(
            p,
            weight,
            p @ training.y if training.intercept else np.zeros(training.y.shape[1]),
            first if training.intercept else np.zeros_like(first),
            np.where(spread > 0, spread, 1.0),
            scale if training.standardize else np.ones_like(scale),
        )

    @cached_property
    def everything(self) -> TrainingColumns:
        """The statistics of all rows in use."""
        return self.columns(self.training.everything())

    @cached_property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        own = self.everything
        return self.training.frame(self.shift + own.mean, own.scale, own.y_mean, own.weight)

    @cached_property
    def _early(self) -> Float64Array | None:
        """The shift, where it has to be subtracted before a product."""
        own = self.everything
        view = StandardizedDesign(self.training.design, self.shift + own.mean, own.spread)
        return self.shift if view.early_shift is not None else None

    def correlate(self, R: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return products of columns with residuals R (n, k), and what a unit of mean takes off.

        With column means m on top of the shift, the product of centred columns is the first result
        minus ``(second + m) (1'R)``.
        """
        if self._early is not None:
            return self.training.design.correlate(R, self._early), np.zeros_like(self.shift)
        return self.training.design.correlate(R), self.shift
