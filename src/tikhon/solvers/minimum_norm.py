"""The pseudo-inverse, and the interpolant of least norm where there are fewer rows than columns.

With X = U diag(g) V' (singular value decomposition), X+ = V diag(1/g) U' over the g that are not
rounding, and ``w = X+ y`` is the solution of least squares with the least norm. X+ is the one
matrix with X X+ X = X, X+ X X+ = X+, and X X+ and X+ X symmetric (Moore and Penrose).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.problem.squared import Frame
from tikhon.solvers.scaled_table import ScaledTable
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array

__all__ = ["SVDSolution", "minimum_norm", "moore_penrose_residuals", "pseudo_inverse"]


def pseudo_inverse(X: Any, rtol: float | None = None) -> Float64Array:
    """Return the Moore-Penrose pseudo-inverse of a matrix, by singular values.

    Parameters
    ----------
    X : array of shape (n, d)
    rtol : float, optional
        Singular values below `rtol` times the largest count as 0; max(n, d) eps by default.

    Returns
    -------
    ndarray of shape (d, n)

    Examples
    --------
    >>> pseudo_inverse([[2.0, 0.0], [0.0, 0.0]])
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    A = np.vstack([block.rows.copy() for block in as_design(X).blocks()])
    U, g, Vt = np.linalg.svd(A, full_matrices=False)
    kept = _rank(g, A.shape, rtol)
    return np.asarray((Vt[:kept].T / g[:kept]) @ U[:, :kept].T) + 0.0


def moore_penrose_residuals(X: Any, P: Any) -> tuple[float, float, float, float]:
    """Return how far P is from each of the four Moore-Penrose conditions, in relative terms.

    Examples
    --------
    >>> X = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    >>> max(moore_penrose_residuals(X, pseudo_inverse(X))) < 1e-14
    True
    """
    X, P = np.asarray(X, dtype=np.float64), np.asarray(P, dtype=np.float64)
    XP, PX = X @ P, P @ X
    scale = max(float(np.linalg.norm(X) * np.linalg.norm(P)), np.finfo(np.float64).tiny)

    def relative(difference: Float64Array, size: float) -> float:
        return float(np.linalg.norm(difference)) / max(size, np.finfo(np.float64).tiny)

    return (
        relative(XP @ X - X, scale * float(np.linalg.norm(X))),
        relative(PX @ P - P, scale * float(np.linalg.norm(P))),
        relative(XP - XP.T, scale),
        relative(PX - PX.T, scale),
    )


@dataclass(frozen=True, slots=True, eq=False)
class SVDSolution:
    """A minimum-norm solution in centred coordinates, and what the decomposition tells."""

    frame: Frame
    inverse_form: Callable[[Float64Array], Float64Array]
    coef: Float64Array
    intercept: Float64Array
    rank: int
    singular: Float64Array


def minimum_norm(training: Training) -> SVDSolution:
    """Interpolate with the least norm of the coefficients, on the user's scale."""
    table = ScaledTable.of(training)
    scaled = table.frame()
    view = scaled.view
    unit = float(np.max(view.scale))
    root = np.sqrt(table.p)[:, None]
    X = np.empty(view.shape)
    for block in table.design.blocks(view.mean):
        X[block.start : block.stop] = block.rows
    X *= root / unit
    U, g, Vt = np.linalg.svd(X, full_matrices=False)
    rank = _rank(g, X.shape, table.design.eps * np.sqrt(max(X.shape)))
    U, g, Vt = U[:, :rank], g[:rank], Vt[:rank]
    W = Vt.T @ ((U.T @ (root * (scaled.y - scaled.y_mean))) / g[:, None]) / unit
    for _ in range(2):  # fixed-precision refinement on the rows
        left = root * (scaled.y - scaled.y_mean - table.design.predict(W, view.mean))
        W = W + Vt.T @ ((U.T @ left) / g[:, None]) / unit

    def inverse_form(c: Float64Array) -> Float64Array:
        half = (Vt @ (c * view.scale[:, None] / unit)) / g[:, None]
        return np.asarray(np.einsum("rt,rt->t", half, half))

    return SVDSolution(scaled, inverse_form, W, table.intercept_for(W), rank, g)


def _rank(g: Float64Array, shape: tuple[int, ...], rtol: float | None) -> int:
    level = max(shape) * np.finfo(np.float64).eps if rtol is None else rtol
    return int(np.count_nonzero(g > level * g.max(initial=0.0)))
