"""Dual points of a loss: balanced for the intercept, and what they are worth with an offset.

The derivative ``v_i = loss'(y_i, z_i)`` at a candidate is a point of the loss's dual domain. An
unpenalised intercept asks for ``sum_i p_i v_i = 0`` exactly; near a solution that holds but for a
little, and the point is moved by as little, without leaving the domain.

With an offset o the loss of a row is ``loss(y, z + o)`` and its conjugate ``loss*(y, u) - u o``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.typing import Float64Array, FloatArray

__all__ = ["balanced", "conjugate_about", "mean_floor", "row_shares"]


def row_shares(n: int, s: Any) -> Float64Array:
    """Return row weights summing to 1."""
    if s is None:
        return np.full(n, 1.0 / n)
    weights: Float64Array = np.asarray(s, dtype=np.float64)
    return np.asarray(weights / weights.sum())


def balanced(loss: Loss, y: FloatArray, v: Float64Array, p: Float64Array) -> Float64Array:
    """Make ``sum p v = 0``, the intercept's dual constraint, staying in the domain.

    The squared loss has the whole line as its domain: subtract the mean. Classes share a simplex:
    mix in the null model, see `_in_the_simplex`. For every other loss 0 is in the domain and the
    domain is convex: shrink the side that weighs more.

    Parameters
    ----------
    y : array that broadcasts against v; for losses with a column per class, without that axis
    v : array of shape (n, ...)
    p : array of shape (n,)
    """
    if isinstance(loss, Squared):
        return np.asarray(v - np.tensordot(p, v, axes=1), dtype=np.float64)
    if loss.per_class:
        return _in_the_simplex(np.asarray(y), v, p)
    up: Float64Array = np.tensordot(p, np.maximum(v, 0.0), axes=1)
    down: Float64Array = np.tensordot(p, np.maximum(-v, 0.0), axes=1)
    target: Float64Array = np.minimum(up, down)
    shrink_up = np.divide(target, up, out=np.zeros_like(up), where=up > 0)
    shrink_down = np.divide(target, down, out=np.zeros_like(down), where=down > 0)
    return np.where(v > 0, v * shrink_up, v * shrink_down)


def _in_the_simplex(y: FloatArray, v: Float64Array, p: Float64Array) -> Float64Array:
    """Balance ``v = q - onehot(y)``, q in the simplex, for every class at once.

    With ``e = sum p v`` and f the frequencies of the classes,
    ``q' = (1 - t) q + t f - (1 - t) e`` sums to one, is balanced for every t, and is not negative
    once ``t f >= (1 - t) e``.
    """
    codes = np.asarray(y).astype(np.intp).reshape(len(v), -1)[:, 0]
    classes = v.shape[-1]
    frequency = np.bincount(codes, p, minlength=classes)
    e = np.tensordot(p, v, axes=1)
    excess: Float64Array = np.maximum(e, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(excess > 0, excess / frequency, 0.0).max(axis=-1, keepdims=True)
        t = np.where(np.isinf(ratio), 1.0, ratio / (1.0 + ratio))
    hot = codes[:, None] == np.arange(classes)
    null = (frequency - hot).reshape(len(v), *(1,) * (v.ndim - 2), classes)
    return np.asarray((1.0 - t) * (v - e) + t * null)


def conjugate_about(loss: Loss, y: FloatArray, v: Float64Array, offset: Any) -> FloatArray:
    """Return the conjugate of ``z -> loss(y, z + offset)`` at v."""
    values = loss.conjugate(y, v)
    if offset is None:
        return values
    shift: Float64Array = v * offset
    return np.asarray(values - (shift.sum(axis=-1) if loss.per_class else shift))


def mean_floor(loss: Loss, y: FloatArray, s: Any) -> float:
    """Return the mean loss of the best prediction there is, row by row: 0 for most losses.

    ``inf_z loss(y, z) = -loss*(y, 0)``; Poisson and Gamma losses may be negative, and a gap is
    relative to what there is to gain.
    """
    if not loss.has_conjugate or loss.per_class:
        return 0.0
    values = -loss.conjugate(y, np.zeros_like(y))
    p = row_shares(len(values), s)
    used = p > 0
    return float(np.tensordot(p[used], values[used], axes=1).sum())
