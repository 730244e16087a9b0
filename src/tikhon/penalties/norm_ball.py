"""A bound on the Euclidean norm of all coefficients: the constrained form of ridge."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon.numerics import DOMAIN_SLACK
from tikhon.penalties.base import Penalty, Step
from tikhon.penalties.norms import l2
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class NormBall(Penalty):
    """All coefficients within a distance of 0.

    ``R(w) = 0`` if ``||w|| <= radius``, else ``inf``;  ``R*(v) = radius ||v||``.

    The norm is over all entries, those of several targets together. A norm counts as equal to the
    radius when they differ by at most 8 ulp: projections land there.

    Parameters
    ----------
    radius : float
        Positive and finite.

    Examples
    --------
    >>> NormBall(radius=2.5).prox(np.array([3.0, -4.0]), 1.0)
    array([ 1.5, -2. ])
    """

    name: ClassVar[str] = "norm_ball"
    has_conjugate: ClassVar[bool] = True

    radius: float

    def __post_init__(self) -> None:
        if not 0 < self.radius < np.inf:
            raise ValueError(f"`radius` must be positive and finite, got {self.radius}.")
        object.__setattr__(self, "radius", float(self.radius))

    def value(self, w: FloatArray) -> float:
        """Return 0 within the ball, else ``inf``."""
        return 0.0 if l2(w) <= self.radius * (1 + _slack(w)) else np.inf

    def prox(self, w: FloatArray, step: Step) -> FloatArray:  # noqa: ARG002
        """Return the nearest point of the ball: `w`, shortened if need be."""
        norm = l2(w)
        if norm <= self.radius:
            return np.array(w)
        return np.asarray(w * (self.radius / norm))

    def conjugate(self, v: FloatArray) -> float:
        """Return ``radius ||v||``."""
        return self.radius * l2(v)

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return the part of `-g` that no normal of the ball accounts for.

        Inside the only normal is 0. On the sphere the normals are ``t w`` with t >= 0, and what
        remains of -g is its component across w, or all of it if it points inward.
        """
        norm = l2(w)
        if norm > self.radius * (1 + _slack(w)):
            return np.full_like(w, np.inf)
        if norm < self.radius * (1 - _slack(w)):
            return np.abs(g)
        direction = w / norm
        outward = max(0.0, -float(np.sum(g * direction)))
        return np.asarray(np.abs(g + outward * direction))

    def lam_max(self, g: FloatArray) -> float:
        """Return 0 if `g` is 0, else ``inf``: at w = 0 the only normal is 0."""
        return np.inf if np.any(g) else 0.0

    def dual_scale(self, v: FloatArray) -> float:  # noqa: ARG002
        """Return 1: the conjugate is finite everywhere."""
        return 1.0


def _slack(w: FloatArray) -> float:
    return DOMAIN_SLACK * float(np.finfo(w.dtype).eps)
