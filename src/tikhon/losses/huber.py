"""Huber's loss: quadratic near the target, linear beyond `delta`."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.losses.base import Loss
from tikhon.numerics import clip_within
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Huber(Loss):
    """Squared for small residuals, absolute for large ones.

    ``loss(y, z) = r^2 / 2`` if ``|r| <= delta`` else ``delta (|r| - delta / 2)``, ``r = z - y``;
    ``loss*(y, u) = u y + u^2 / 2`` for ``|u| <= delta``.

    delta-Lipschitz, 1-smooth. The best constant has no closed form: it is a safe root of the mean
    derivative.

    Parameters
    ----------
    delta : float, default 1.35
        Residual at which the loss turns linear, in the unit of y. 1.35 keeps 95% efficiency for
        Gaussian noise of standard deviation 1.

    Examples
    --------
    >>> Huber(delta=1.0).value(np.array([0.0, 0.0]), np.array([0.5, 3.0]))
    array([0.125, 2.5  ])
    """

    name: ClassVar[str] = "huber"
    has_conjugate: ClassVar[bool] = True

    delta: float = 1.35

    def __post_init__(self) -> None:
        if not 0 < self.delta < np.inf:
            raise ValueError(f"`delta` must be positive and finite, got {self.delta}.")
        object.__setattr__(self, "delta", float(self.delta))

    @property
    def lipschitz(self) -> float:
        """Return delta."""
        return self.delta

    @property
    def smoothness(self) -> float:
        """Return 1."""
        return 1.0

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``c (r - c / 2)``, with c the residual r clipped to [-delta, delta].

        One expression for both branches: it is ``r^2 / 2`` where nothing is clipped, and never
        squares a large residual.
        """
        with np.errstate(over="ignore"):
            residual = np.subtract(z, y)
            clipped = np.clip(residual, -self.delta, self.delta)
            return np.asarray(clipped * (residual - 0.5 * clipped))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``z - y`` clipped to [-delta, delta]."""
        with np.errstate(over="ignore"):
            return np.asarray(np.clip(np.subtract(z, y), -self.delta, self.delta))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 1 where ``|z - y| <= delta``, else 0."""
        with np.errstate(over="ignore"):
            residual = np.subtract(z, y)
        return np.less_equal(np.abs(residual), self.delta).astype(residual.dtype)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``u (y + u / 2)``, u clipped when at most 8 ulp outside [-delta, delta]."""
        u, inside = clip_within(u, -self.delta, self.delta, scale=self.delta)
        return np.where(inside, u * (y + 0.5 * u), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return `u` clipped to [-delta, delta]."""
        return np.asarray(np.clip(u, -self.delta, self.delta))
