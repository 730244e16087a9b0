"""Nested classes of linear models, for structural risk minimisation.

    with probability 1 - delta, for every h:  L_D(h) <= L_S(h) + eps_{d(h)}(m, w(d(h)) delta)

A kind of classes says to which class a candidate belongs, and bounds the deviation of each class
for losses in [0, c]:

    norm      ||w|| <= unit 2^d, Rademacher complexity of the ball
    support   d nonzero coefficients, VC bound over each of the binom(D, d) sets of columns
    nested    the user's own

A loss of numbers exceeds a level where a prediction is too high or too low: two half-spaces of
d + 1 dimensions, so twice the dimension pays for regression.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from scipy import special

from tikhon.theory.bounds.bound import Bound
from tikhon.theory.bounds.capacity import class_weight, norm_ball, vc
from tikhon.typing import Float64Array, IntArray

__all__ = ["Candidates", "Classes", "NestedClasses", "NormClasses", "SupportClasses"]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What classes look at: the solutions of a path, and the sample they come from.

    Attributes
    ----------
    coefs : ndarray of shape (L, d)
    norms : ndarray of shape (L,)
        ``||w||`` on columns scaled to unit standard deviation.
    m : float
        Rows: the sum of their weights.
    radius : float
        The largest norm of a row, on centred and scaled columns.
    c : float
        The loss is clipped there.
    slope : float
        Lipschitz constant in z of the clipped loss.
    classes : bool
        Whether targets are classes.
    """

    coefs: Float64Array
    norms: Float64Array
    m: float
    radius: float
    c: float
    slope: float
    classes: bool


@runtime_checkable
class Classes(Protocol):
    """A sequence of nested classes."""

    @property
    def zero_one(self) -> bool:
        """Whether, for classification, the bound is about the 0-1 loss of the training rows."""
        ...

    def levels(self, candidates: Candidates) -> IntArray:
        """Return the class of each candidate, (L,)."""
        ...

    def deviation(self, level: int, candidates: Candidates, delta: float) -> float:
        """Return eps of a class at its share of delta, for losses in [0, c]."""
        ...


@dataclass(frozen=True)
class NormClasses:
    """Balls whose radius doubles: ``||w|| <= unit 2^d``, on scaled columns.

    Parameters
    ----------
    unit : float, optional
        The smallest radius; by default ``c / (slope R)``, at which predictions move the loss by c.
    """

    unit: float | None = None
    zero_one: bool = False

    def levels(self, candidates: Candidates) -> IntArray:
        """Return the number of doublings each candidate needs."""
        with np.errstate(divide="ignore"):
            doublings = np.ceil(np.log2(candidates.norms / self._unit(candidates)) - 1e-12)
        levels: IntArray = np.maximum(doublings, 0).astype(np.int64)
        return levels

    def deviation(self, level: int, candidates: Candidates, delta: float) -> float:
        """Return the Rademacher bound of the ball."""
        c = candidates
        radius = self._unit(c) * 2.0**level
        return norm_ball(c.slope * c.radius, radius, c.m, delta, c.c).value  # type: ignore[arg-type]

    def _unit(self, candidates: Candidates) -> float:
        if self.unit is not None:
            return float(self.unit)
        return candidates.c / (candidates.slope * candidates.radius)


@dataclass(frozen=True)
class SupportClasses:
    """Models with d nonzero coefficients: delta is shared among the sets of d columns."""

    zero_one: bool = True

    def levels(self, candidates: Candidates) -> IntArray:
        """Return the number of nonzero coefficients of each candidate."""
        return np.asarray(np.count_nonzero(candidates.coefs, axis=1), dtype=np.int64)

    def deviation(self, level: int, candidates: Candidates, delta: float) -> float:
        """Return c times the VC bound of one set of columns at its share of delta."""
        total = candidates.coefs.shape[1]
        log_sets = float(
            special.gammaln(total + 1.0)
            - special.gammaln(level + 1.0)
            - special.gammaln(total - level + 1.0)
        )
        d, m = level + 1, candidates.m
        growth = d * math.log(2.0 * math.e * max(m, d / 2.0) / d)
        if not candidates.classes:
            growth *= 2.0
        inside = growth + math.log(4.0 / delta) + log_sets
        return candidates.c * math.sqrt(8.0 / m * inside)


@dataclass(frozen=True)
class NestedClasses:
    """Classes of your own.

    Parameters
    ----------
    level : callable
        ``level(coef)`` is the class of a model with these coefficients, a whole number >= 0.
    deviation_of : callable, default `tikhon.theory.bounds.vc`
        ``deviation_of(d, m, delta)`` bounds the deviation of class d, for losses in [0, 1].
    zero_one : bool, default True

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> half = tk.theory.NestedClasses(lambda coef: 1 + np.flatnonzero(coef).max(initial=0) // 5)
    >>> rule = tk.rules.SRM(half, weight=lambda d: 2.0 ** -(d + 1))
    >>> study = tk.Ridge().fit(*tk.datasets.diabetes()).study_
    >>> study.lam(rule) in study.lams
    True
    """

    level: Callable[[Float64Array], int]
    deviation_of: Callable[[int, int, float], Bound | float] = vc
    zero_one: bool = True

    def levels(self, candidates: Candidates) -> IntArray:
        """Return the class of each candidate."""
        found = [int(self.level(coef)) for coef in candidates.coefs]
        if min(found) < 0:
            raise ValueError(f"`level` must return whole numbers >= 0, got {min(found)}.")
        return np.array(found, dtype=np.int64)

    def deviation(self, level: int, candidates: Candidates, delta: float) -> float:
        """Return c times the user's bound."""
        return candidates.c * float(self.deviation_of(level, int(candidates.m), delta))


def weight_of(level: int, weight: Callable[[int], float] | None) -> float:
    """Return the weight of a class, the lecture's or the user's own.

    Raises
    ------
    ValueError
        If it is not in (0, 1].
    """
    share = class_weight(level) if weight is None else float(weight(level))
    if not 0 < share <= 1:
        raise ValueError(
            f"`weight` must be in (0, 1] and sum to at most 1, got {share} at {level}."
        )
    return share
