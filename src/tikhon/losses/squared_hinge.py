"""The squared hinge loss ``max(0, 1 - y z)^2 / 2``: the smooth support vector machine."""

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
class SquaredHinge(Loss):
    """Half the square of the hinge, y in {-1, +1}.

    ``loss(y, z) = max(0, 1 - y z)^2 / 2`` and, for ``a = -y u >= 0``,
    ``loss*(y, u) = a (a / 2 - 1)``.

    Lipschitz on bounded ranges only; 1-smooth. z is a margin and estimates no probability: both
    links are the identity and `link_name` is "none".

    Examples
    --------
    >>> SquaredHinge().value(np.array([1.0, 1.0, -1.0]), np.array([2.0, 0.0, 1.0]))
    array([0. , 0.5, 2. ])
    """

    name: ClassVar[str] = "squared_hinge"
    classification: ClassVar[bool] = True
    has_conjugate: ClassVar[bool] = True
    link_name: ClassVar[str] = "none"

    @property
    def smoothness(self) -> float:
        """Return 1."""
        return 1.0

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``max(0, 1 - y z)^2 / 2``, ``inf`` where the square overflows."""
        violation = np.maximum(0, 1 - np.multiply(y, z))
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * violation * violation)

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``-y max(0, 1 - y z)``."""
        return np.asarray(-np.multiply(y, np.maximum(0, 1 - np.multiply(y, z))))

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return 1 where ``y z < 1``, else 0."""
        margin = np.multiply(y, z)
        return np.less(margin, 1).astype(margin.dtype)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``a (a / 2 - 1)``, with ``a = -y u`` clipped when at most 8 eps below 0."""
        a, inside = clip_within(-np.multiply(y, u), 0.0, np.inf)
        with np.errstate(over="ignore"):
            return np.where(inside, a * (0.5 * a - 1), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return `u` with ``-y u`` clipped to be non-negative."""
        return np.asarray(-np.multiply(y, np.maximum(0, -np.multiply(y, u))))

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if every target is -1 or +1, else a sentence."""
        return sign_problem(y, "squared hinge")

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the weighted mean of `y`: between -1 and 1 the loss is the squared one."""
        return weighted_mean(y, s)
