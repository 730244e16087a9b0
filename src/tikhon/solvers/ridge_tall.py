"""Ridge for tall tables: one pass of moments over cells of rows serves all folds and strengths.

Moments of a training set are sums of its cells' moments. Standardising is a diagonal scaling of
the second-moment matrix, one eigendecomposition gives every strength, and the held-out squared
error follows from the held-out cells' moments: the rows are not touched again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.moments import Centred, Moments, total
from tikhon.problem.squared import Frame
from tikhon.solvers.spectrum import Eigenspace, spectrum_of_moments
from tikhon.solvers.training import Training, summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["TallMachine"]

TRUSTED_CANCELLATION = 1e-6
"""Held-out error over held-out variance below which moments would leave under nine digits."""


class TallMachine:
    """Per-cell moments of one table."""

    name = "moments and eigendecomposition"
    small_folds = True

    def __init__(self, training: Training) -> None:
        self.training = training
        self.x_shift, self.y_shift = training.shift()
        self.moments: list[Moments] = training.design.gram(
            training.y - self.y_shift, training.s, training.cells, self.x_shift
        )

    def scale(self, centred: Centred) -> Float64Array:
        """What the columns are divided by in one training set."""
        variance = np.diagonal(centred.xx)
        if not self.training.standardize:
            return np.ones(len(variance))
        constant = self.training.design.scan.minimum == self.training.design.scan.maximum
        return np.where((variance > 0) & ~constant, np.sqrt(np.maximum(variance, 0.0)), 1.0)

    def centred(self, members: BoolArray) -> Centred:
        """Moments of a union of cells about its means."""
        return total(self.moments, members).centred(intercept=self.training.intercept)

    @cached_property
    def _all(self) -> Centred:
        return self.centred(self.training.everything())

    @cached_property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        centred = self._all
        return self.training.frame(
            self.x_shift + centred.x_mean,
            self.scale(centred),
            self.y_shift + centred.y_mean,
            centred.weight,
        )

    @cached_property
    def spectrum(self) -> Eigenspace:
        """Spectrum of the fit to all rows in use."""
        return spectrum_of_moments(self._all, self.frame.view.scale)

    def fold(self, train: BoolArray, test: BoolArray) -> TallFold:  # noqa: ARG002
        """Fit the rows of the cells in `train`."""
        centred = self.centred(train)
        scale = self.scale(centred)
        return TallFold(self, centred, scale, spectrum_of_moments(centred, scale))


@dataclass(frozen=True, slots=True, eq=False)
class TallFold:
    """One training set's moments and spectrum."""

    machine: TallMachine
    centred: Centred
    scale: Float64Array
    spectrum: Eigenspace

    def coefs(self, lams: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Coefficients (L, d, targets) on the shifted columns, and intercepts (L, targets)."""
        V = self.spectrum.coefs(lams) / self.scale[:, None]
        b = self.centred.y_mean - np.einsum("j,ljt->lt", self.centred.x_mean, V)
        return V, b

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at each strength: (L, rows, targets)."""
        V, b = self.coefs(lams)
        length, d, targets = V.shape
        flat = np.ascontiguousarray(V.transpose(1, 0, 2)).reshape(d, -1)
        Z = np.empty((len(rows), flat.shape[1]))
        for block in self.machine.training.design.blocks(self.machine.x_shift, rows):
            np.matmul(block.rows, flat, out=Z[block.start : block.stop])
        stacked = Z.reshape(len(rows), length, targets).transpose(1, 0, 2)
        return np.asarray(stacked + (b + self.machine.y_shift)[:, None, :])

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        held_out = total(self.machine.moments, test)
        error = held_out.squared_error(*self.coefs(lams))
        if np.all(error > TRUSTED_CANCELLATION * held_out.yy):
            return error
        return summed_squares(self.machine.training, self, test, lams)
