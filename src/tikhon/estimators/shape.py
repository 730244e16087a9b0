"""Weights by column and signs, put on a penalty that has neither."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from tikhon.data.coerce import Data
from tikhon.estimators.adaptive import Adaptive
from tikhon.penalties import Nonnegative, Separable, Sum, Weighted
from tikhon.typing import ArrayLike

__all__ = ["shaped"]


class Shape(Protocol):
    """The parameters that shape a penalty."""

    weights: ArrayLike | Adaptive | None
    positive: bool
    standardize: bool
    fit_intercept: bool


def shaped(penalty: Separable, data: Data, shape: Shape) -> Separable:
    """Return the penalty with its weights for some rows and, if asked for, under a bound at 0."""
    if shape.positive not in (True, False):
        raise ValueError(f"`positive` must be True or False, got {shape.positive!r}.")
    weights = shape.weights
    if isinstance(weights, Adaptive):
        how = {"standardize": shape.standardize, "intercept": shape.fit_intercept}
        penalty = Weighted(penalty, weights.weights(data, **how))
    elif weights is not None:
        given = _numbers(weights)
        d = data.design.shape[1]
        if given.shape != (d,):
            raise ValueError(
                f"`weights` must have one number per column, shape {(d,)}, got {given.shape}."
            )
        penalty = Weighted(penalty, given)
    return Sum(penalty, Nonnegative()) if shape.positive else penalty


def _numbers(weights: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"`weights` must be one number per column, or tk.Adaptive(), got {weights!r}."
        ) from None
