"""The pinball loss, whose best constant is the q-quantile: quantile regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.losses.base import Loss
from tikhon.losses.location import per_target, weighted_quantile
from tikhon.numerics import clip_within
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Quantile(Loss):
    """The absolute error, tilted.

    ``loss(y, z) = q (y - z)`` if ``z <= y`` else ``(1 - q) (z - y)``;
    ``loss*(y, u) = u y`` for ``-q <= u <= 1 - q``.

    max(q, 1 - q)-Lipschitz, not smooth. At the kink ``z = y`` the derivative returned is 0.

    Parameters
    ----------
    q : float, default 0.5
        The quantile sought, strictly between 0 and 1. At 0.5 the loss is half the absolute error.

    Examples
    --------
    >>> Quantile(q=0.9).value(np.array([0.0, 0.0]), np.array([-1.0, 1.0])).round(3)
    array([0.9, 0.1])
    """

    name: ClassVar[str] = "quantile"
    has_conjugate: ClassVar[bool] = True

    q: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.q < 1:
            raise ValueError(f"`q` must be strictly between 0 and 1, got {self.q}.")
        object.__setattr__(self, "q", float(self.q))

    @property
    def lipschitz(self) -> float:
        """Return max(q, 1 - q)."""
        return max(self.q, 1 - self.q)

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``max(-q r, (1 - q) r)`` with ``r = z - y``."""
        with np.errstate(over="ignore"):
            residual = np.subtract(z, y)
        return np.asarray(np.maximum(-self.q * residual, (1 - self.q) * residual))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-q`` below the target, ``1 - q`` above, 0 on it."""
        below, above = np.less(z, y), np.greater(z, y)
        slopes = np.where(below, -self.q, np.where(above, 1 - self.q, 0.0))
        return slopes.astype(np.result_type(y, z))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 0: piecewise linear."""
        with np.errstate(over="ignore"):
            return np.zeros_like(np.subtract(z, y))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``u y``, with u clipped when at most 8 eps outside [-q, 1 - q]."""
        u, inside = clip_within(u, -self.q, 1 - self.q)
        return np.where(inside, u * y, np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return `u` clipped to [-q, 1 - q]."""
        return np.asarray(np.clip(u, -self.q, 1 - self.q))

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the weighted q-quantile of `y`."""
        return per_target(y, s, lambda values, weights: weighted_quantile(values, weights, self.q))
