"""The lazy view ``(X - 1 mean') / scale``: centred and scaled without touching the data.

Products with the view are products with the table, with small vectors in front and behind.
Where a column's mean is large beside its spread the subtraction is done before the product,
block by block, because afterwards the digits would be gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.data.design import Design
from tikhon.typing import Float64Array, FloatArray

__all__ = ["StandardizedDesign"]

LARGE_MEAN = 100.0
"""Mean over standard deviation from which two digits would be lost by subtracting afterwards."""


@dataclass(frozen=True, slots=True, eq=False)
class StandardizedDesign:
    """A view of `base` with columns shifted by `mean` and divided by `scale`.

    Coefficients on the view are `scale` times those on the base: `to_base` and `from_base`
    translate.
    """

    base: Design
    mean: Float64Array
    scale: Float64Array

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.base.shape

    @property
    def early_shift(self) -> Float64Array | None:
        """The shift, if it has to be subtracted before a product rather than after it."""
        large = np.abs(self.mean) > LARGE_MEAN * self.scale
        return self.mean if large.any() and not self.base.is_sparse else None

    def predict(self, W: FloatArray) -> Float64Array:
        """Return the view times `W`."""
        V = np.asarray((W.T / self.scale).T, dtype=np.float64)
        early = self.early_shift
        if early is not None:
            return self.base.predict(V, early)
        return self.base.predict(V) - self.mean @ V

    def correlate(self, R: FloatArray) -> Float64Array:
        """Return the view's transpose times `R`."""
        early = self.early_shift
        G = self.base.correlate(R, early)
        if early is None:
            sums = R.sum(axis=0)
            G = G - (np.multiply.outer(self.mean, sums) if R.ndim == 2 else self.mean * sums)
        return np.asarray((G.T / self.scale).T)

    def to_base(
        self, W: FloatArray, b: float | Float64Array
    ) -> tuple[Float64Array, float | Float64Array]:
        """Translate coefficients and intercept on the view into those on the base."""
        V = (W.T / self.scale).T
        return V, b - self.mean @ V

    def from_base(
        self, V: FloatArray, b: float | Float64Array
    ) -> tuple[Float64Array, float | Float64Array]:
        """Translate coefficients and intercept on the base into those on the view."""
        return (V.T * self.scale).T, b + self.mean @ V
