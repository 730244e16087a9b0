"""The hinge loss ``max(0, 1 - y z)``: the support vector machine."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tikhon.losses.base import Loss
from tikhon.losses.location import weighted_mean
from tikhon.losses.targets import sign_problem
from tikhon.numerics import clip_within
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Hinge(Loss):
    """The convex envelope of misclassification, y in {-1, +1}.

    ``loss(y, z) = max(0, 1 - y z)`` and, for ``-y u`` in [0, 1], ``loss*(y, u) = y u``.

    1-Lipschitz, not smooth. At the kink ``y z = 1`` the derivative returned is 0. z is a margin
    and estimates no probability: both links are the identity and `link_name` is "none".

    Examples
    --------
    >>> Hinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.5, 2.0]))
    array([0. , 0.5, 3. ])
    """

    name: ClassVar[str] = "hinge"
    classification: ClassVar[bool] = True
    has_conjugate: ClassVar[bool] = True
    link_name: ClassVar[str] = "none"

    @property
    def lipschitz(self) -> float:
        """Return 1."""
        return 1.0

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``max(0, 1 - y z)``."""
        return np.asarray(np.maximum(0, 1 - np.multiply(y, z)))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-y`` where ``y z < 1``, else 0."""
        margin = np.multiply(y, z)
        return np.where(margin < 1, -y, 0).astype(margin.dtype)

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 0: piecewise linear."""
        return np.zeros_like(np.multiply(y, z))

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``-a``, with ``a = -y u`` clipped when at most 8 ulp outside [0, 1]."""
        a, inside = clip_within(-np.multiply(y, u), 0.0, 1.0)
        return np.where(inside, -a, np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return `u` with ``-y u`` clipped to [0, 1]."""
        return np.asarray(-np.multiply(y, np.clip(-np.multiply(y, u), 0, 1)))

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if every target is -1 or +1, else a sentence."""
        return sign_problem(y, self.name)

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the sign of the heavier class; 0 when both weigh the same.

        Between -1 and 1 the mean loss is linear with slope ``-mean(y)``, and it grows outside.
        """
        return np.sign(weighted_mean(y, s))
