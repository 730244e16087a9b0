"""The squared loss ``(y - z)^2 / 2``: least squares, ridge, lasso."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.losses.base import Loss
from tikhon.losses.location import weighted_mean
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Squared(Loss):
    """Half the squared error.

    ``loss(y, z) = (y - z)^2 / 2``, ``loss*(y, u) = u y + u^2 / 2`` for every u.

    Lipschitz on bounded ranges only; 1-smooth.

    Examples
    --------
    >>> Squared().value(np.array([1.0, 2.0]), np.array([1.0, 0.0]))
    array([0., 2.])
    """

    name: ClassVar[str] = "squared"
    has_conjugate: ClassVar[bool] = True
    likelihood: ClassVar[str] = "normal"

    @property
    def smoothness(self) -> float:
        """Return 1."""
        return 1.0

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``(y - z)^2 / 2``, ``inf`` where the square overflows."""
        with np.errstate(over="ignore"):
            residual = np.subtract(z, y)
            return np.asarray(0.5 * residual * residual)

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``z - y``."""
        return np.asarray(np.subtract(z, y))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 1."""
        return np.ones_like(np.subtract(z, y))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``u (y + u / 2)``."""
        with np.errstate(over="ignore"):
            return np.asarray(np.multiply(u, np.add(y, np.multiply(u, 0.5))))

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return `u`: the domain is the whole line."""
        return np.asarray(u)

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the weighted mean of `y`."""
        return weighted_mean(y, s)
