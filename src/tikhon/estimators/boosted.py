"""Boosting the confidence: from a small expected excess to a small excess with high probability.

Fit the estimator on ``k = ceil(log2(1 / delta))`` parts of the rows, and keep the fit with the
least loss on one further part. If each fit has an excess of at most eps with probability 1/2, the
best of them has with probability ``1 - delta``, and choosing among k costs log k only.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from tikhon.data.coerce import Data, as_data, as_design
from tikhon.errors import UnsupportedError
from tikhon.selection.folds import Folds, Grouped, KFold, Stratified
from tikhon.selection.split import Rows
from tikhon.selection.study import fold_of_rows
from tikhon.theory.bounds import Bound, finite_class
from tikhon.theory.refit import table_of
from tikhon.typing import Float64Array, IntArray

__all__ = ["Boosted"]


def _estimator_has(name: str) -> Any:
    return available_if(lambda self: hasattr(self.estimator, name))


class Boosted(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Fit on k parts of the rows, keep what does best on one more part of the same size.

    The lecture's passage from expectation to high probability. What it costs: each fit sees one
    part in ``k + 1`` of the rows. What it buys: the price of a failure probability of delta is its
    logarithm, where Markov's inequality divides by delta.

    Parameters
    ----------
    estimator : estimator
        Regressor or classifier; cloned for each part.
    delta : float, default 0.05
        Probability of failure: ``k = ceil(log2(1 / delta))`` parts.
    seed : int, default 0
        Rows are dealt by content, as folds are: `groups` stay whole, and classes are spread evenly.

    Attributes
    ----------
    estimator_ : estimator
        The chosen fit.
    estimators_ : list of estimator
        One per part.
    losses_ : ndarray of shape (k,)
        Of each on the validation part: squared error for a regressor, error rate for a classifier.
    best_ : int
    part_ : ndarray of int, shape (n,)
        The part of each row; k is the one that chooses, -1 that of rows of weight 0.
    bound_ : Bound
        How far the k validation losses can be from their risks, per unit of the loss's range.
    classes_ : ndarray, of a classifier
    n_features_in_ : int

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = Boosted(tk.Ridge(lam=0.1), delta=0.1).fit(X, y)
    >>> len(model.estimators_), int(model.losses_.argmin()) == model.best_
    (4, True)
    """

    def __init__(self, estimator: Any, delta: float = 0.05, *, seed: int = 0) -> None:
        self.estimator = estimator
        self.delta = delta
        self.seed = seed

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        tags.target_tags = inner.target_tags
        tags.input_tags = inner.input_tags
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Deal the rows, fit each part, choose.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,) or (n, targets)
        sample_weight : array of shape (n,), optional
        groups : array of shape (n,), optional
            Rows of a group stay together.

        Returns
        -------
        self
        """
        if not 0 < self.delta < 1:
            raise ValueError(f"`delta` must be between 0 and 1, got {self.delta}.")
        classifier = is_classifier(self.estimator)
        labels = np.asarray(y)
        if classifier:
            names, codes = np.unique(labels, return_inverse=True)
            data = as_data(X, codes.astype(np.float64), sample_weight=sample_weight, groups=groups)
        else:
            data = as_data(X, y, sample_weight=sample_weight, groups=groups)
        validate_data(self, X, skip_check_array=True)
        k = max(1, math.ceil(math.log2(1.0 / self.delta)))
        self.part_ = self._dealt(data, k + 1, classifier=classifier)
        table = table_of(X)
        self.estimators_ = []
        for part in range(k):
            rows = np.flatnonzero(self.part_ == part)
            arguments = {} if data.s is None else {"sample_weight": data.s[rows]}
            if classifier and len(np.unique(labels[rows])) < len(names):
                raise ValueError(
                    f"part {part} of {k} lacks a class: {len(rows)} rows hold "
                    f"{len(np.unique(labels[rows]))} of {len(names)} classes. Use a larger `delta` "
                    "(fewer parts) or more rows."
                )
            self.estimators_.append(
                clone(self.estimator).fit(table[rows], labels[rows], **arguments)
            )
        rows = np.flatnonzero(self.part_ == k)
        s = None if data.s is None else data.s[rows]
        self.losses_ = np.array(
            [
                _loss(fit.predict(table[rows]), labels[rows], s, classifier)
                for fit in self.estimators_
            ]
        )
        self.best_ = int(np.argmin(self.losses_))
        self.estimator_ = self.estimators_[self.best_]
        self.bound_: Bound = finite_class(k, len(rows), self.delta)
        if classifier:
            self.classes_ = names
        return self

    def _dealt(self, data: Data, parts: int, *, classifier: bool) -> IntArray:
        """The part of each row, by content: -1 for rows of weight 0."""
        rule: Folds = KFold(parts, seed=self.seed)
        if data.groups is not None:
            rule = Grouped(parts)
        elif classifier:
            rule = Stratified(parts, seed=self.seed)
        split = rule.split(Rows(data.design, data.y, data.used, data.groups))
        dealt = fold_of_rows(split)
        assert dealt is not None
        return dealt

    def predict(self, X: Any) -> Any:
        """Predict by the chosen fit."""
        return self._chosen(X).predict(X)

    @_estimator_has("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the class probabilities of the chosen fit."""
        return self._chosen(X).predict_proba(X)

    @_estimator_has("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the scores of the chosen fit."""
        return self._chosen(X).decision_function(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the chosen fit as its own estimator scores."""
        return float(self._chosen(X).score(X, y, sample_weight=sample_weight))

    def _chosen(self, X: Any) -> Any:
        check_is_fitted(self)
        as_design(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return self.estimator_

    @property
    def coef_(self) -> Float64Array:
        """Coefficients of the chosen fit."""
        return np.asarray(self._linear("coef_"))

    @property
    def intercept_(self) -> Any:
        """Intercept of the chosen fit."""
        return self._linear("intercept_")

    @property
    def certificate_(self) -> Any:
        """Certificate of the chosen fit."""
        return self._linear("certificate_")

    @property
    def status_(self) -> Any:
        """Status of the chosen fit."""
        return self._linear("status_")

    def _linear(self, name: str) -> Any:
        if not hasattr(self, "estimator_") or not hasattr(self.estimator_, name):
            raise AttributeError(f"Boosted has no `{name}` before a model that has one is fitted.")
        return getattr(self.estimator_, name)


def _loss(z: Any, y: Any, s: Float64Array | None, classifier: bool) -> float:
    """Error rate, or mean squared error over rows and targets."""
    if classifier:
        return float(np.average(np.asarray(z) != y, weights=s))
    squares = (np.asarray(z, dtype=np.float64) - np.asarray(y, dtype=np.float64)) ** 2
    if squares.ndim > 2:
        raise UnsupportedError(f"predictions of shape {squares.shape} cannot be judged.")
    rows = squares if squares.ndim == 1 else squares.mean(axis=1)
    return float(np.average(rows, weights=s))
