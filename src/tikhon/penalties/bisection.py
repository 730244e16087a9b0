"""Bisection over a monotone condition: what a penalty without closed forms falls back on."""

from collections.abc import Callable
from typing import Final

import numpy as np

_LARGEST: Final = 1e150
_SMALLEST: Final = 1e-150
_HALVINGS: Final = 100


def smallest_strength(suffices: Callable[[float], bool]) -> float:
    """Return the least lam > 0 that suffices, to rounding; 0 if all do and ``inf`` if none does.

    The condition must be true above a threshold and false below it.

    Examples
    --------
    >>> round(smallest_strength(lambda lam: lam >= 3.0), 9)
    3.0
    """
    if not suffices(_LARGEST):
        return np.inf
    if suffices(_SMALLEST):
        return 0.0
    low, high = _SMALLEST, _LARGEST
    while high > 2 * low:
        middle = float(np.sqrt(low) * np.sqrt(high))
        low, high = (low, middle) if suffices(middle) else (middle, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if suffices(middle) else (middle, high)
    return high


def widest_scale(allowed: Callable[[float], object]) -> float:
    """Return the largest t in [0, 1] that is allowed, to rounding.

    The condition must be true up to a threshold and false beyond it.

    Examples
    --------
    >>> round(widest_scale(lambda t: t <= 0.25), 9)
    0.25
    """
    if allowed(1.0):
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if allowed(middle) else (low, middle)
    return low
