"""The null model's constant, with an offset in front of it.

    b = argmin_b  sum_i s_i loss(y_i, b + o_i)

Without an offset a loss knows its own, mostly in closed form. With one it is the root of the mean
derivative or, where classes share it, Newton's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.losses.base import Loss
from tikhon.losses.location import root_of_increasing
from tikhon.losses.multinomial import Multinomial
from tikhon.problem.dual import row_shares
from tikhon.typing import Float64Array, FloatArray

__all__ = ["best_constant"]

NEWTON_STEPS = 200


def best_constant(loss: Loss, y: Any, s: Any, offset: Any) -> FloatArray:
    """Return the best constant, () or (targets,): infinite where none is best.

    Parameters
    ----------
    y : array of shape (n,) or (n, targets)
    s : array of shape (n,), or None
    offset : array of shape (n,), (n, 1) or (n, columns of z), or None
    """
    if offset is None:
        return loss.null_prediction(y, s)
    p = row_shares(len(y), s)
    if loss.per_class:
        return _class_constants(loss, y, p, np.asarray(offset))
    y = y.astype(np.float64)
    o = np.asarray(offset, dtype=np.float64).reshape(len(y), -1)
    if y.ndim == 1:
        return np.asarray(_one(loss, y, p, o[:, 0]))
    o = np.broadcast_to(o, y.shape)
    return np.array([_one(loss, y[:, t], p, o[:, t]) for t in range(y.shape[1])])


def _one(loss: Loss, y: Float64Array, p: Float64Array, o: Float64Array) -> float:
    used = p > 0
    y, p, o = y[used], p[used], o[used]
    without = float(loss.null_prediction(y, p))
    if not np.isfinite(without):  # no constant is best, and none is for any offset
        return without
    middle = float(p @ o)

    def slope(b: float) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            found = float(p @ loss.derivative(y, (b - middle) + o))
        return found if np.isfinite(found) else np.sign(b) * 1e60

    return root_of_increasing(slope) - middle


def _class_constants(loss: Loss, y: FloatArray, p: Float64Array, o: Float64Array) -> Float64Array:
    """Newton's method in as many unknowns as there are classes, halved while it climbs."""
    assert isinstance(loss, Multinomial)
    b = loss.null_prediction(y, p, n_classes=o.shape[1])
    if not np.isfinite(b).all():
        return np.asarray(b, dtype=np.float64)
    value = float(p @ loss.value(y, b + o))
    for _ in range(NEWTON_STEPS):
        g = p @ loss.derivative(y, b + o)
        H = np.tensordot(p, loss.hessian(y, b + o), axes=1)
        step = np.linalg.pinv(H, hermitian=True) @ g
        share = 1.0
        while share > 1e-12:
            tried = float(p @ loss.value(y, b - share * step + o))
            if tried <= value:
                break
            share /= 2.0
        b, before, value = b - share * step, value, min(tried, value)
        if float(g @ step) <= 1e-30 or share <= 1e-12 or (value == before and share < 1.0):
            break
    return np.asarray(b - b.mean())
