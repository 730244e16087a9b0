"""Least squares as a classifier: ridge regression on targets -1 and +1, one column per class.

The decision is the fitted value, and the largest wins. All classes are targets of one ridge
problem, so they share its decomposition and cost little more than one. The fitted values are no
probabilities; lecture 004 has the comparison with logistic regression.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.errors import DataWarning, UnsupportedError, warn_user
from tikhon.estimators.base import check_range
from tikhon.estimators.classifier import LinearClassifier
from tikhon.estimators.linear_regression import least_squares_status
from tikhon.estimators.strength import as_strength
from tikhon.paths.grid import Grid
from tikhon.paths.ridge_path import ridge_path, ridge_status
from tikhon.results import Path
from tikhon.selection.nested import nest, outer_folds
from tikhon.selection.ridge_study import RidgeStudy, study_ridge
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import Score, as_class_score
from tikhon.selection.study import Study
from tikhon.solvers.choose import plan_ridge
from tikhon.solvers.least_squares import SAFE_LARGEST, SAFE_SMALLEST, least_squares
from tikhon.solvers.ridge import ridge_refined
from tikhon.solvers.training import Machine, Training

__all__ = ["RidgeClassifier"]


class RidgeClassifier(LinearClassifier):
    """Ridge regression on classes coded -1 and +1: least squares as a classifier.

    ``min mean (y - Xw - b)^2 / 2 + lam ||w||^2 / 2``, for each class against the rest where there
    are more than two. The strength is chosen by cross-validation over a grid, all
    folds, strengths and classes at once, unless it is given. The intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        scikit-learn's ``RidgeClassifier(alpha)`` is ``lam = alpha / n`` with standardize=False.
    class_weight : "balanced" or dict, optional
        Multiplies the weights of the rows of a class.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        Stratified; 10 by default, fewer where a class has fewer rows.
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        "accuracy" (default), "balanced_accuracy", "f1", "precision", "recall", "auc",
        "squared_error", a `tk.Score` or a cost function of (y, decisions).
    nested : bool or int, default False
        Cross-validate the choice itself: the honest score is `study_.nested`.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation.
    fit_intercept : bool, default True
    solver : {"auto", "tall", "wide", "iterative"}, default "auto"
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.

    Attributes
    ----------
    coef_ : ndarray of shape (1, d) for two classes, (K, d) for more
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray of shape (K,)
    class_weight_ : ndarray of shape (K,)
    lam_ : float
    lam_1se_ : float
    path_ : Path
    study_ : Study or None
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.RidgeClassifier().fit(X, y > 150)
    >>> model.classes_, model.status_ == "converged"
    (array([False,  True]), True)
    >>> model.study_.score, bool(model.score(X, y > 150) > 0.7)
    ('accuracy', True)
    """

    study_: Study | None
    path_: Path

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        class_weight: Any = None,
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        nested: bool | int = False,
        standardize: bool = True,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-8,
    ) -> None:
        self.lam = lam
        self.class_weight = class_weight
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.nested = nested
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.tol = tol

    def _fit_checked(self, data: Data) -> None:
        check_range(data, SAFE_SMALLEST, SAFE_LARGEST)
        as_rule(self.rule)
        self.lam_1se_ = float("nan")
        lam = as_strength(self.lam, self.nested)
        if len(self.classes_) > 2:
            hot = data.y == np.arange(len(self.classes_))
            data = replace(data, y=np.where(hot, 1.0, -1.0), one_target=False)
        if isinstance(lam, Grid):
            self._fit_grid(data, lam)
        else:
            self.study_ = None
            self._fit_strength(data, lam)

    def _fit_grid(self, data: Data, grid: Grid) -> None:
        if isinstance(self.folds, str):
            raise UnsupportedError(
                f"folds={self.folds!r} has a closed form for the squared error only, which says "
                "little of classes; use a number."
            )
        folds, score = self._folds(self.folds, data), as_class_score(self.scoring)
        outer = outer_folds(folds, self.nested, grouped=data.groups is not None)

        def chosen_on(rows: Data) -> RidgeStudy:
            return self._study(rows, grid, folds, score)

        found = chosen_on(data)
        study = found.study
        if outer is not None:
            study = nest(
                study, data, lambda rows: chosen_on(rows).study, outer, score, supports=False
            )
        self.study_ = study
        self.path_ = study.path
        if np.isfinite(study.se).any():
            self.lam_1se_ = study.lam("1se")
        if study.at_edge and isinstance(self.lam, Grid) and study.lam("min") > 0:
            warn_user(
                f"the best strength, {study.lam('min'):.3g}, is the {study.at_edge} of the grid; "
                "widen the grid to see whether a better one lies beyond.",
                DataWarning,
            )
        self._finish(data, found.machine, study.lam())

    def _study(self, data: Data, grid: Grid, folds: Any, score: Score) -> RidgeStudy:
        return study_ridge(
            data,
            grid,
            folds=folds,
            rule=self.rule,
            score=score,
            standardize=self.standardize,
            intercept=self.fit_intercept,
            solver=self.solver,
            tol=self.tol,
        )

    def _training(self, data: Data) -> Training:
        cells = Cells.of(data.labels())
        return Training(data.design, data.y, data.s, cells, self.standardize, self.fit_intercept)

    def _fit_strength(self, data: Data, lam: float) -> None:
        machine = plan_ridge(*data.design.shape, self.solver).machine(
            self._training(data), lambda _: lam, self.tol
        )
        self.path_ = ridge_path(
            machine,
            np.array([lam]),
            tol=self.tol,
            one_target=data.one_target,
            feature_names=data.feature_names,
        )
        if lam > 0:
            self._finish(data, machine, lam)
            return
        fit = least_squares(self._training(data), self.tol)
        self.lam_, self.solver_ = 0.0, fit.rung
        status = least_squares_status(fit, data, self.tol)
        self._store(fit.coef, fit.intercept, data, fit.certificate, status)

    def _finish(self, data: Data, machine: Machine, lam: float) -> None:
        """Refine the chosen strength on the rows and store it."""
        lams = np.full((1, data.y.shape[1]), lam)
        fit = ridge_refined(machine.frame, machine.spectrum, lams, tol=self.tol, corrections=1)
        certificate = fit.certificates[0]
        self.lam_, self.solver_ = lam, machine.name
        status = ridge_status(certificate.gap, self.tol)
        self._store(fit.coefs[0], fit.intercepts[0], data, certificate, status)
