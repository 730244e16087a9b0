"""Least squares: ridge at strength 0, rank-revealing, accurate to what the data determine."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.estimators.base import LinearEstimator, check_range, feature_labels
from tikhon.results import Status, StatusCode
from tikhon.solvers.least_squares import LeastSquaresFit, least_squares
from tikhon.solvers.training import Training

__all__ = ["LinearRegression"]

SMALLEST, LARGEST = 1e-295, 1e295
"""Magnitudes that the compensated products can hold."""


class LinearRegression(LinearEstimator):
    """Least squares, ``min mean (y - Xw - b)^2 / 2``.

    Columns are centred and scaled internally, the rank is decided there, and the solution is
    refined on the original numbers. Columns that the others determine are named in `status_`,
    and the coefficients of least norm are returned; with fewer rows than columns they
    interpolate the targets.

    Parameters
    ----------
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Largest relative suboptimality that counts as converged.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
    intercept_ : float or ndarray of shape (targets,)
    rank_ : int
        Rank of the centred columns.
    singular_ : ndarray
        Singular values of the centred columns, scaled to about unit spread.
    aliased_ : ndarray of int
        Columns determined by the others.
    solver_ : str
        The rung of the accuracy ladder that gave the solution.
    certificate_ : Certificate
    status_ : Status
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X = [[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 3.0]]
    >>> model = tk.LinearRegression().fit(X, [3.0, 3.0, 8.0, 7.0])
    >>> model.coef_.round(12), round(model.intercept_, 12), model.status_.code.value
    (array([1., 1.]), 0.0, 'converged')
    """

    foreign_strengths: ClassVar[dict[str, str]] = dict.fromkeys(
        ("alpha", "C", "lam"), "least squares has no strength; use tk.Ridge(lam=...)."
    )

    def __init__(self, *, fit_intercept: bool = True, tol: float = 1e-8) -> None:
        self.fit_intercept = fit_intercept
        self.tol = tol

    def _fit_checked(self, data: Data) -> None:
        check_range(data, SMALLEST, LARGEST)
        cells = Cells.of(data.labels())
        training = Training(data.design, data.y, data.s, cells, False, self.fit_intercept)
        fit = least_squares(training, self.tol)
        self.rank_, self.singular_, self.aliased_ = fit.rank, fit.singular, fit.aliased
        self.solver_ = fit.rung
        status = least_squares_status(fit, data, self.tol)
        self._store(fit.coef, fit.intercept, data, fit.certificate, status)


def least_squares_status(fit: LeastSquaresFit, data: Data, tol: float) -> Status:
    """Judge a least-squares fit; a deficiency has a remedy only if the user can mend it."""
    n, d = len(data.used), data.design.shape[1]
    if len(fit.aliased):
        named = feature_labels(data, fit.aliased)
        return Status(
            StatusCode.RANK_DEFICIENT,
            f"the rank is {fit.rank} of {d}: the other columns (or the intercept) determine "
            f"column{'s' * (len(fit.aliased) > 1)} {named}; coefficients of least norm returned.",
            "Remove these columns, or use tk.Ridge.",
        )
    if 0 <= fit.rank < d:
        return Status(
            StatusCode.RANK_DEFICIENT,
            f"{n} rows do not determine {d} coefficients (rank {fit.rank}); the solution of least "
            "norm is returned.",
        )
    gap = fit.certificate.gap
    if np.isfinite(gap) and gap > tol:
        return Status(
            StatusCode.MAX_ITER,
            f"relative suboptimality {gap:.1e}, wanted {tol:.0e}.",
            "Use tk.Ridge with a small `lam`.",
        )
    return Status(StatusCode.CONVERGED)
