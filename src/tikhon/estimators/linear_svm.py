"""Linear support vector machines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from tikhon.data.coerce import Data, as_design
from tikhon.data.design import Design
from tikhon.errors import UnsupportedError
from tikhon.estimators.stream import Stream, streams
from tikhon.estimators.support import FittedSupport
from tikhon.estimators.support_classifier import SupportClassifier
from tikhon.paths.grid import Grid
from tikhon.problem.support import check_offset
from tikhon.selection.rules import Rule
from tikhon.solvers.support_machine import SupportMachine
from tikhon.typing import Float64Array

__all__ = ["LinearSVM"]

LOSSES = ("hinge", "squared_hinge")


class LinearSVM(SupportClassifier):
    """The linear support vector machine, ``min mean loss(y (x . w + b)) + lam ||w||^2 / 2``.

    The loss is ``max(0, 1 - y z)``, or half its square. The offset b is never penalised unless
    that is asked for. The strength is chosen by cross-validation unless it is given.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 10 strengths, a `Grid` its own. ``LinearSVC(C)`` is ``lam = 1 / (C n)``, and
        ``1 / (2 C n)`` for its squared hinge, which has no half; with standardize=False.
    loss : {"hinge", "squared_hinge"}, default "hinge"
    multiclass : {"one_vs_rest", "one_vs_one"}, default "one_vs_rest"
    class_weight : "balanced" or dict, optional
    offset : {"constraint", "none", "augmented"}, default "constraint"
        A free offset; none; or one that is penalised like a coefficient, as LIBLINEAR does.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default, stratified. With a given `lam` folds are used for probabilities only.
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        "accuracy" (default), "balanced_accuracy", "f1", "precision", "recall", "auc", ...
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X.
    solver : {"auto", "dual_descent", "newton"}, default "auto"
        Descent on dual coefficients, or an augmented Lagrangian with Newton steps.
    tol : float, default 1e-6
        Largest duality gap, relative to the null model's objective, that counts as converged.
    max_seconds : float, optional

    Attributes
    ----------
    coef_ : ndarray of shape (machines, d)
    intercept_ : ndarray of shape (machines,)
    classes_ : ndarray of shape (K,)
    support_, support_vectors_, dual_coef_, margins_, at_bound_, slackness_, n_support_
        As those of `SVM`; coefficients are those of columns as they are penalised.
    margin_ : float or ndarray of shape (machines,)
        ``1 / ||w||``, in columns as they are penalised.
    lam_, lam_1se_ : float
    path_ : Path
    study_ : Study or None
    calibration_ : Calibration or None
    certificate_ : Certificate
        The worst of the machines.
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.LinearSVM(lam=0.01).fit(X, y > 150)
    >>> model.status_ == "converged", model.certificate_.gap <= 1e-6
    (True, True)
    >>> bool(model.score(X, y > 150) > 0.7)
    True
    """

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        loss: str = "hinge",
        multiclass: str = "one_vs_rest",
        class_weight: Any = None,
        offset: str = "constraint",
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        standardize: bool = True,
        solver: str = "auto",
        tol: float = 1e-6,
        max_seconds: float | None = None,
    ) -> None:
        self.lam = lam
        self.loss = loss
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.offset = offset
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.solver = solver
        self.tol = tol
        self.max_seconds = max_seconds

    def _machines(self) -> list[SupportMachine]:
        if self.loss not in LOSSES:
            raise ValueError(
                f"`loss` must be one of {', '.join(map(repr, LOSSES))}, got {self.loss!r}."
            )
        offset = check_offset(self.offset)
        return [
            SupportMachine(
                None, self.loss, 0.0, offset, bool(self.standardize), self.solver, self.tol, 0
            )
        ]

    def _keep(self, data: Data, fitted: FittedSupport) -> None:
        self.coef_ = np.array([each.coef for each in fitted.solutions])
        super()._keep(data, fitted)

    def _decide(self, design: Design) -> Float64Array:
        values = np.asarray(design.predict(np.asarray(self.coef_.T))) + self.intercept_
        return self._together(values)

    def _streams(self) -> bool:
        if not streams(self.lam, self.loss, self.offset, standardize=bool(self.standardize)):
            raise UnsupportedError(
                "`partial_fit` learns by Pegasos, which takes a number for `lam`, loss='hinge', "
                "standardize=False (the spread of rows to come is not known), and an offset that "
                "is free or absent."
            )
        return True

    @available_if(_streams)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn from some rows as they come, by one pass of Pegasos; see `tk.solvers.Pegasos`.

        The first call starts at zero, whether or not `fit` was called before. `steps_` counts the
        rows learned from. For several classes there is one machine for each against the rest. What
        has no certificate is not kept: `certificate_` and `status_` belong to `fit`.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,)
        classes : array of shape (K,), optional
            All labels there will be; needed in the first call, unless those of `fit` are meant.
        sample_weight : array of shape (n,), optional

        Returns
        -------
        self
        """
        first = not hasattr(self, "_stream")
        if first:
            if classes is None and not hasattr(self, "classes_"):
                raise ValueError("`classes` must name all labels in the first call, got None.")
            self.classes_ = self.classes_ if classes is None else np.unique(classes)
        design = as_design(X)
        validate_data(self, X, reset=first, skip_check_array=True)
        if first:
            free = self.offset == "constraint"
            self._stream = Stream.begin(float(self.lam), design.shape[1], self.classes_, free=free)
        self._stream.learn(X, y, sample_weight)
        self.coef_, self.intercept_ = self._stream.coef, self._stream.intercept
        self.steps_ = self._stream.steps
        return self
