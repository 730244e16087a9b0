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
from tikhon.penalties.group_form import GroupForm
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
    form = penalty.group_form(len(W))
    if form is not None and W.shape[1] == 1 and np.count_nonzero(W) > frame.view.shape[0]:
        by_rows = _by_rows(frame, form, lam, W[:, 0])
        if by_rows is not None:
            return by_rows
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


def _by_rows(frame: Frame, form: GroupForm, lam: float, w: Float64Array) -> float | None:
    """Groups with more columns than there are rows; None where some have no penalty.

    With C, B and S of `group_curvature`,
    ``df = n - tr S^-1 + tr (B'S^-1 B)^-1 B'S^-2 B``.
    """
    columns = np.flatnonzero(w)
    codes, own = np.unique(form.codes[columns], return_inverse=True)
    norm = np.sqrt(np.bincount(own, w[columns] ** 2))
    pull = lam * form.weight[codes] / norm
    free = np.flatnonzero((form.weight[form.codes] == 0) & (form.l1 == 0))
    if len(free) or not (pull > 0).all():
        return None
    A = _columns(frame, columns)
    order = np.argsort(own, kind="stable")
    starts = np.searchsorted(own[order], np.arange(len(codes)))
    B = np.add.reduceat((A * (w[columns] / norm[own]))[:, order], starts, axis=1)
    S = (A / pull[own]) @ A.T
    S[np.diag_indices(len(S))] += 1.0
    SB = np.linalg.solve(S, B)
    along = np.linalg.lstsq(B.T @ SB, SB.T @ SB, rcond=None)[0]
    return float(len(S) - np.trace(np.linalg.inv(S)) + np.trace(along))


def _moments(frame: Frame, columns: np.ndarray) -> Float64Array:
    """Second moments of some columns of the frame."""
    A = _columns(frame, columns)
    return np.asarray(A.T @ A)


def _columns(frame: Frame, columns: np.ndarray) -> Float64Array:
    """Some columns of the frame, times the roots of the row weights."""
    view = frame.view
    A = view.base.rows_of_columns(None, columns) - view.mean[columns]
    A /= view.scale[columns]
    p = np.full(len(A), 1.0 / len(A)) if frame.p is None else frame.p
    return np.asarray(A * np.sqrt(p)[:, None])
