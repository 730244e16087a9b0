"""Penalties from penalties: scaled, and under bounds.

    Scaled   factor R(w)                        a change of units
    Sum      R(w) + [lower <= w <= upper]       a penalty under bounds

Only exact proximal operators are offered, so `Sum`, like `Weighted`, takes separable penalties
alone. They nest, as in ``Scaled(Sum(Weighted(L1(), c), Nonnegative()), 2.0)``, `Scaled` last.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from tikhon.numerics import times
from tikhon.penalties.base import BoolArray, Columns, Penalty, Step
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.group_form import GroupForm
from tikhon.penalties.interval import Interval
from tikhon.penalties.separable import Separable
from tikhon.penalties.weighted import Weighted
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Scaled(Penalty):
    """A penalty times a number.

    ``factor R(w)``;  its conjugate is ``factor R*(v / factor)``.

    Parameters
    ----------
    penalty : Penalty
    factor : float
        Positive and finite.

    Examples
    --------
    >>> from tikhon.penalties import L1
    >>> Scaled(L1(), 2.0).prox(np.array([3.0, 1.0]), 1.0)
    array([1., 0.])
    """

    name: ClassVar[str] = "scaled"

    penalty: Penalty
    factor: float

    def __post_init__(self) -> None:
        if not 0 < self.factor < np.inf:
            raise ValueError(
                f"`factor` must be positive and finite, got {self.factor}. "
                "Use NoPenalty() for no penalty."
            )
        object.__setattr__(self, "factor", float(self.factor))

    @property
    def has_conjugate(self) -> bool:  # type: ignore[override]
        """Return whether the penalty has one."""
        return self.penalty.has_conjugate

    @property
    def separable(self) -> bool:
        """Return whether the penalty is."""
        return self.penalty.separable

    @property
    def strong_convexity(self) -> float:
        """Return that of the penalty times the factor."""
        return self.factor * self.penalty.strong_convexity

    def value(self, w: FloatArray) -> float:
        """Return ``factor R(w)``."""
        return self.factor * self.penalty.value(w)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return the penalty's with step ``factor step``."""
        return self.penalty.prox(w, self.factor * step)

    def conjugate(self, v: FloatArray) -> float:
        """Return ``factor R*(v / factor)``."""
        return self.factor * self.penalty.conjugate(v / self.factor)

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return the penalty's at ``g / factor``, times the factor."""
        return self.factor * self.penalty.subgradient_distance(w, g / self.factor)

    def coordinates(self, d: int) -> Coordinates | None:
        """Return the penalty's, sizes and squares times the factor."""
        inner = self.penalty.coordinates(d)
        if inner is None:
            return None
        return replace(inner, l1=self.factor * inner.l1, l2=self.factor * inner.l2)

    def group_form(self, d: int) -> GroupForm | None:
        """Return the penalty's, times the factor."""
        inner = self.penalty.group_form(d)
        return None if inner is None else inner.scaled(self.factor)

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return the penalty's over the factor."""
        return np.asarray(self.penalty.entry_strengths(g) / self.factor)

    def on_scaled(self, scale: FloatArray) -> Self:
        """Return the penalty's, times the factor."""
        return type(self)(self.penalty.on_scaled(scale), self.factor)

    def lam_max(self, g: FloatArray) -> float:
        """Return the penalty's over the factor."""
        return self.penalty.lam_max(g) / self.factor

    def dual_scale(self, v: FloatArray) -> float:
        """Return the penalty's at ``v / factor``."""
        return self.penalty.dual_scale(v / self.factor)

    def unpenalised(self, d: int) -> BoolArray:
        """Return the penalty's."""
        return self.penalty.unpenalised(d)

    def restrict(self, columns: Columns) -> Self:
        """Return the same for some of the columns."""
        return type(self)(self.penalty.restrict(columns), self.factor)


@dataclass(frozen=True, slots=True)
class Sum(Separable):
    """A separable penalty under bounds.

    ``R(w) + [bounds](w)``, for example the non-negative lasso. Its proximal operator is that of
    the penalty, then clipped.

    That composition is wrong for most pairs of penalties and exact for these. In each coordinate
    ``h(v) = step r(v) + (v - w)^2 / 2`` is convex with a single minimiser p; it decreases up to p
    and increases after, so its minimiser over an interval is the point of the interval nearest
    to p. The maximiser of ``v w - r(w)`` in the conjugate is clipped for the same reason.

    Parameters
    ----------
    penalty : Separable
        Finite everywhere.
    constraint : Nonnegative or Box

    Examples
    --------
    >>> from tikhon.penalties import L1, Nonnegative
    >>> Sum(L1(), Nonnegative()).prox(np.array([3.0, -3.0]), 1.0)
    array([2., 0.])
    """

    name: ClassVar[str] = "sum"

    penalty: Separable
    constraint: Interval

    def __post_init__(self) -> None:
        if not isinstance(self.penalty, Separable) or _bounded(self.penalty):
            raise TypeError(
                f"`penalty` must be separable and without bounds, got {self.penalty!r}. "
                "Intersect bounds in one `Box`, and apply `Scaled` last."
            )
        if not isinstance(self.constraint, Interval):
            raise TypeError(
                f"`constraint` must be Nonnegative or Box, got {self.constraint!r}. "
                "No exact proximal operator is known for other sums."
            )

    @property
    def strong_convexity(self) -> float:
        """Return that of the penalty."""
        return self.penalty.strong_convexity

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return the penalty's, clipped to the bounds."""
        return self.constraint.prox(self.penalty.prox(w, step), step)

    def coordinate_value(self, w: FloatArray) -> FloatArray:
        """Return ``r(w)`` between the bounds, else ``inf``."""
        return np.asarray(self.penalty.coordinate_value(w) + self.constraint.coordinate_value(w))

    def subdifferential(self, w: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums of the ends: r is finite, so the subgradients of a sum are sums."""
        low, high = self.penalty.subdifferential(w)
        down, up = self.constraint.subdifferential(w)
        return low + down, high + up

    def coordinate_conjugate(self, v: FloatArray) -> FloatArray:
        """Return ``r*(v)`` where its maximiser w is within bounds, else ``v w - r(w)`` clipped."""
        free = self.penalty.conjugate_maximiser(v)
        w = self.conjugate_maximiser(v)
        with np.errstate(invalid="ignore"):  # inf - inf, only where w is free and not at a bound
            at_bound = times(v, w) - self.penalty.coordinate_value(w)
        return np.where(w == free, self.penalty.coordinate_conjugate(v), at_bound)

    def conjugate_domain(self, v: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the sums of the ends."""
        low, high = self.penalty.conjugate_domain(v)
        down, up = self.constraint.conjugate_domain(v)
        return low + down, high + up

    def conjugate_maximiser(self, v: FloatArray) -> FloatArray:
        """Return the penalty's, clipped to the bounds."""
        low, high = self.constraint.bounds(v)
        return np.asarray(np.clip(self.penalty.conjugate_maximiser(v), low, high))

    def unpenalised(self, d: int) -> BoolArray:
        """Return True where there is neither penalty nor bound."""
        return np.asarray(self.penalty.unpenalised(d) & self.constraint.unpenalised(d))

    def coordinates(self, d: int) -> Coordinates | None:
        """Return the penalty's under both their bounds."""
        inner, bounds = self.penalty.coordinates(d), self.constraint.coordinates(d)
        return None if inner is None else inner.bounded(bounds)

    def on_scaled(self, scale: FloatArray) -> Self:
        """Return the penalty's under the bounds in units of the scaled columns."""
        return type(self)(self.penalty.on_scaled(scale), self.constraint.on_scaled(scale))

    def restrict(self, columns: Columns) -> Self:
        """Return the same for some of the columns."""
        return type(self)(self.penalty.restrict(columns), self.constraint.restrict(columns))


def _bounded(penalty: Separable) -> bool:
    if isinstance(penalty, Weighted):
        return _bounded(penalty.penalty)
    return isinstance(penalty, (Interval, Sum))
