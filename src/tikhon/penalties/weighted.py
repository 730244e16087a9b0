"""A separable penalty whose columns count more, less, or not at all."""

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


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weighted(HoldsArrays, Separable):
    """A separable penalty with one multiplier per column.

    ``R(w) = sum_j c_j r(w_j)``;  ``R*(v) = sum_j c_j r*(v_j / c_j)``, and ``v_j = 0`` where
    ``c_j = 0``.

    Parameters
    ----------
    penalty : Separable
    weights : array of shape (d,)
        The multipliers c, >= 0 and finite. 0 frees a coefficient, of bounds as well.

    Examples
    --------
    >>> from tikhon.penalties import L1
    >>> Weighted(L1(), [0.0, 2.0]).prox(np.array([3.0, 3.0]), 1.0)
    array([3., 1.])
    """

    name: ClassVar[str] = "weighted"

    penalty: Separable
    weights: FloatArray | npt.ArrayLike

    def __post_init__(self) -> None:
        if not isinstance(self.penalty, Separable):
            raise TypeError(
                f"`penalty` must be separable to be weighted by column, got {self.penalty!r}. "
                "Give `Group` its own weights, and apply `Scaled` last."
            )
        weights = frozen_copy(self.weights)
        if weights.ndim != 1:
            raise ValueError(f"`weights` must be one number per column, got shape {weights.shape}.")
        if not np.all((weights >= 0) & (weights < np.inf)):
            wrong = weights[~((weights >= 0) & (weights < np.inf))][0]
            raise ValueError(f"`weights` must be >= 0 and finite, got {wrong}.")
        object.__setattr__(self, "weights", weights)

    @property
    def strong_convexity(self) -> float:
        """Return that of the penalty times the smallest weight."""
        weights = np.asarray(self.weights)
        return self.penalty.strong_convexity * float(weights.min()) if len(weights) else 0.0

    def coordinates(self, d: int) -> Coordinates | None:
        """Return the penalty's, each column times its weight."""
        inner = self.penalty.coordinates(d)
        return None if inner is None else inner.weighted(np.asarray(self.weights, float))

    def on_scaled(self, scale: FloatArray) -> Self:
        """Return the penalty's, with the same weights."""
        return type(self)(self.penalty.on_scaled(scale), self.weights)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return the penalty's with steps ``step c_j``, and `w` where c is 0."""
        c = self._weights(w)
        moved = self.penalty.prox(w, np.asarray(step, dtype=w.dtype) * c)
        return np.where(c > 0, moved, w)

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``c r(w)``."""
        return times(self._weights(w), self.penalty.coordinate_value(w))

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the penalty's ends times c."""
        c = self._weights(w)
        low, high = self.penalty.subdifferential(w)
        return times(c, low), times(c, high)

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``c r*(v / c)``."""
        c = self._weights(v)
        return times(c, self.penalty.coordinate_conjugate(_over(v, c)))

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the penalty's ends times c."""
        c = self._weights(v)
        low, high = self.penalty.conjugate_domain(v)
        return times(c, low), times(c, high)

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return the penalty's at ``v / c``; infinite with the sign of v where c is 0."""
        c = self._weights(v)
        free = times(np.sign(v), np.inf)
        return np.where(c > 0, self.penalty.conjugate_maximiser(_over(v, c)), free)

    def unpenalised(self, d: int) -> BoolArray:
        """Return True where c is 0 or the penalty is none."""
        free = self._weights(np.empty(d)) == 0
        return np.asarray(free | self.penalty.unpenalised(d))

    def restrict(self, columns: Columns) -> Self:
        """Return the same for some of the columns, with their weights."""
        return type(self)(self.penalty.restrict(columns), np.asarray(self.weights)[columns])

    def _weights(self, w: FloatArray) -> FloatArray:
        return per_row(np.asarray(self.weights), w, "weights")


def _over(v: FloatArray, c: FloatArray) -> FloatArray:
    return np.asarray(v / np.where(c > 0, c, c.dtype.type(1)))
