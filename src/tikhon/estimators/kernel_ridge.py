"""Kernel ridge regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags

from tikhon.data.coerce import Data
from tikhon.errors import DataWarning, UnsupportedError, warn_user
from tikhon.estimators.base import Estimator
from tikhon.estimators.strength import as_strength
from tikhon.estimators.support import as_kernels, clock, support_vectors
from tikhon.kernel import Linear
from tikhon.paths.grid import Grid
from tikhon.results import Certificate, Path, Status, StatusCode
from tikhon.selection.kernel_ridge_study import BoundRidge, bind_ridge, study_kernel_ridge
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import as_score
from tikhon.selection.study import Study
from tikhon.selection.support_study import weights_of
from tikhon.solvers.support_kernel import Expansion
from tikhon.typing import Float64Array

__all__ = ["KernelRidge"]

STRENGTHS = 20


class KernelRidge(RegressorMixin, Estimator):  # type: ignore[misc]
    """Kernel ridge regression, ``min mean (y - f(x) - b)^2 / 2 + lam ||f||^2 / 2``.

    The strength is chosen by cross-validation unless it is given; leave-one-out is exact and in
    closed form. The offset is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 20 strengths, a `Grid` its own. scikit-learn's ``KernelRidge(alpha)`` is ``lam =
        alpha / n`` with standardize=False and fit_intercept=False.
    kernel : str, kernel, callable or list, default "rbf"
        As for `SVM`; a list is chosen from.
    folds : int, "loo", one of `tk.folds`, fold numbers, or pairs, optional
        10 by default. With "loo" one decomposition serves every row and strength; the scale of the
        columns is then that of all rows.
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        "squared_error" (default), "absolute_error", "r2", a `tk.Score` or a cost function.
    standardize : bool, default True
        Divide columns by their standard deviation. Not for "precomputed" and functions.
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n,) or (n, targets)
    X_fit_ : ndarray or sparse array
        Rows of positive weight.
    intercept_ : float or ndarray of shape (targets,)
    lam_, lam_1se_ : float
    kernel_ : kernel
    df_ : float
        Effective degrees of freedom, the offset not counted; nan where no decomposition was made.
    path_ : Path
        Dual coefficients along the grid.
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
    >>> model = tk.KernelRidge(folds="loo").fit(X, y)
    >>> model.status_ == "converged", model.certificate_.gap < 1e-8
    (True, True)
    >>> model.study_.method, bool(model.score(X, y) > 0.5)
    ('loo', True)
    """

    foreign_strengths: ClassVar[dict[str, str]] = {
        "alpha": "scikit-learn's KernelRidge(alpha={value}) is `lam` = alpha / n, n the number of "
        "rows (the sum of sample weights), with standardize=False and fit_intercept=False; for "
        "1,000 rows {per_1000}.",
    }
    study_: Study | None
    path_: Path | None

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        kernel: Any = "rbf",
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_seconds: float | None = None,
    ) -> None:
        self.lam = lam
        self.kernel = kernel
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_seconds = max_seconds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def _fit_checked(self, data: Data) -> None:
        as_rule(self.rule)
        kernels, lam = as_kernels(self.kernel), as_strength(self.lam, size=STRENGTHS)
        stop = clock(self.max_seconds)
        self.studies_: tuple[Study, ...] = ()
        self.study_, self.path_ = None, None
        self.lam_1se_ = float("nan")
        if isinstance(lam, Grid):
            found = [
                study_kernel_ridge(
                    kernel,
                    data,
                    lam,
                    folds=self.folds,
                    rule=self.rule,
                    score=as_score(self.scoring),
                    standardize=self.standardize,
                    offset=self.fit_intercept,
                    stop=stop,
                )
                for kernel in kernels
            ]
            best = min(found, key=lambda each: each.study.best_cost)
            self.studies_ = tuple(each.study for each in found)
            self.study_, self.path_ = best.study, best.study.path
            if np.isfinite(best.study.se).any():
                self.lam_1se_ = best.study.lam("1se")
            self._warn_at_edge(best.study)
            self._keep(data, best.bound, best.study.lam())
            return
        if len(kernels) > 1:
            raise UnsupportedError(
                f"{len(kernels)} kernels are to be chosen from, and lam={lam} asks for no choice; "
                "use lam='cv' or a tk.Grid, or one kernel."
            )
        if lam <= 0:
            raise UnsupportedError(f"`lam` of kernel ridge must be > 0, got {lam}.")
        bound = bind_ridge(
            kernels[0],
            data,
            weights_of(data),
            standardize=self.standardize,
            offset=self.fit_intercept,
            strengths=1,
            stop=stop,
        )
        self._keep(data, bound, lam)

    def _warn_at_edge(self, study: Study) -> None:
        if study.at_edge and isinstance(self.lam, Grid) and len(study.lams) > 1:
            warn_user(
                f"the best strength, {study.lam('min'):.3g}, is the {study.at_edge} of the grid; "
                "widen the grid to see whether a better one lies beyond.",
                DataWarning,
            )

    def _keep(self, data: Data, bound: BoundRidge, lam: float) -> None:
        """Solve the chosen strength, certify it and keep it."""
        beta, b, certificate = bound.solve(lam, data.y)
        rows = bound.rows
        self._expansion: Expansion = bound.table.expansion(rows, beta[rows])
        self.kernel_ = self._expansion.kernel
        self.lam_ = float(lam)
        self.df_ = bound.fit.degrees(lam)
        self.X_fit_ = support_vectors(data.design, rows)
        self.dual_coef_ = beta[rows, 0] if data.one_target else beta[rows]
        self._offsets = b
        self.solver_ = type(bound.fit).__name__.strip("_").lower()
        shifted = b
        if isinstance(self.kernel_, Linear):
            w = (self._expansion.rows.T @ beta[rows]).T / self._expansion.scale
            shifted = b - w @ self._expansion.shift
            self.coef_ = w[0] if data.one_target else w
        self.intercept_ = float(shifted[0]) if data.one_target else shifted
        self._one_target = data.one_target
        self._certify(certificate, _status(certificate, self.tol))

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
        values = self._expansion.values(design) + self._offsets
        return values[:, 0] if self._one_target else values


def _status(certificate: Certificate, tol: float) -> Status:
    if certificate.gap <= tol:
        return Status(StatusCode.CONVERGED)
    return Status(
        StatusCode.MAX_ITER, f"gap {certificate.gap:.1e}, wanted {tol:.0e}.", "Use a larger `lam`."
    )
