"""Support vector machines with kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags

from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.estimators.support import FittedSupport, as_kernels, cache_bytes
from tikhon.estimators.support_classifier import SupportClassifier
from tikhon.kernel import Kernel, Linear
from tikhon.paths.grid import Grid
from tikhon.problem.support import check_offset
from tikhon.selection.rules import Rule
from tikhon.solvers.support_kernel import Expansion
from tikhon.solvers.support_machine import SupportMachine
from tikhon.typing import Float64Array

__all__ = ["SVM"]


class SVM(SupportClassifier):
    """The support vector machine, ``min mean max(0, 1 - y (f(x) + b)) + lam ||f||^2 / 2``.

    f is a combination of kernel functions at the training rows; those with a coefficient are the
    support vectors. The strength is chosen by cross-validation unless it is given.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 10 strengths, a `Grid` its own. ``SVC(C)`` is ``lam = 1 / (C n)``, n the number
        of rows (the sum of their weights), with standardize=False; for several classes too.
    kernel : str, kernel, callable or list, default "rbf"
        "linear", "polynomial", "rbf", "laplacian", "precomputed", one of `tk.kernel`, a function of
        two tables, or a list of these to choose from by cross-validation.
    multiclass : {"one_vs_one", "one_vs_rest"}, default "one_vs_one"
    class_weight : "balanced" or dict, optional
    offset : {"constraint", "none", "augmented"}, default "constraint"
        A free offset, which makes the dual coefficients sum to zero; none; or one that is penalised
        like a coefficient, for comparison.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default, stratified. With a given `lam` folds are used for probabilities only.
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        "accuracy" (default), "balanced_accuracy", "f1", "precision", "recall", "auc", ...
    standardize : bool, default True
        Divide columns by their standard deviation, within each fold; for the polynomial kernel
        also move their mean to 0. Not for "precomputed" and functions, which see the table as it
        is. False, with a given gamma, lets folds share one kernel matrix, which is faster.
    tol : float, default 1e-6
        Largest duality gap, relative to the null model's objective, that counts as converged.
    max_seconds : float, optional
    cache_mb : float, default 1000
        Megabytes for rows of kernel matrices.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
    support_ : ndarray of int
        Rows with a dual coefficient, ascending.
    support_vectors_ : ndarray or sparse array
    dual_coef_ : ndarray of shape (machines, support)
        ``y_i alpha_i``.
    intercept_ : ndarray of shape (machines,)
    coef_ : ndarray of shape (machines, d)
        For the linear kernel, on the scale of X.
    margins_ : ndarray of shape (support,) or (machines, support)
        ``y_i (f(x_i) + b)``: 1 on the margin, less within.
    at_bound_ : ndarray of bool, likewise
        Whether ``alpha_i = C``: the row is on the wrong side of the margin.
    margin_ : float or ndarray of shape (machines,)
        ``1 / ||f||``.
    slackness_ : ndarray of shape (n,) or (machines, n)
        Each row's share of the duality gap: complementary slackness.
    n_support_ : ndarray of int, shape (K,)
    lam_, lam_1se_ : float
    kernel_ : kernel
        With its parameters as numbers.
    path_ : Path
        Dual coefficients along the grid.
    study_ : Study or None
    studies_ : tuple of Study
        One for each kernel tried.
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
    >>> model = tk.SVM(lam=1e-3).fit(X, y > 150)
    >>> model.status_ == "converged", model.certificate_.gap <= 1e-6
    (True, True)
    >>> bool(abs(model.dual_coef_.sum()) < 1e-9)
    True
    """

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        kernel: Any = "rbf",
        multiclass: str = "one_vs_one",
        class_weight: Any = None,
        offset: str = "constraint",
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        standardize: bool = True,
        tol: float = 1e-6,
        max_seconds: float | None = None,
        cache_mb: float = 1000.0,
    ) -> None:
        self.lam = lam
        self.kernel = kernel
        self.multiclass = multiclass
        self.class_weight = class_weight
        self.offset = offset
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.tol = tol
        self.max_seconds = max_seconds
        self.cache_mb = cache_mb

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _machines(self) -> list[SupportMachine]:
        return [
            SupportMachine(
                None if isinstance(kernel, Linear) else kernel,  # solved for its coefficients
                "hinge",
                0.0,
                check_offset(self.offset),
                bool(self.standardize),
                "auto",
                self.tol,
                cache_bytes(self.cache_mb),
            )
            for kernel in as_kernels(self.kernel)
        ]

    def _keep(self, data: Data, fitted: FittedSupport) -> None:
        self._expansion: Expansion | None = None
        self.kernel_: Kernel = Linear()
        if fitted.solutions[0].coef is None:
            self._expansion = fitted.expansion
            self.kernel_ = self._expansion.kernel
            self.__dict__.pop("coef_", None)
        else:
            self.coef_ = np.array([each.coef for each in fitted.solutions])
        self.studies_ = tuple(each.study for each in fitted.studies)
        super()._keep(data, fitted)

    def _decide(self, design: Design) -> Float64Array:
        if self._expansion is None:
            values = np.asarray(design.predict(np.asarray(self.coef_.T)))
        else:
            values = self._expansion.values(design)
        return self._together(values + self.intercept_)
