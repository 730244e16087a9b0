"""The slow, obvious way to compute what the library computes: the tests' other hand."""

from __future__ import annotations

import mpmath
import numpy as np


def ridge(X, y, lam, *, weights=None, standardize=False, intercept=True, scale=None):
    """Ridge by the normal equations of explicitly centred and scaled columns."""
    n, d = X.shape
    p = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    mean = p @ X if intercept else np.zeros(d)
    y_mean = p @ y if intercept else 0.0 * y[0]
    centred = X - mean
    if scale is None:
        scale = np.sqrt(p @ centred**2) if standardize else np.ones(d)
    Z = centred / scale
    right = Z.T @ ((y - y_mean).T * p).T
    w = np.linalg.solve(Z.T @ (Z * p[:, None]) + lam * np.eye(d), right)
    coef = (w.T / scale).T
    return coef, y_mean - mean @ coef


def ridge_mp(X, y, lam, *, digits=80):
    """Ridge with an unpenalised intercept, in `digits` digits, from the exact stored numbers."""
    with mpmath.workdps(digits):
        n, d = X.shape
        A = mpmath.matrix([[mpmath.mpf(float(v)) for v in row] + [mpmath.mpf(1)] for row in X])
        M = A.T * A / n
        for j in range(d):
            M[j, j] += mpmath.mpf(lam)
        right = A.T * mpmath.matrix([mpmath.mpf(float(v)) for v in y]) / n
        solution = mpmath.lu_solve(M, right)
        return np.array([float(v) for v in solution[:d]]), float(solution[d])


def digits(found, exact):
    """The log relative error, smallest over coefficients."""
    found, exact = np.atleast_1d(found).astype(float), np.atleast_1d(exact).astype(float)
    error = np.abs(found - exact) / np.where(exact == 0, 1.0, np.abs(exact))
    return float(np.min(-np.log10(np.maximum(error, 1e-17))))
