"""Weights by column and signs, put on a penalty that has neither."""

from __future__ import annotations

import numpy as np

from tikhon.data.coerce import Data
from tikhon.penalties import Nonnegative, Separable, Sum, Weighted
from tikhon.typing import ArrayLike

__all__ = ["shaped"]


def shaped(
    penalty: Separable, data: Data, weights: ArrayLike | None, *, positive: bool
) -> Separable:
    """Return the penalty with its weights and, if asked for, under a bound at 0."""
    if positive not in (True, False):
        raise ValueError(f"`positive` must be True or False, got {positive!r}.")
    if weights is not None:
        given = np.asarray(weights, dtype=np.float64)
        d = data.design.shape[1]
        if given.shape != (d,):
            raise ValueError(
                f"`weights` must have one number per column, shape {(d,)}, got {given.shape}."
            )
        penalty = Weighted(penalty, given)
    return Sum(penalty, Nonnegative()) if positive else penalty
