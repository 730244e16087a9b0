"""Step lengths as functions of the step's number: ``rho(tau)``, tau = 1, 2, 3, ...

    Constant(rho)              rho
    Inverse(rho, delay)        rho / (tau + delay)
    InverseSqrt(rho, delay)    rho / sqrt(tau + delay)

Lecture 004 writes ``rho(tau)`` and proposes ``1 / tau``. Wherever a solver takes a `step`, it takes
a number, one of these, or any function of a whole number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["Constant", "Inverse", "InverseSqrt", "Schedule", "rates"]


def _check(name: str, rho: float, delay: float) -> None:
    if not (rho > 0 and np.isfinite(rho)):
        raise ValueError(f"`{name}` must be positive and finite, got {rho}.")
    if not (delay >= 0 and np.isfinite(delay)):
        raise ValueError(f"`delay` must be >= 0 and finite, got {delay}.")


@dataclass(frozen=True, slots=True)
class Constant:
    """Every step has the same length.

    ``rho``.

    Examples
    --------
    >>> Constant(0.5)(np.array([1.0, 2.0]))
    array([0.5, 0.5])
    """

    rho: float

    def __post_init__(self) -> None:
        _check("rho", self.rho, 0.0)

    def __call__(self, tau: Float64Array) -> Float64Array:
        """Return `rho` for each number of a step."""
        return np.full(np.shape(tau), float(self.rho))


@dataclass(frozen=True, slots=True)
class Inverse:
    """Steps whose lengths have an infinite sum and a finite sum of squares.

    ``rho / (tau + delay)``.

    Examples
    --------
    >>> Inverse(1.0)(np.array([1.0, 2.0, 4.0]))
    array([1.  , 0.5 , 0.25])
    """

    rho: float
    delay: float = 0.0

    def __post_init__(self) -> None:
        _check("rho", self.rho, self.delay)

    def __call__(self, tau: Float64Array) -> Float64Array:
        """Return ``rho / (tau + delay)`` for each number of a step."""
        return np.asarray(self.rho / (np.asarray(tau, dtype=np.float64) + self.delay))


@dataclass(frozen=True, slots=True)
class InverseSqrt:
    """Longer steps, for objectives that are not strongly convex.

    ``rho / sqrt(tau + delay)``.

    Examples
    --------
    >>> InverseSqrt(1.0)(np.array([1.0, 4.0]))
    array([1. , 0.5])
    """

    rho: float
    delay: float = 0.0

    def __post_init__(self) -> None:
        _check("rho", self.rho, self.delay)

    def __call__(self, tau: Float64Array) -> Float64Array:
        """Return ``rho / sqrt(tau + delay)`` for each number of a step."""
        return np.asarray(self.rho / np.sqrt(np.asarray(tau, dtype=np.float64) + self.delay))


Schedule: TypeAlias = Constant | Inverse | InverseSqrt | Callable[[int], float]


def rates(schedule: Schedule, first: int, count: int) -> Float64Array:
    """Return the lengths of steps `first` to ``first + count - 1``.

    Raises
    ------
    ValueError
        If a length is not positive and finite.
    """
    if isinstance(schedule, Constant | Inverse | InverseSqrt):
        found = schedule(np.arange(first, first + count, dtype=np.float64))
    else:
        found = np.array([schedule(tau) for tau in range(first, first + count)], dtype=np.float64)
    wrong = ~((found > 0) & np.isfinite(found))
    if wrong.any():
        place = int(np.argmax(wrong))
        raise ValueError(
            f"`step` must be positive and finite for every step, got {found[place]} for step "
            f"{first + place}."
        )
    return found
