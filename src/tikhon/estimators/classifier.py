"""What classifiers share: labels of any kind, class weights, decisions and what they mean.

Two classes are coded -1 and +1, ``classes_[1]`` is the positive one; K > 2 classes are coded
0 .. K-1. Class weights multiply sample weights, so solvers know nothing of either. A subclass fits
coded targets (`_fit_checked`) and decides for rows (`_decide`): one number per row where there are
two classes, positive for ``classes_[1]``, else one per class, of which the largest wins.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.data.labels import as_classified, label_text
from tikhon.estimators.base import Estimator, one_column
from tikhon.estimators.class_weight import class_factors, weigh_rows
from tikhon.results import Certificate, Status
from tikhon.selection.class_folds import ClassFolds, class_folds
from tikhon.typing import Float64Array

__all__ = ["CLASSIFIER_STRENGTHS", "Classifier", "LinearClassifier"]

CLASSIFIER_STRENGTHS = {
    "C": "C={value} multiplies a sum of losses, so `lam` = 1 / (C n), n the number of rows (the "
    "sum of their weights); for 1,000 rows {per_1000}, with standardize=False.",
    "Cs": "a grid is `lam`=tk.Grid(values=1 / (Cs * n)), n the number of training rows.",
    "alpha": "SGDClassifier's alpha={value} is `lam`={value}, with standardize=False.",
}
"""How the strengths of other packages' classifiers become `lam`."""


class Classifier(ClassifierMixin, Estimator):  # type: ignore[misc]
    """A classifier for two or more classes.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        The distinct labels, sorted.
    class_weight_ : ndarray of shape (K,)
        The factor of each class.
    """

    class_weight: Any
    classes_: npt.NDArray[Any]
    foreign_strengths: ClassVar[dict[str, str]] = CLASSIFIER_STRENGTHS

    def _read(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> Data:
        data, labels = as_classified(X, one_column(y), sample_weight=sample_weight, groups=groups)
        factors = class_factors(self.class_weight, labels, data.s)
        self.classes_ = labels.classes
        self.class_weight_ = factors
        return replace(data, s=weigh_rows(factors, labels, data.s))

    def _folds(self, folds: Any, data: Data) -> ClassFolds:
        """The rule of the folds: stratified by default, with every class in every training set."""
        count = len(self.classes_)
        codes = (-1.0, 1.0) if count == 2 else tuple(float(k) for k in range(count))
        names = tuple(label_text(label) for label in self.classes_)
        return class_folds(folds, codes, names, grouped=data.groups is not None)

    def _decide(self, design: Design) -> Float64Array:
        """Return (n,) decisions for two classes, (n, K) for more."""
        raise TypeError(f"{type(self).__name__} does not say how it decides for {design.shape}.")

    def decision_function(self, X: Any) -> Float64Array:
        """Return what decides: positive for ``classes_[1]``, or one number per class.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) for two classes, (n, K) for more
        """
        return self._decide(self._design(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the class of each row, as a label.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,)
        """
        decisions = self.decision_function(X)
        return np.asarray(self.classes_[self._chosen(decisions)])

    def _chosen(self, decisions: Float64Array) -> npt.NDArray[np.int64]:
        """The position of the class that each decision means."""
        if decisions.ndim == 1:
            return (decisions > 0).astype(np.int64)
        return np.asarray(decisions.argmax(axis=1), dtype=np.int64)


class LinearClassifier(Classifier):
    """A classifier whose decisions are ``X coef_' + intercept_``.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) for two classes, (K, d) for more
    intercept_ : ndarray of shape (1,) or (K,)
    """

    coef_: Float64Array
    intercept_: Float64Array

    def _decide(self, design: Design) -> Float64Array:
        z = np.asarray(design.predict(np.asarray(self.coef_.T, dtype=np.float64))) + self.intercept_
        return z[:, 0] if len(self.classes_) == 2 else z

    def _store(
        self,
        coef: Float64Array,
        intercept: Float64Array,
        data: Data,  # noqa: ARG002
        certificate: Certificate,
        status: Status,
    ) -> None:
        """Set the fitted attributes from (d,) or (d, K) coefficients; warn unless all is well."""
        self.coef_ = np.ascontiguousarray(coef.reshape(len(coef), -1).T)
        self.intercept_ = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        self._certify(certificate, status)
