"""The Poisson loss ``exp(z) - y z``: counts with a log link."""

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
class Poisson(Loss):
    """The negative log-likelihood of a count y >= 0 with log-mean z, up to ``log(y!)``.

    ``loss(y, z) = exp(z) - y z`` and, for ``v = u + y >= 0``, ``loss*(y, u) = v log(v) - v``.

    Neither Lipschitz nor smooth. Value, derivative and curvature are ``inf`` where ``exp(z)``
    exceeds the float range (z > 709.78 in double precision), never NaN and without a warning.

    Examples
    --------
    >>> Poisson().value(np.array([0.0, 3.0, 3.0]), np.array([0.0, 0.0, 1e308]))
    array([ 1.,  1., inf])
    """

    name: ClassVar[str] = "poisson"
    has_conjugate: ClassVar[bool] = True
    likelihood: ClassVar[str] = "exact"
    link_name: ClassVar[str] = "log"

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``exp(z) - y z``, ``inf`` where ``exp(z)`` overflows: it outgrows ``y z``."""
        mean = exp(z)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(mean), np.inf, mean - times(y, z))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``exp(z) - y``."""
        return np.asarray(exp(z) - y)

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``exp(z)``."""
        shape = np.broadcast_shapes(np.shape(y), np.shape(z))
        return np.broadcast_to(exp(z), shape).astype(np.result_type(y, z))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``v log(v) - v``, ``v = u + y``, 0 when at most 8 ``eps max(1, y)`` below 0."""
        v, inside = clip_within(np.add(u, y), 0.0, np.inf, scale=np.maximum(1, y))
        return np.where(inside, times(v, log(v) - 1), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return `u` or, where that is larger, ``-y``."""
        return np.asarray(np.maximum(u, np.negative(y)))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return ``log(mean)``."""
        return log(mean)

    def inverse_link(self, z: FloatArray) -> FloatArray:
        """Return ``exp(z)``."""
        return exp(z)

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if no target is negative, else a sentence."""
        return not_numeric(y) or first_problem(
            y,
            np.greater_equal(y, 0),
            "Targets of the Poisson loss must be >= 0",
            "Use the squared or Huber loss for signed targets.",
        )

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the log of the weighted mean; ``-inf`` if every count is zero."""
        return log(weighted_mean(y, s))
