"""Penalties that are sums over coefficients, ``R(w) = sum_j r_j(w_j)``.

Everything such a penalty needs follows from one convex function of one variable: its value, its
proximal operator, the interval of its subgradients, and its conjugate with domain and maximiser.
Subgradients are an interval rather than a distance because intervals add, scale and intersect:
that is what makes `Weighted` and `Sum` exact.
"""

from abc import abstractmethod
from typing import ClassVar

import numpy as np

from tikhon.numerics import clip_within
from tikhon.penalties.base import Penalty
from tikhon.typing import FloatArray


class Separable(Penalty):
    """A sum over coefficients.

    ``R(w) = sum_j r_j(w_j)``.

    Subclasses say everything about r, elementwise; sums, distances and strengths follow. `prox`
    takes one step for all coefficients or an array of them that broadcasts against `w`.

    Examples
    --------
    >>> from tikhon.penalties import L1
    >>> L1().separable, L1().subdifferential(np.array([0.0, 2.0]))
    (True, (array([-1.,  1.]), array([1., 1.])))
    """

    __slots__ = ()

    has_conjugate: ClassVar[bool] = True

    @property
    def separable(self) -> bool:
        """Return True."""
        return True

    @abstractmethod
    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``r(w_j)`` for each coefficient."""

    @abstractmethod
    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval of subgradients; ``(inf, -inf)`` where it is empty."""

    @abstractmethod
    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``r*(v_j)`` for v in its domain; anything outside."""

    @abstractmethod
    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the ends of the interval where ``r*`` is finite; they broadcast against `v`."""

    @abstractmethod
    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return a w with ``v w - r(w)`` largest; infinite where it is only approached."""

    def value(self, w: FloatArray) -> float:
        """Return ``sum_j r(w_j)``."""
        return float(np.sum(self.coordinate_value(w), dtype=np.float64))

    def conjugate(self, v: FloatArray) -> float:
        """Return ``sum_j r*(v_j)``; ``inf`` outside its domain.

        Entries at most 8 ulp beyond a finite end of the domain are clipped into it.
        """
        low, high = self.conjugate_domain(v)
        scale = np.maximum(_finite_size(low), _finite_size(high))
        clipped, inside = clip_within(v, low, high, scale)
        if not inside.all():
            return np.inf
        return float(np.sum(self.coordinate_conjugate(clipped), dtype=np.float64))

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return the distance from `-g` to the interval of subgradients, per coefficient."""
        low, high = self.subdifferential(w)
        return np.asarray(np.maximum(0, np.maximum(low + g, -g - high)))

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return the least lam for which ``-g / lam`` is a subgradient at 0, per column."""
        g = np.asarray(g)
        low, high = self.subdifferential(np.zeros_like(g))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            needed = np.where(g == 0, 0, np.abs(g) / np.abs(np.where(g < 0, high, low)))
        needed = np.where((low > 0) | (high < 0), np.inf, needed)
        needed[self.unpenalised(len(g))] = 0
        return np.asarray(needed if g.ndim == 1 else needed.max(axis=1, initial=0.0))

    def lam_max(self, g: FloatArray) -> float:
        """Return the least lam for which ``-g / lam`` is a subgradient at 0 in every coordinate."""
        return float(np.max(self.entry_strengths(g), initial=0.0))

    def dual_scale(self, v: FloatArray) -> float:
        """Return the largest t in [0, 1] for which t v is in the domain of the conjugate."""
        v = np.asarray(v)
        low, high = self.conjugate_domain(v)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            room = np.where(v == 0, 1, np.abs(np.where(v > 0, high, low)) / np.abs(v))
        return float(np.min(room, initial=1.0))


def _finite_size(ends: FloatArray) -> FloatArray:
    return np.where(np.isfinite(ends), np.abs(ends), 0)
