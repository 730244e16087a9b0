"""Ridge as the first lecture has it: one linear system, by Cholesky.

    primal   (X'X + lam n I) w = X'y                  d x d, for d <= n
    dual     w = X'a,  (X X' + lam n I) a = y         n x n, for d > n

with columns and targets centred when there is an intercept. The strength also bounds the
condition number of the system by (e_max + lam) / (e_min + lam), e the eigenvalues of X'X / n: that
is the sense in which regularization stabilizes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from tikhon.data.coerce import as_data
from tikhon.errors import UnsupportedError
from tikhon.typing import Float64Array

__all__ = ["CholeskyRidge", "ridge_cholesky"]


@dataclass(frozen=True, slots=True, eq=False)
class CholeskyRidge:
    """A ridge solution and the system it came from.

    Attributes
    ----------
    coef : ndarray of shape (d,) or (d, targets)
    intercept : float or ndarray of shape (targets,)
    dual : ndarray of shape (n,) or (n, targets), or None
        The dual coefficients a, if the dual system was solved.
    form : str
        "primal" or "dual".
    condition : float
        Condition number of the system that was solved.
    condition_without : float
        The same at strength 0 (inf if singular): what the strength has mended.
    """

    coef: Float64Array
    intercept: float | Float64Array
    dual: Float64Array | None
    form: str
    condition: float
    condition_without: float


def ridge_cholesky(
    X: Any, y: Any, lam: float, *, form: str = "auto", intercept: bool = True
) -> CholeskyRidge:
    """Solve ridge by one Cholesky factorisation.

    Parameters
    ----------
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,) or (n, targets)
    lam : float
        The strength, > 0.
    form : {"auto", "primal", "dual"}
        "auto" takes the smaller system.
    intercept : bool, default True

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> solved = ridge_cholesky(X, y, 1.0)
    >>> solved.form, solved.condition < solved.condition_without
    ('primal', True)
    """
    if not (lam > 0 and np.isfinite(lam)):
        raise ValueError(f"`lam` must be finite and > 0, got {lam}. Use tk.LinearRegression for 0.")
    if form not in ("auto", "primal", "dual"):
        raise UnsupportedError(f"`form` must be 'auto', 'primal' or 'dual', got {form!r}.")
    data = as_data(X, y)
    n, d = data.design.shape
    centre = data.design.centre() if intercept else np.zeros(d)
    Z = np.vstack([block.rows.copy() for block in data.design.blocks(centre)])
    y_mean = data.y.mean(axis=0) if intercept else np.zeros(data.y.shape[1])
    target = data.y - y_mean
    if form == "auto":
        form = "primal" if d <= n else "dual"
    M = Z.T @ Z if form == "primal" else Z @ Z.T
    e = np.maximum(np.linalg.eigvalsh(M), 0.0)
    system = M + lam * n * np.eye(len(M))
    factor = linalg.cho_factor(system)
    dual = None
    if form == "primal":
        W = linalg.cho_solve(factor, Z.T @ target)
    else:
        dual = linalg.cho_solve(factor, target)
        W = Z.T @ dual
    b = y_mean - centre @ W if intercept else y_mean
    singular = e[0] <= len(e) * np.finfo(np.float64).eps * e[-1]
    return CholeskyRidge(
        coef=W[:, 0] if data.one_target else W,
        intercept=float(b[0]) if data.one_target else b,
        dual=dual[:, 0] if dual is not None and data.one_target else dual,
        form=form,
        condition=float((e[-1] + lam * n) / (e[0] + lam * n)),
        condition_without=np.inf if singular else float(e[-1] / e[0]),
    )
