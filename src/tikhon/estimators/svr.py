"""Support vector regression: errors up to a tube cost nothing, larger ones their size."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from tikhon.data.coerce import Data
from tikhon.estimators.base import Estimator
from tikhon.estimators.support import (
    FittedSupport,
    as_kernels,
    cache_bytes,
    clock,
    fit_machines,
    outcome,
    strength_of,
    support_vectors,
)
from tikhon.kernel import Linear
from tikhon.losses import EpsilonInsensitive
from tikhon.paths.grid import Grid
from tikhon.problem.support import check_offset
from tikhon.results import Path
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import as_score
from tikhon.selection.study import Study
from tikhon.selection.support_study import SupportTasks, path_of
from tikhon.solvers.support_kernel import Expansion
from tikhon.solvers.support_machine import SupportMachine, Task
from tikhon.solvers.support_path import SupportPath
from tikhon.typing import Float64Array

__all__ = ["SVR"]


class SVR(RegressorMixin, Estimator):  # type: ignore[misc]
    """Support vector regression, ``min mean max(0, |y - f(x) - b| - epsilon) + lam ||f||^2 / 2``.

    Rows within the tube have no coefficient. The strength is chosen by cross-validation unless it
    is given. With several targets each has a machine of its own.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        ``SVR(C)`` of scikit-learn is ``lam = 1 / (C n)`` with standardize=False.
    kernel : str, kernel, callable or list, default "rbf"
        As for `SVM`. With "linear" the machine is solved for its coefficients.
    epsilon : float, default 0.1
        Half the width of the tube, in the units of y.
    offset : {"constraint", "none", "augmented"}, default "constraint"
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        "squared_error" (default), "absolute_error", "r2", "loss", a `tk.Score` or a cost function.
    standardize : bool, default True
        Divide columns by their standard deviation, within each fold.
    tol : float, default 1e-6
        Largest duality gap, relative to the null model's objective, that counts as converged.
    max_seconds : float, optional
    cache_mb : float, default 1000
        Megabytes for rows of kernel matrices.

    Attributes
    ----------
    support_ : ndarray of int
    support_vectors_ : ndarray or sparse array
    dual_coef_ : ndarray of shape (targets, support)
    intercept_ : float or ndarray of shape (targets,)
    coef_ : ndarray of shape (d,) or (targets, d)
        For the linear kernel, on the scale of X.
    at_bound_ : ndarray of bool, shape (support,) or (targets, support)
        Whether the coefficient is at the end of its box: the row is outside the tube.
    slackness_ : ndarray of shape (n,) or (targets, n)
        Each row's share of the duality gap.
    lam_, lam_1se_ : float
    kernel_ : kernel
    path_ : Path
    study_ : Study or None
    studies_ : tuple of Study
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.SVR(lam=1e-5, epsilon=10.0).fit(X, y)
    >>> model.status_ == "converged", model.certificate_.gap <= 1e-6
    (True, True)
    """

    foreign_strengths: ClassVar[dict[str, str]] = {
        "C": "C={value} multiplies a sum of losses, so `lam` = 1 / (C n), n the number of rows "
        "(the sum of their weights); for 1,000 rows {per_1000}, with standardize=False.",
    }
    study_: Study | None
    path_: Path

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        kernel: Any = "rbf",
        epsilon: float = 0.1,
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
        self.epsilon = epsilon
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
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _machines(self) -> list[SupportMachine]:
        if not (self.epsilon >= 0 and np.isfinite(self.epsilon)):
            raise ValueError(f"`epsilon` must be finite and >= 0, got {self.epsilon}.")
        return [
            SupportMachine(
                None if isinstance(kernel, Linear) else kernel,
                "tube",
                float(self.epsilon),
                check_offset(self.offset),
                bool(self.standardize),
                "auto",
                self.tol,
                cache_bytes(self.cache_mb),
            )
            for kernel in as_kernels(self.kernel)
        ]

    def _fit_checked(self, data: Data) -> None:
        as_rule(self.rule)
        everyone = np.ones(len(data.y), dtype=np.bool_)
        columns = [np.ascontiguousarray(column) for column in data.y.T]
        tasks = SupportTasks([Task(y, everyone) for y in columns], lambda values: values)
        lam = strength_of(self.lam)
        fitted = fit_machines(
            self._machines(),
            data,
            tasks,
            lam,
            folds=self.folds,
            rule=self.rule,
            score=as_score(self.scoring or "squared_error", EpsilonInsensitive(self.epsilon)),
            stop=clock(self.max_seconds),
            user_grid=isinstance(self.lam, Grid),
        )
        self._keep(data, fitted)

    def _keep(self, data: Data, fitted: FittedSupport) -> None:
        """Set the fitted attributes."""
        solutions, support = fitted.solutions, fitted.support
        one = data.one_target
        self._expansion: Expansion | None = None
        self.kernel_: Any = Linear()
        if solutions[0].coef is None:
            self._expansion = fitted.expansion
            self.kernel_ = self._expansion.kernel
        else:
            coefs = np.array([each.coef for each in solutions])
            self.coef_ = coefs[0] if one else coefs
        self.intercept_ = float(fitted.offsets[0]) if one else fitted.offsets
        self.lam_ = solutions[0].lam
        self.study_ = None if fitted.chosen is None else fitted.chosen.study
        self.studies_ = tuple(each.study for each in fitted.studies)
        self.lam_1se_ = float("nan")
        if self.study_ is not None and np.isfinite(self.study_.se).any():
            self.lam_1se_ = self.study_.lam("1se")
        if self.study_ is not None:
            self.path_ = self.study_.path
        else:
            paths = [SupportPath((each,), fitted.solver, 0.0) for each in solutions]
            self.path_ = path_of(paths, np.array([self.lam_]), data)
        self.solver_ = self.path_.solver
        self.support_ = support
        self.support_vectors_ = support_vectors(data.design, support)
        self.dual_coef_ = np.array([each.beta[support] for each in solutions])
        bound, slack = fitted.at_bound[:, support], np.array([each.slack for each in solutions])
        self.at_bound_ = bound[0] if one else bound
        self.slackness_ = slack[0] if one else slack
        self._certify(*outcome(fitted))

    def predict(self, X: Any) -> Float64Array:
        """Predict the target of each row.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n,) or (n, targets)
        """
        design = self._design(X)
        if self._expansion is None:
            return np.asarray(design.predict(np.asarray(self.coef_.T)) + self.intercept_)
        values = self._expansion.values(design) + self.intercept_
        return values[:, 0] if np.ndim(self.intercept_) == 0 else values
