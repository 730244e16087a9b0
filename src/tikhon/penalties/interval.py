"""Bounds on each coefficient: non-negative, or in a box.

A constraint is the penalty that is 0 on a set and ``inf`` off it. Its strength does not matter,
its proximal operator is the projection, its subgradients are the normals of the set, and its
conjugate is the support function. Both classes here share everything but their bounds.
"""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from tikhon.numerics import times
from tikhon.penalties.arrays import HoldsArrays, frozen_copy, per_row
from tikhon.penalties.base import BoolArray, Columns, Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.separable import Separable
from tikhon.typing import FloatArray


class Interval(Separable):
    """The set of coefficients between two bounds.

    ``R(w) = 0`` if every ``low_j <= w_j <= high_j``, else ``inf``.

    Examples
    --------
    >>> isinstance(Nonnegative(), Interval)
    True
    """

    __slots__ = ()

    @abstractmethod
    def bounds(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds in the float type of `w`; they broadcast against it."""

    def coordinates(self, d: int) -> Coordinates:
        """Return the bounds."""
        low, high = self.bounds(np.empty(d))
        return Coordinates.of(d, lower=np.asarray(low), upper=np.asarray(high))

    def prox(self, w: FloatArray, step: Step) -> FloatArray:  # noqa: ARG002
        """Return `w` clipped to the bounds."""
        low, high = self.bounds(w)
        return np.asarray(np.clip(w, low, high))

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return 0 between the bounds, else ``inf``."""
        low, high = self.bounds(w)
        return np.where((w >= low) & (w <= high), w.dtype.type(0), np.inf)

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the normals: 0 inside, a half-line at a bound, none (``inf, -inf``) outside."""
        low, high = self.bounds(w)
        outside = (w < low) | (w > high)
        downward = np.where(w == low, -np.inf, w.dtype.type(0))
        upward = np.where(w == high, np.inf, w.dtype.type(0))
        return np.where(outside, np.inf, downward), np.where(outside, -np.inf, upward)

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``max(low v, high v)``."""
        low, high = self.bounds(v)
        return np.maximum(times(low, v), times(high, v))

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the directions that a bound stops."""
        low, high = self.bounds(v)
        zero = np.zeros_like(v)
        return np.where(np.isfinite(low), -np.inf, zero), np.where(np.isfinite(high), np.inf, zero)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return the bound that `v` points to; where v is 0, the point nearest to 0."""
        low, high = self.bounds(v)
        nearest = np.clip(np.zeros_like(v), low, high)
        return np.where(v > 0, high, np.where(v < 0, low, nearest))


@dataclass(frozen=True, slots=True)
class Nonnegative(Interval):
    """No coefficient below 0.

    ``R(w) = 0`` if ``w >= 0``, else ``inf``;  ``R*(v) = 0`` if ``v <= 0``, else ``inf``.

    Examples
    --------
    >>> Nonnegative().prox(np.array([3.0, -4.0]), 1.0)
    array([3., 0.])
    """

    name: ClassVar[str] = "nonnegative"

    def bounds(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return 0 and ``inf``."""
        return np.zeros_like(w), np.full_like(w, np.inf)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Box(HoldsArrays, Interval):
    """Every coefficient between two bounds.

    ``R(w) = 0`` if ``lower <= w <= upper``, else ``inf``;
    ``R*(v) = sum_j max(lower_j v_j, upper_j v_j)``.

    Parameters
    ----------
    lower, upper : float or array of shape (d,)
        ``lower <= upper``; infinite where there is no bound.

    Examples
    --------
    >>> Box(-1.0, [2.0, np.inf]).prox(np.array([3.0, -4.0]), 1.0)
    array([ 2., -1.])
    """

    name: ClassVar[str] = "box"

    lower: float | FloatArray | npt.ArrayLike
    upper: float | FloatArray | npt.ArrayLike

    def __post_init__(self) -> None:
        for name in ("lower", "upper"):
            ends = frozen_copy(getattr(self, name))
            if ends.ndim > 1 or np.isnan(ends).any():
                raise ValueError(
                    f"`{name}` must be a number or one number per column, none NaN, got {ends!r}."
                )
            object.__setattr__(self, name, ends if ends.ndim else float(ends))
        lower, upper = np.asarray(self.lower), np.asarray(self.upper)
        if lower.ndim and upper.ndim and len(lower) != len(upper):
            raise ValueError(
                f"`lower` and `upper` must be equally long, got {len(lower)} and {len(upper)}."
            )
        if np.any(lower > upper) or np.any(lower == np.inf) or np.any(upper == -np.inf):
            raise ValueError(
                f"`lower` must be <= `upper`, got lower={self.lower!r}, upper={self.upper!r}."
            )

    def bounds(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return `lower` and `upper`."""
        return self._bound(self.lower, w, "lower"), self._bound(self.upper, w, "upper")

    def unpenalised(self, d: int) -> BoolArray:
        """Return True where both bounds are infinite."""
        low, high = self.bounds(np.zeros(d))
        return np.broadcast_to((low == -np.inf) & (high == np.inf), d).copy()

    def on_scaled(self, scale: FloatArray) -> Self:
        """Return the same bounds in units of the scaled columns."""
        return type(self)(np.asarray(self.lower) * scale, np.asarray(self.upper) * scale)

    def restrict(self, columns: Columns) -> Self:
        """Return the box of some of the columns."""
        ends = (e[columns] if isinstance(e, np.ndarray) else e for e in (self.lower, self.upper))
        return type(self)(*ends)

    @staticmethod
    def _bound(end: npt.ArrayLike, w: FloatArray, name: str) -> FloatArray:
        if isinstance(end, np.ndarray):
            return per_row(end, w, name)
        return np.asarray(end, dtype=w.dtype)
