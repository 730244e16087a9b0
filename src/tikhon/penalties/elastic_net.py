"""A mixture of L1 and L2: sparse, and stable among correlated columns."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.numerics import times
from tikhon.penalties.base import Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.separable import Separable
from tikhon.penalties.thresholds import soft_threshold
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class ElasticNet(Separable):
    """A mixture of the sum of sizes and half the sum of squares.

    ``R(w) = l1_ratio ||w||_1 + (1 - l1_ratio) / 2 ||w||^2``;
    ``R*(v) = sum_j max(0, |v_j| - l1_ratio)^2 / (2 (1 - l1_ratio))``, for l1_ratio < 1.

    Parameters
    ----------
    l1_ratio : float
        Share of L1, between 0 (the same as `L2`) and 1 (the same as `L1`).

    Examples
    --------
    >>> ElasticNet(0.5).value(np.array([2.0, 0.0]))
    2.0
    >>> ElasticNet(0.5).prox(np.array([2.0, 0.25]), 1.0)
    array([1., 0.])
    """

    name: ClassVar[str] = "elastic_net"

    l1_ratio: float

    def __post_init__(self) -> None:
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"`l1_ratio` must be between 0 and 1, got {self.l1_ratio}.")
        object.__setattr__(self, "l1_ratio", float(self.l1_ratio))

    @property
    def strong_convexity(self) -> float:
        """Return ``1 - l1_ratio``."""
        return 1 - self.l1_ratio

    def coordinates(self, d: int) -> Coordinates:
        """Return both parts."""
        return Coordinates.of(d, l1=self.l1_ratio, l2=self.strong_convexity)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return `w` soft-thresholded at ``step l1_ratio``, over ``1 + step (1 - l1_ratio)``."""
        step = np.asarray(step, dtype=w.dtype)
        return np.asarray(
            soft_threshold(w, step * self.l1_ratio) / (1 + step * self.strong_convexity)
        )

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``|w| (l1_ratio + (1 - l1_ratio) |w| / 2)``."""
        size = np.abs(w)
        with np.errstate(over="ignore"):
            return np.asarray(size * (self.l1_ratio + 0.5 * self.strong_convexity * size))

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the gradient twice, or -l1_ratio and l1_ratio where w is 0."""
        gradient = self.l1_ratio * np.sign(w) + self.strong_convexity * w
        return (
            np.where(w == 0, -self.l1_ratio, gradient),
            np.where(w == 0, self.l1_ratio, gradient),
        )

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``max(0, |v| - l1_ratio)^2 / (2 (1 - l1_ratio))``, or 0 if l1_ratio is 1."""
        if self.l1_ratio == 1:
            return np.zeros_like(v)
        excess = np.maximum(0, np.abs(v) - self.l1_ratio)
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * excess * (excess / self.strong_convexity))

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the whole line, or -1 and 1 if l1_ratio is 1."""
        end = 1.0 if self.l1_ratio == 1 else np.inf
        return np.full_like(v, -end), np.full_like(v, end)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return `v` soft-thresholded at l1_ratio, over ``1 - l1_ratio``."""
        kept = soft_threshold(v, self.l1_ratio)
        if self.l1_ratio == 1:
            return times(kept, np.inf)
        return np.asarray(kept / self.strong_convexity)
