"""The Gamma loss ``y exp(-z) + z``: positive targets with constant relative error."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tikhon.losses.base import Loss
from tikhon.losses.location import weighted_mean
from tikhon.losses.targets import first_problem, not_numeric
from tikhon.numerics import clip_within, exp, log, times
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Gamma(Loss):
    """The negative log-likelihood of y > 0 with log-mean z, up to terms without z.

    ``loss(y, z) = y exp(-z) + z`` and, for ``t = 1 - u >= 0``,
    ``loss*(y, u) = t log(t / y) - t``.

    Neither Lipschitz nor smooth. Value and curvature are ``inf``, and the derivative ``-inf``,
    where ``y exp(-z)`` exceeds the float range, without a warning.

    Examples
    --------
    >>> Gamma().value(np.array([1.0, 1e-300]), np.array([0.0, -1e3]))
    array([1.00000000e+000, 1.97007111e+134])
    """

    name: ClassVar[str] = "gamma"
    has_conjugate: ClassVar[bool] = True
    link_name: ClassVar[str] = "log"

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``y exp(-z) + z``."""
        return np.asarray(_ratio(y, z) + z)

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``1 - y exp(-z)``."""
        return np.asarray(1 - _ratio(y, z))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``y exp(-z)``."""
        return _ratio(y, z)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``t log(t / y) - t``, ``t = 1 - u`` clipped when at most 8 eps below 0.

        The logarithm is split: ``t / y`` may overflow or underflow where the result does not.
        """
        t, inside = clip_within(np.subtract(1, u), 0.0, np.inf)
        return np.where(inside, times(t, log(t) - log(y) - 1), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return `u` or, where that is smaller, 1."""
        return np.asarray(np.minimum(u, 1))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return ``log(mean)``."""
        return log(mean)

    def inverse_link(self, z: FloatArray) -> FloatArray:
        """Return ``exp(z)``."""
        return exp(z)

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if every target is positive, else a sentence."""
        return not_numeric(y) or first_problem(
            y,
            np.greater(y, 0),
            "Targets of the Gamma loss must be > 0",
            "Use the Poisson loss if zeros are genuine.",
        )

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the log of the weighted mean."""
        return log(weighted_mean(y, s))


def _ratio(y: FloatArray, z: FloatArray) -> FloatArray:
    """Return ``y exp(-z)``, in two factors: ``exp(-z)`` may overflow where the product does not."""
    half = exp(-0.5 * np.asarray(z))
    with np.errstate(over="ignore"):
        return np.asarray(np.multiply(y, half) * half)
