"""Half the squared Euclidean norm: ridge, Tikhonov regularization."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.penalties.base import Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.separable import Separable
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class L2(Separable):
    """Half the squared Euclidean norm.

    ``R(w) = ||w||^2 / 2``;  ``R*(v) = ||v||^2 / 2``.

    1-strongly convex, and never exactly zero away from 0: `lam_max` is infinite.

    Examples
    --------
    >>> L2().value(np.array([3.0, -4.0])), L2().prox(np.array([3.0, -4.0]), 1.0)
    (12.5, array([ 1.5, -2. ]))
    """

    name: ClassVar[str] = "l2"

    @property
    def strong_convexity(self) -> float:
        """Return 1."""
        return 1.0

    def coordinates(self, d: int) -> Coordinates:
        """Return squares alone."""
        return Coordinates.of(d, l2=1.0)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return ``w / (1 + step)``."""
        return np.asarray(w / (1 + np.asarray(step, dtype=w.dtype)))

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``w^2 / 2``."""
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * w * w)

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `w` twice: the gradient."""
        return w, w

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``v^2 / 2``."""
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * v * v)

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the whole line."""
        return np.full_like(v, -np.inf), np.full_like(v, np.inf)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return `v`."""
        return v
