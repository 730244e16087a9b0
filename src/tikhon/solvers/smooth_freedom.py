"""Effective degrees of freedom of a smooth loss with a penalty, along a path.

With the coefficients F that are neither at 0 nor at a bound, ``K = X~' P h X~`` their second
moments weighted by the curvature h of the loss (about h-weighted means, for the intercept) and H
the curvature of the penalty there,

    df = tr K_FF (K_FF + lam H_FF)^-1,

which for the lasso is the number of nonzero coefficients. For losses with a column per class the
curvature is a matrix of each row, and df counts all classes together.
"""

from __future__ import annotations

import numpy as np

from tikhon.losses.multinomial import Multinomial
from tikhon.penalties.base import Penalty
from tikhon.problem.smooth import SmoothFrame
from tikhon.typing import Float64Array, IntArray

__all__ = ["smooth_degrees_of_freedom"]

LARGEST = 3000
"""Free coefficients up to which the trace is taken; beyond, df is nan."""


def smooth_degrees_of_freedom(
    frame: SmoothFrame,
    penalty: Penalty,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> Float64Array:
    """Return df (L,) of coefficients (L, d, outputs) on the user's scale; nan where unknown."""
    penalty = penalty.on_scaled(frame.view.scale)
    found = [
        _df(frame, penalty, float(lam), V, b)
        for lam, V, b in zip(lams, coefs, intercepts, strict=True)
    ]
    return np.array(found)


def _df(
    frame: SmoothFrame, penalty: Penalty, lam: float, V: Float64Array, b: Float64Array
) -> float:
    W = V * frame.view.scale[:, None]
    outputs = W.shape[1]
    if frame.loss.per_class or (outputs > 1 and not penalty.separable):
        total = _coupled(frame, penalty, lam, W, V, b, np.arange(outputs))
        return total if frame.loss.per_class else total / outputs
    parts = [_coupled(frame, penalty, lam, W, V, b, np.array([t])) for t in range(outputs)]
    return float(np.mean(parts))


def _coupled(
    frame: SmoothFrame,
    penalty: Penalty,
    lam: float,
    W: Float64Array,
    V: Float64Array,
    b: Float64Array,
    outputs: IntArray,
) -> float:
    part = W[:, outputs]
    w = part[:, 0].copy() if len(outputs) == 1 else part.copy()
    found = penalty.support_curvature(w)
    if found is None and penalty.separable and part.shape[1] > 1:
        found = _separable_curvature(penalty, part)
    if found is None:
        return float("nan")
    entries, H = found
    if lam == 0 or not H.any():
        return float(len(entries))
    if len(entries) > LARGEST:
        return float("nan")
    columns, place = np.unique(entries // len(outputs), return_inverse=True)
    K = _weighted_moments(frame, V, b, columns, outputs)
    at = place * len(outputs) + entries % len(outputs)
    moments = K[np.ix_(at, at)]
    curved = moments + lam * (np.diag(H) if H.ndim == 1 else H)
    return float(np.trace(np.linalg.lstsq(curved, moments, rcond=None)[0]))


def _separable_curvature(penalty: Penalty, W: Float64Array) -> tuple[IntArray, Float64Array] | None:
    """Free entries of several outputs, through ``W.ravel()``, and the penalty's curvature."""
    d, outputs = W.shape
    form = penalty.coordinates(d)
    if form is None:
        return None
    lower, upper, l1 = form.lower[:, None], form.upper[:, None], form.l1[:, None]
    free = (lower < W) & (upper > W) & ((W != 0) | (l1 == 0))
    entries = np.flatnonzero(free)
    return entries, np.repeat(form.l2, outputs)[entries]


def _weighted_moments(
    frame: SmoothFrame, V: Float64Array, b: Float64Array, columns: IntArray, outputs: IntArray
) -> Float64Array:
    """Second moments of columns times outputs, weighted by the loss: entries column by column."""
    view, p = frame.view, frame.shares
    A = (view.base.rows_of_columns(None, columns) - view.mean[columns]) / view.scale[columns]
    Z = frame.predict(V[None], b[None])[:, 0]
    m, k = A.shape[1], len(outputs)
    if not isinstance(frame.loss, Multinomial):
        h = p[:, None] * frame.loss.curvature(frame.y, Z)[:, outputs]
        K = np.zeros((m, k, m, k))
        for t in range(k):
            K[:, t, :, t] = _about_means(A, h[:, t], intercept=frame.intercept)
        return K.reshape(m * k, m * k)
    B = np.column_stack([A, np.ones(len(A))]) if frame.intercept else A
    blocks = frame.loss.hessian(frame.y[:, 0], Z) * p[:, None, None]
    size = B.shape[1]
    full = np.empty((size, k, size, k))
    for c in range(k):
        for e in range(k):
            full[:, c, :, e] = B.T @ (B * blocks[:, c, e, None])
    inner = full[:m, :, :m, :].reshape(m * k, m * k)
    if not frame.intercept:
        return inner
    cross = full[:m, :, m, :].reshape(m * k, k)
    return np.asarray(inner - cross @ np.linalg.pinv(full[m, :, m, :], hermitian=True) @ cross.T)


def _about_means(A: Float64Array, h: Float64Array, *, intercept: bool) -> Float64Array:
    K = A.T @ (A * h[:, None])
    total = float(h.sum())
    if intercept and total > 0:
        K -= np.outer(h @ A, h @ A) / total
    return np.asarray(K)
