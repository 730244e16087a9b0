"""The width of a kernel: what it must be, and what it is where nobody says."""

from __future__ import annotations

import numpy as np

__all__ = ["check_gamma", "default_gamma", "given"]


def check_gamma(gamma: float | None) -> None:
    """Refuse what is neither None nor a positive number."""
    if gamma is not None and not (gamma > 0 and np.isfinite(gamma)):
        raise ValueError(
            f"`gamma` must be positive and finite, got {gamma}. Leave it out for 1 over the total "
            "variance of the columns."
        )


def default_gamma(variance: float) -> float:
    """Return 1 over the total variance: squared distances then have a mean of 2 / gamma."""
    return 1.0 / variance if variance > 0 else 1.0


def given(gamma: float | None) -> float:
    """Return `gamma`, which must be a number by now."""
    if gamma is None:
        raise ValueError(
            "`gamma` is not given, and its default depends on the data; use "
            "`kernel.resolved(variance)` with the total variance of the columns, or give a number."
        )
    return float(gamma)
