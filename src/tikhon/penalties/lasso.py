"""The sum of sizes: lasso, sparse coefficients."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.penalties.base import Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.separable import Separable
from tikhon.penalties.thresholds import soft_threshold
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class L1(Separable):
    """The sum of sizes.

    ``R(w) = ||w||_1``;  ``R*(v) = 0`` if every ``|v_j| <= 1``, else ``inf``.

    Examples
    --------
    >>> L1().value(np.array([3.0, -0.5])), L1().prox(np.array([3.0, -0.5]), 1.0)
    (3.5, array([2., 0.]))
    >>> L1().lam_max(np.array([0.25, -2.0]))
    2.0
    """

    name: ClassVar[str] = "l1"

    def coordinates(self, d: int) -> Coordinates:
        """Return sizes alone."""
        return Coordinates.of(d, l1=1.0)

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return ``|g_j|``, the largest of them over targets."""
        size = np.abs(g)
        return size if size.ndim == 1 else np.asarray(size.max(axis=1, initial=0.0))

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return `w` soft-thresholded at `step`."""
        return soft_threshold(w, step)

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``|w|``."""
        return np.abs(w)

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sign of w twice, or -1 and 1 where w is 0."""
        sign = np.sign(w)
        return np.where(w == 0, -1, sign), np.where(w == 0, 1, sign)

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros_like(v)

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return -1 and 1."""
        return np.full_like(v, -1), np.full_like(v, 1)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return 0 if ``|v| <= 1``, else infinity with the sign of `v`."""
        return np.copysign(np.where(np.abs(v) <= 1, 0, np.inf), v).astype(v.dtype)
