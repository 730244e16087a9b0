"""Regressors whose prediction goes through a link, with an offset: counts, amounts, any loss.

The linear predictor is ``z = x . w + b + offset``; what is predicted is the mean that z stands for.
An offset is known and has the coefficient 1. Where counts have an exposure (months watched, people
asked), the offset is its logarithm, and coefficients are those of the rate.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tikhon.data.coerce import Data, as_data, as_offset
from tikhon.errors import Problems, UnsupportedError
from tikhon.estimators.base import one_column
from tikhon.estimators.penalised import PenalisedRegressor
from tikhon.estimators.penalty import as_penalty
from tikhon.penalties.base import Penalty
from tikhon.problem.null import best_constant
from tikhon.selection.scores import loss_score
from tikhon.solvers.targets import check_offset, check_targets
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["MeanRegressor", "RateRegressor"]


class MeanRegressor(PenalisedRegressor):
    """A regressor that predicts the mean its loss's link stands for, with an offset."""

    penalty: Any

    def _penalty(self, data: Data) -> Penalty:  # noqa: ARG002
        return as_penalty(self.penalty)

    def _check_options(self) -> None:
        """Refuse wrong options before the data are looked at."""
        as_penalty(self.penalty)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,), or (n, targets) where there may be several
        sample_weight : array of shape (n,), optional
            Weight 2 is the row twice, weight 0 is no row.
        groups : array of shape (n,), optional
            Rows of a group are held out together in cross-validation.
        offset : array of shape (n,), optional
            Added to the linear predictor of each row.

        Returns
        -------
        self

        Raises
        ------
        InputError
            Listing everything that is wrong with the input.
        """
        return self._fit_with(X, y, sample_weight, groups, offset)

    def _fit_with(self, X: Any, y: Any, sample_weight: Any, groups: Any, offset: Any) -> Self:
        self._check_options()
        data = as_data(X, y, sample_weight=sample_weight, groups=groups, offset=offset)
        check_offset(self._loss, data)
        check_targets(self._loss, data)
        return self._fit_data(X, data)

    def predict(self, X: Any, offset: ArrayLike | None = None) -> Float64Array:
        """Predict the mean target of each row: through the loss's link, where it has one.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        offset : array of shape (n,), optional
            0 by default, whatever it was in `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        z = self.linear_predictor(X, offset)
        return z if self._loss.link_name == "none" else np.asarray(self._loss.inverse_link(z))

    def linear_predictor(self, X: Any, offset: ArrayLike | None = None) -> Float64Array:
        """Return ``X coef_ + intercept_ + offset``, before the inverse of the link.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        offset : array of shape (n,), optional

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        z = super().predict(X)
        problems = Problems()
        added = as_offset(offset, len(z), problems)
        problems.raise_if_any()
        if added is None:
            return z
        return z + (added[:, 0] if z.ndim == 1 else added)


class RateRegressor(MeanRegressor):
    """A regressor with a logarithmic link, for which an exposure is an offset."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        groups: Any = None,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,) or (n, targets)
            Totals: with an exposure, what was counted over all of it.
        sample_weight : array of shape (n,), optional
            Weight 2 is the row twice, weight 0 is no row.
        groups : array of shape (n,), optional
            Rows of a group are held out together in cross-validation.
        offset : array of shape (n,), optional
            Added to the linear predictor of each row.
        exposure : array of shape (n,), optional
            Its logarithm is added to the linear predictor; positive.

        Returns
        -------
        self

        Raises
        ------
        InputError
            Listing everything that is wrong with the input.
        """
        added = _with_exposure(offset, exposure)
        return self._fit_with(X, one_column(y), sample_weight, groups, added)

    def predict(
        self, X: Any, offset: ArrayLike | None = None, exposure: ArrayLike | None = None
    ) -> Float64Array:
        """Predict the mean of each row: the rate, times the exposure if one is given.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        offset : array of shape (n,), optional
        exposure : array of shape (n,), optional
            1 by default, whatever it was in `fit`.

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        return super().predict(X, _with_exposure(offset, exposure))

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        """Return the share of the null model's deviance that the model explains.

        The null model is the best constant rate on these rows, with the same offset.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,) or (n, targets)
        sample_weight : array of shape (n,), optional
        offset, exposure : array of shape (n,), optional

        Returns
        -------
        float
            1 for perfect predictions, 0 for those of the null model.
        """
        check_is_fitted(self)
        added = _with_exposure(offset, exposure)
        data = as_data(X, y, sample_weight=sample_weight, offset=added)
        check_targets(self._loss, data)
        z = self.linear_predictor(X, added).reshape(len(data.y), -1)
        shift = np.zeros((len(z), 1)) if data.offset is None else data.offset
        null = np.broadcast_to(
            best_constant(self._loss, data.y, data.s, data.offset) + shift, z.shape
        )
        deviance = loss_score(self._loss, times=2.0)
        worst, left = deviance(data.y, null, data.s), deviance(data.y, z, data.s)
        return 1.0 - left / worst if worst > 0 else float(left <= 0)


def _with_exposure(offset: Any, exposure: Any) -> Any:
    """The offset, with the logarithm of the exposure added."""
    if exposure is None:
        return offset
    given = np.asarray(exposure, dtype=np.float64)
    bad = np.flatnonzero(~((given > 0) & np.isfinite(given)).reshape(len(given), -1).all(axis=1))
    if bad.size:
        problems = Problems()
        problems.add(
            "exposure",
            "`exposure` must be positive and finite",
            "Drop rows that were not exposed: they say nothing of the rate.",
            row=int(bad[0]),
            value=str(given[bad[0]]),
            count=int(bad.size),
        )
        problems.raise_if_any()
    added = np.log(given)
    if offset is None:
        return added
    other = np.asarray(offset, dtype=np.float64)
    if other.shape != added.shape:
        raise UnsupportedError(
            f"`offset` has shape {other.shape} and `exposure` {added.shape}: give one of them."
        )
    return other + added
