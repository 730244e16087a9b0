"""Effective degrees of freedom of penalised least squares along a path.

The expected derivative of the predictions with respect to the targets. With the coefficients F that
are neither at 0 nor at a bound, K their second moments and H the curvature of the penalty there,

    df = tr K_FF (K_FF + lam H_FF)^-1,

which for the lasso is the number of nonzero coefficients (their columns are independent), and for
ridge the sum of ``e / (e + lam)``. The intercept is not counted.
"""

from __future__ import annotations

import numpy as np

from tikhon.penalties.base import Penalty
from tikhon.problem.squared import Frame
from tikhon.typing import Float64Array

__all__ = ["degrees_of_freedom"]


def degrees_of_freedom(
    frame: Frame, penalty: Penalty, lams: Float64Array, coefs: Float64Array
) -> Float64Array:
    """Return df (L,), a mean over targets, of coefficients (L, d, targets); nan where unknown."""
    scale = frame.view.scale
    scaled = penalty.on_scaled(scale)
    found = [
        _df(frame, scaled, lam, w * scale[:, None]) for lam, w in zip(lams, coefs, strict=True)
    ]
    return np.array(found)


def _df(frame: Frame, penalty: Penalty, lam: float, W: Float64Array) -> float:
    """One strength. Penalties that couple no targets are counted target by target."""
    targets = W.shape[1]
    if targets > 1 and not penalty.separable:
        return float(_coupled(frame, penalty, lam, W) / targets)
    return float(np.mean([_coupled(frame, penalty, lam, W[:, [t]]) for t in range(targets)]))


def _coupled(frame: Frame, penalty: Penalty, lam: float, W: Float64Array) -> float:
    found = penalty.support_curvature(W[:, 0] if W.shape[1] == 1 else W)
    if found is None:
        return float("nan")
    entries, H = found
    if not H.any():
        return float(len(entries))
    targets = W.shape[1]
    columns, place = np.unique(entries // targets, return_inverse=True)
    moments = _moments(frame, columns)[np.ix_(place, place)]
    moments = np.where((entries % targets)[:, None] == entries % targets, moments, 0.0)
    curved = moments + lam * (np.diag(H) if H.ndim == 1 else H)
    return float(np.trace(np.linalg.lstsq(curved, moments, rcond=None)[0]))


def _moments(frame: Frame, columns: np.ndarray) -> Float64Array:
    """Second moments of some columns of the frame."""
    view = frame.view
    A = view.base.rows_of_columns(None, columns) - view.mean[columns]
    A /= view.scale[columns]
    p = np.full(len(A), 1.0 / len(A)) if frame.p is None else frame.p
    return np.asarray(A.T @ (A * p[:, None]))
