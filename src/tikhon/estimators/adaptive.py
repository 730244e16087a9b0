"""Adaptive weights that are made anew wherever a model is fitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.estimators.base import LinearEstimator
from tikhon.estimators.ridge import Ridge
from tikhon.penalties.adaptive import adaptive_weights
from tikhon.solvers.task import generic_view
from tikhon.typing import Float64Array

__all__ = ["Adaptive"]


@dataclass(frozen=True)
class Adaptive:
    """Weights of the adaptive lasso, from a first fit to the same rows.

    ``weights_j = max(|coef_j|, floor)^-gamma``, the coefficients those of scaled columns where the
    model standardizes.

    In cross-validation the first fit is made on the rows of each training set alone, so that no
    held-out row has a say in the weights; in nested cross-validation likewise. (Weights computed
    beforehand, from all rows, make the scores of a cross-validation too good.) Where the first fit
    is the null model no column is more important than another, and all weights are 1.

    Parameters
    ----------
    first : estimator, optional
        What is fitted first: a `tk.Ridge` (the default), `tk.LinearRegression`, `tk.Lasso` or
        `tk.ElasticNet`, its own strength chosen within the training rows.
    gamma : float, default 1
        How strongly the first fit is believed, > 0.
    floor : float, optional
        Smaller coefficients count as this large; by default 1e-6 times the largest.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.Lasso(weights=tk.Adaptive()).fit(X, y)
    >>> len(model.support_) < X.shape[1]
    True
    """

    first: Any = None
    gamma: float = 1.0
    floor: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.gamma < np.inf:
            raise ValueError(f"`gamma` must be > 0 and finite, got {self.gamma}.")
        if self.first is not None and not isinstance(self.first, LinearEstimator):
            raise UnsupportedError(
                "`first` must be one of tikhon's linear estimators, such as tk.Ridge(), got "
                f"{self.first!r}. For coefficients from elsewhere pass "
                "`weights`=tk.penalties.adaptive_weights(coef)."
            )

    def weights(self, data: Data, *, standardize: bool, intercept: bool) -> Float64Array:
        """Fit some rows and return the weights, shape (d,)."""
        model = Ridge() if self.first is None else clone(self.first)
        model._fit_checked(data)  # noqa: SLF001
        scale = generic_view(data.design, data.s, standardize=standardize, intercept=intercept)
        sizes = np.abs(np.atleast_2d(model.coef_)) * scale.scale
        size = np.sqrt((sizes**2).sum(axis=0))
        return adaptive_weights(size, self.gamma, self.floor) if size.any() else np.ones(len(size))
