"""The moments of a tall table, cell by cell, and what follows from them without the rows."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from tikhon._kernels import thread_count
from tikhon.data.moments import Centred, Moments, total
from tikhon.engine import map_units
from tikhon.problem.squared import Frame
from tikhon.solvers.training import Training
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["TallTable"]

TRUSTED_CANCELLATION = 1e-6
"""Held-out error over held-out variance below which moments would leave under nine digits."""


class TallTable:
    """Per-cell moments of one table, about one shift; coefficients here are for shifted columns."""

    def __init__(self, training: Training) -> None:
        self.training = training
        self.x_shift, self.y_shift = training.shift()
        self.moments: list[Moments] = self._moments(training.y - self.y_shift)

    def _moments(self, y: Float64Array) -> list[Moments]:
        """One pass over the rows; cells side by side, since BLAS scales worse within a block."""
        training, cells = self.training, self.training.cells
        if len(cells) < thread_count():
            return training.design.gram(y, training.s, cells, self.x_shift)

        def of_cell(cell: int) -> Moments:
            alone = cells.only(cell)
            return training.design.gram(y, training.s, alone, self.x_shift, threads=1)[0]

        return map_units(of_cell, range(len(cells)))

    def spread(self, centred: Centred) -> Float64Array:
        """Standard deviations (about 0 without an intercept) in one training set; 1 for 0."""
        variance = np.diagonal(centred.xx)
        scan = self.training.design.scan
        varies = variance > 0
        if self.training.intercept:
            varies &= scan.minimum != scan.maximum
        return np.where(varies, np.sqrt(np.maximum(variance, 0.0)), 1.0)

    def scale(self, centred: Centred) -> Float64Array:
        """What the penalty takes the columns to be divided by in one training set."""
        if not self.training.standardize:
            return np.ones(len(centred.x_mean))
        variance = np.diagonal(centred.xx)
        constant = self.training.design.scan.minimum == self.training.design.scan.maximum
        return np.where((variance > 0) & ~constant, np.sqrt(np.maximum(variance, 0.0)), 1.0)

    def centred(self, members: BoolArray) -> Centred:
        """Moments of a union of cells about its means."""
        return total(self.moments, members).centred(intercept=self.training.intercept)

    @cached_property
    def everything(self) -> Centred:
        """Moments of all rows in use."""
        return self.centred(self.training.everything())

    @cached_property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        centred = self.everything
        return self.training.frame(
            self.x_shift + centred.x_mean,
            self.scale(centred),
            self.y_shift + centred.y_mean,
            centred.weight,
        )

    def predict(self, rows: IntArray, V: Float64Array, b: Float64Array) -> Float64Array:
        """Predictions (L, rows, targets) by coefficients (L, d, targets) and intercepts."""
        length, d, targets = V.shape
        flat = np.ascontiguousarray(V.transpose(1, 0, 2)).reshape(d, -1)
        Z = np.empty((len(rows), flat.shape[1]))
        for block in self.training.design.blocks(self.x_shift, rows):
            np.matmul(block.rows, flat, out=Z[block.start : block.stop])
        stacked = Z.reshape(len(rows), length, targets).transpose(1, 0, 2)
        return np.asarray(stacked + (b + self.y_shift)[:, None, :])

    def squared_error(
        self, test: BoolArray, V: Float64Array, b: Float64Array
    ) -> Float64Array | None:
        """Sum of squared errors (L, targets) over a union of cells; None where digits cancel."""
        held_out = total(self.moments, test)
        error = held_out.squared_error(V, b)
        return error if np.all(error > TRUSTED_CANCELLATION * held_out.yy) else None
