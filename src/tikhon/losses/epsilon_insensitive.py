"""The epsilon-insensitive loss ``max(0, |y - z| - eps)``: support vector regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.losses.base import Loss
from tikhon.losses.location import per_target, weighted_quantile
from tikhon.numerics import clip_within
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class EpsilonInsensitive(Loss):
    """The absolute error beyond a tolerance.

    ``loss(y, z) = max(0, |y - z| - eps)``;  ``loss*(y, u) = u y + eps |u|`` for ``|u| <= 1``.

    1-Lipschitz, not smooth. At the kinks ``|y - z| = eps`` the derivative returned is 0.

    Parameters
    ----------
    eps : float, default 0.1
        Errors up to this size cost nothing, in the unit of y. 0 gives the absolute error.

    Examples
    --------
    >>> EpsilonInsensitive(eps=0.5).value(np.array([0.0, 0.0]), np.array([0.25, -2.0]))
    array([0. , 1.5])
    """

    name: ClassVar[str] = "epsilon_insensitive"
    has_conjugate: ClassVar[bool] = True

    eps: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.eps < np.inf:
            raise ValueError(f"`eps` must be >= 0 and finite, got {self.eps}.")
        object.__setattr__(self, "eps", float(self.eps))

    @property
    def lipschitz(self) -> float:
        """Return 1."""
        return 1.0

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``max(0, |y - z| - eps)``."""
        with np.errstate(over="ignore"):
            return np.asarray(np.maximum(0, np.abs(np.subtract(z, y)) - self.eps))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the sign of ``z - y`` where ``|z - y| > eps``, else 0."""
        with np.errstate(over="ignore"):
            residual = np.subtract(z, y)
        return np.asarray(np.sign(residual) * (np.abs(residual) > self.eps))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 0: piecewise linear."""
        with np.errstate(over="ignore"):
            return np.zeros_like(np.subtract(z, y))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``u y + eps |u|``, with u clipped when at most 8 ulp outside [-1, 1]."""
        u, inside = clip_within(u, -1.0, 1.0)
        return np.where(inside, u * y + self.eps * np.abs(u), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return `u` clipped to [-1, 1]."""
        return np.asarray(np.clip(u, -1, 1))

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the weighted median of all ``y - eps`` and ``y + eps``.

        The loss is an absolute error in disguise, as
        ``max(0, |r| - eps) = (|r - eps| + |r + eps|) / 2 - eps``: each row counts as two points,
        and the sum of absolute errors is least at their median.
        """

        def minimise(values: FloatArray, weights: FloatArray) -> float:
            ends = np.concatenate([values - self.eps, values + self.eps])
            return weighted_quantile(ends, np.tile(0.5 * weights, 2), 0.5)

        return per_target(y, s, minimise)
