"""The form of a penalty that coordinate solvers take: sizes, squares and bounds, column by column.

    R(w) = sum_j l1_j |w_j| + l2_j w_j^2 / 2,    lower_j <= w_j <= upper_j

Most separable penalties are of this form. Those that are say so by `Penalty.coordinates`, and every
coordinate solver then takes them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.typing import Float64Array, IntArray

__all__ = ["Coordinates"]


@dataclass(frozen=True, slots=True, eq=False)
class Coordinates:
    """Four numbers for each column.

    Attributes
    ----------
    l1, l2 : ndarray of shape (d,)
        Multiplied by the strength.
    lower, upper : ndarray of shape (d,)

    Examples
    --------
    >>> from tikhon.penalties import ElasticNet
    >>> ElasticNet(0.25).coordinates(2)
    Coordinates(l1=array([0.25, 0.25]), l2=array([0.75, 0.75]), lower=array([-inf, -inf]), \
upper=array([inf, inf]))
    """

    l1: Float64Array
    l2: Float64Array
    lower: Float64Array
    upper: Float64Array

    @classmethod
    def of(
        cls,
        d: int,
        l1: float = 0.0,
        l2: float = 0.0,
        lower: float | Float64Array = -np.inf,
        upper: float | Float64Array = np.inf,
    ) -> Coordinates:
        """Return the form of `d` columns that share these numbers."""
        parts = (np.array(np.broadcast_to(part, d), float) for part in (l1, l2, lower, upper))
        return cls(*parts)

    @property
    def arrays(self) -> tuple[Float64Array, Float64Array, Float64Array, Float64Array]:
        """The four arrays, in order."""
        return self.l1, self.l2, self.lower, self.upper

    @property
    def squares_alone(self) -> bool:
        """Whether nothing but squares is penalised, and nothing bounded."""
        bounded = np.isfinite(self.lower).any() or np.isfinite(self.upper).any()
        return not (bounded or self.l1.any())

    def take(self, columns: IntArray) -> Coordinates:
        """Return the form of some of the columns."""
        return Coordinates(*(part[columns] for part in self.arrays))

    def weighted(self, c: Float64Array) -> Coordinates:
        """Return the form with column j counted `c_j` times; 0 frees it, of bounds as well."""
        free = c == 0
        return Coordinates(
            self.l1 * c,
            self.l2 * c,
            np.where(free, -np.inf, self.lower),
            np.where(free, np.inf, self.upper),
        )

    def bounded(self, other: Coordinates) -> Coordinates:
        """Return the form under the bounds of another as well."""
        return Coordinates(
            self.l1,
            self.l2,
            np.maximum(self.lower, other.lower),
            np.minimum(self.upper, other.upper),
        )
