"""The logistic loss ``log(1 + exp(-y z))``: logistic regression."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tikhon.losses.base import Loss
from tikhon.losses.location import class_log_odds
from tikhon.losses.targets import sign_problem
from tikhon.numerics import clip_within, expit, log1pexp, logit, xlog1py, xlogx
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Logistic(Loss):
    """The negative log-likelihood of a class, y in {-1, +1}, with log-odds z.

    ``loss(y, z) = log(1 + exp(-y z))`` and, with ``a = -y u`` in [0, 1],
    ``loss*(y, u) = a log(a) + (1 - a) log(1 - a)``.

    1-Lipschitz, 1/4-smooth. Derivative and curvature keep their relative accuracy far from the
    boundary, where ``1 - p`` would cancel: they are products of ``expit`` of either sign.

    Examples
    --------
    >>> y, z = np.array([1.0, -1.0]), np.array([0.0, 1e308])
    >>> Logistic().value(y, z)
    array([6.93147181e-001, 1.00000000e+308])
    >>> Logistic().inverse_link(z)
    array([0.5, 1. ])
    """

    name: ClassVar[str] = "logistic"
    classification: ClassVar[bool] = True
    has_conjugate: ClassVar[bool] = True
    likelihood: ClassVar[str] = "exact"
    link_name: ClassVar[str] = "logit"

    @property
    def lipschitz(self) -> float:
        """Return 1."""
        return 1.0

    @property
    def smoothness(self) -> float:
        """Return 1/4, attained at z = 0."""
        return 0.25

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``log(1 + exp(-y z))``."""
        return log1pexp(-np.multiply(y, z))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-y / (1 + exp(y z))``."""
        return np.asarray(-np.multiply(y, expit(-np.multiply(y, z))))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``p (1 - p)`` with p the probability of class +1."""
        margin = np.multiply(y, z)
        return np.asarray(expit(margin) * expit(-margin))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``a log(a) + (1 - a) log(1 - a)`` with ``a = -y u``.

        Clipped when at most 8 ulp outside [0, 1].
        """
        a, inside = clip_within(-np.multiply(y, u), 0.0, 1.0)
        return np.where(inside, xlogx(a) + xlog1py(1 - a, -a), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return `u` with ``-y u`` clipped to [0, 1]."""
        return np.asarray(-np.multiply(y, np.clip(-np.multiply(y, u), 0, 1)))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the log-odds of the probability `mean` of class +1."""
        return logit(mean)

    def inverse_link(self, z: FloatArray) -> FloatArray:
        """Return the probability of class +1."""
        return expit(z)

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if every target is -1 or +1, else a sentence."""
        return sign_problem(y, self.name)

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the log-odds of the weighted classes; ``inf`` or ``-inf`` if one is absent.

        With a single class the infimum 0 is approached but never reached, and no finite number
        would be honest.
        """
        return class_log_odds(y, s)
