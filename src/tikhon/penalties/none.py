"""No penalty at all: least squares, maximum likelihood."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.penalties.base import BoolArray, Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.separable import Separable
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class NoPenalty(Separable):
    """Nothing.

    ``R(w) = 0``;  ``R*(v) = 0`` at v = 0, else ``inf``.

    The domain of the conjugate is a point, and nothing tells rounding from a violation there: set
    the unpenalised coordinates of a dual point to exactly 0.

    Examples
    --------
    >>> NoPenalty().value(np.array([3.0, -4.0]))
    0.0
    """

    name: ClassVar[str] = "none"

    def coordinates(self, d: int) -> Coordinates:
        """Return nothing."""
        return Coordinates.of(d)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:  # noqa: ARG002
        """Return `w`."""
        return np.array(w)

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros_like(w)

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return 0 and 0."""
        return np.zeros_like(w), np.zeros_like(w)

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return 0."""
        return np.zeros_like(v)

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return 0 and 0."""
        return np.zeros_like(v), np.zeros_like(v)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return 0 at 0, else infinity with the sign of `v`."""
        return np.copysign(np.where(v == 0, 0, np.inf), v).astype(v.dtype)

    def unpenalised(self, d: int) -> BoolArray:
        """Return True for every coefficient."""
        return np.ones(d, dtype=bool)
