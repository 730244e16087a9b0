"""The strengths to try: geometric from the strongest useful one down, or the user's own."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tikhon.typing import ArrayLike, Float64Array

__all__ = ["Grid", "as_grid"]


@dataclass(frozen=True)
class Grid:
    """A grid of strengths.

    Parameters
    ----------
    size : int, default 100
        How many strengths, when they are not given.
    ratio : float, optional
        Smallest over largest strength. By default what the penalty asks for: for L2 the grid
        runs from a hundred times the largest eigenvalue of the (scaled) second-moment matrix
        down by 1e-10; penalties with a finite `lam_max` start there and go down by 1e-3
        (1e-2 where there are more columns than rows).
    values : array-like, optional
        The strengths themselves, in any order, in place of size and ratio.

    Examples
    --------
    >>> import tikhon as tk
    >>> tk.Grid(size=3, ratio=1e-2).below(1.0)
    array([1.  , 0.1 , 0.01])
    >>> tk.Grid(values=[0.1, 10.0]).below(1.0)
    array([10. ,  0.1])
    """

    size: int = 100
    ratio: float | None = None
    values: ArrayLike | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if self.values is not None:
            given = np.asarray(self.values, dtype=np.float64)
            if given.ndim != 1 or given.size == 0:
                raise ValueError(f"`values` must be a list of strengths, got shape {given.shape}.")
            bad = given[~(np.isfinite(given) & (given >= 0))]
            if bad.size:
                raise ValueError(f"`values` must be finite and >= 0, got {bad[0]}.")
            return
        if not (isinstance(self.size, int | np.integer) and self.size >= 1):
            raise ValueError(f"`size` must be a whole number >= 1, got {self.size!r}.")
        if self.ratio is not None and not 0 < self.ratio < 1:
            raise ValueError(f"`ratio` must be between 0 and 1, got {self.ratio}.")

    def below(self, top: float, ratio: float = 1e-3) -> Float64Array:
        """Return the strengths, strongest first; `ratio` applies if the grid has none."""
        if self.values is not None:
            return np.unique(np.asarray(self.values, dtype=np.float64))[::-1].copy()
        if self.size == 1:
            return np.array([top])
        span = self.ratio if self.ratio is not None else ratio
        return np.asarray(top * np.geomspace(1.0, span, self.size))


def as_grid(lams: int | float | ArrayLike | Grid) -> Grid:
    """Turn what a caller may give for `lams` into a grid."""
    if isinstance(lams, Grid):
        return lams
    if isinstance(lams, int | np.integer) and not isinstance(lams, bool):
        return Grid(size=int(lams))
    return Grid(values=np.atleast_1d(np.asarray(lams, dtype=np.float64)))
