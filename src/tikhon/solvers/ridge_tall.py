"""Ridge for tall tables: one pass of moments over cells of rows serves all folds and strengths.

Moments of a training set are sums of its cells' moments. Standardising is a diagonal scaling of
the second-moment matrix, one eigendecomposition gives every strength, and the held-out squared
error follows from the held-out cells' moments: the rows are not touched again.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.moments import Centred
from tikhon.solvers.spectrum import Eigenspace, spectrum_of_moments
from tikhon.solvers.tall_table import TallTable
from tikhon.solvers.training import summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["TallMachine"]


class TallMachine(TallTable):
    """Per-cell moments of one table."""

    name = "moments and eigendecomposition"
    small_folds = True

    @cached_property
    def spectrum(self) -> Eigenspace:
        """Spectrum of the fit to all rows in use."""
        return spectrum_of_moments(self.everything, self.frame.view.scale)

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
        return self.machine.predict(rows, *self.coefs(lams))

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        error = self.machine.squared_error(test, *self.coefs(lams))
        return summed_squares(self.machine.training, self, test, lams) if error is None else error
