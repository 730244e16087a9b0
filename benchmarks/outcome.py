"""What an adapter reports of one fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Outcome:
    """One timed fit.

    `lam` is the strength that was selected, `lam_refit` the strength whose problem on all rows
    `coef` and `intercept` solve: they differ in packages whose penalty does not grow with the
    number of rows. `curve` is the mean held-out squared error at every strength of the problem,
    NaN where the package does not tell. `path` is the coefficients (L, d) and intercepts (L,)
    of all strengths on all rows. `gap` is the package's own statement of its relative gap.
    None stands for what a package does not give: a path alone selects nothing.
    """

    seconds: float
    lam: float | None = None
    lam_refit: float | None = None
    coef: np.ndarray | None = None
    intercept: float | None = None
    curve: np.ndarray | None = None
    path: tuple[np.ndarray, np.ndarray] | None = None
    gap: float | None = None
