"""The strength an estimator is given: a grid to choose from, or a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.paths.grid import Grid

__all__ = ["as_strength"]


def as_strength(lam: Any, nested: Any = False, *, size: int = 100) -> Grid | float:
    """Return the grid that "cv" or a `Grid` means, or the strength that a number is.

    Parameters
    ----------
    lam : "cv", Grid or float
    nested : bool or int
        Refused with a number, which leaves nothing to choose.
    size : int
        How many strengths "cv" tries.
    """
    if isinstance(lam, Grid):
        return lam
    if isinstance(lam, str) and lam == "cv":
        return Grid(size=size)
    if not isinstance(lam, int | float | np.number) or isinstance(lam, bool):
        raise ValueError(
            f"`lam` must be 'cv', a number or a tk.Grid, got {lam!r}. To choose among strengths "
            "use tk.Grid(values=...)."
        )
    strength = float(lam)
    if not (strength >= 0 and np.isfinite(strength)):
        raise ValueError(
            f"`lam` must be finite and >= 0, got {strength}. Use 0 for no regularization."
        )
    if nested:
        raise UnsupportedError(
            f"nested={nested} judges a choice, and a given `lam` leaves nothing to choose; use "
            "lam='cv' or a tk.Grid."
        )
    return strength
