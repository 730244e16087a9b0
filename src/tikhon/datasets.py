"""Small real data sets, and simulators whose truth is known."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["DIABETES_FEATURES", "Simulation", "diabetes", "linear"]

DIABETES_FEATURES = ("age", "sex", "bmi", "bp", "s1", "s2", "s3", "s4", "s5", "s6")
"""Column names of `diabetes`."""


def diabetes() -> tuple[Float64Array, Float64Array]:
    """Return ten measurements of 442 patients, and the progression of their disease.

    Original units, not standardised. See `DIABETES_FEATURES` for the columns.

    Returns
    -------
    X : ndarray of shape (442, 10)
    y : ndarray of shape (442,)

    Examples
    --------
    >>> X, y = diabetes()
    >>> X.shape, y[:3]
    ((442, 10), array([151.,  75., 141.]))
    """
    text = resources.files("tikhon").joinpath("_bundled", "diabetes.csv").read_text("utf-8")
    rows = list(csv.reader(text.splitlines()))
    table = np.array(rows[1:], dtype=np.float64)
    return np.ascontiguousarray(table[:, :-1]), np.ascontiguousarray(table[:, -1])


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """Simulated data and the truth behind them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    coef : ndarray of shape (d,)
    intercept : float
    noise : float
        Standard deviation of ``y - X coef - intercept``.
    """

    X: Float64Array
    y: Float64Array
    coef: Float64Array
    intercept: float
    noise: float


def linear(
    n: int,
    d: int,
    *,
    nonzero: int | None = None,
    correlation: float = 0.5,
    snr: float = 3.0,
    intercept: float = 1.0,
    seed: int = 0,
) -> Simulation:
    """Simulate ``y = X w + b + noise`` with columns correlated as ``correlation^|i - j|``.

    Parameters
    ----------
    n, d : int
        Rows and columns.
    nonzero : int, optional
        Coefficients that are not zero; all by default.
    correlation : float, default 0.5
        Correlation of neighbouring columns, in (-1, 1).
    snr : float, default 3.0
        Variance of ``X w`` over variance of the noise.
    intercept : float, default 1.0
    seed : int, default 0

    Examples
    --------
    >>> data = linear(1000, 5, nonzero=2)
    >>> data.X.shape, int((data.coef != 0).sum())
    ((1000, 5), 2)
    """
    if not -1 < correlation < 1:
        raise ValueError(f"`correlation` must be in (-1, 1), got {correlation}.")
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    step = np.sqrt(1.0 - correlation**2)
    for j in range(1, d):
        X[:, j] = correlation * X[:, j - 1] + step * X[:, j]
    coef = np.zeros(d)
    chosen = rng.permutation(d)[: d if nonzero is None else nonzero]
    coef[chosen] = rng.standard_normal(len(chosen))
    signal = X @ coef
    noise = float(np.sqrt(np.var(signal) / snr)) if len(chosen) else 1.0
    y = signal + intercept + noise * rng.standard_normal(n)
    return Simulation(X, y, coef, intercept, noise)
