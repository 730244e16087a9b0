"""Ridge regression, its strength chosen by cross-validation unless it is given."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.errors import DataWarning, UnsupportedError, warn_user
from tikhon.estimators.base import LinearEstimator, check_range
from tikhon.estimators.linear_regression import least_squares_status
from tikhon.paths.grid import Grid
from tikhon.paths.ridge_path import ridge_path, ridge_status
from tikhon.results import Path, Status, StatusCode
from tikhon.selection.nested import nest, outer_folds
from tikhon.selection.ridge_study import RidgeStudy, study_ridge
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import as_score
from tikhon.selection.study import Study
from tikhon.solvers.choose import plan_ridge
from tikhon.solvers.least_squares import SAFE_LARGEST, SAFE_SMALLEST, least_squares
from tikhon.solvers.ridge import ridge_refined
from tikhon.solvers.training import Machine, Training
from tikhon.theory.priors import Normal
from tikhon.theory.priors.posterior import noise_for
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["Ridge"]


class Ridge(LinearEstimator):
    """Ridge regression, ``min mean (y - Xw - b)^2 / 2 + lam ||w||^2 / 2``.

    The strength is chosen by cross-validation over a grid, all folds and strengths at once,
    unless it is given. The intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float, Grid or array, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength; an array
        gives one strength per target. scikit-learn's ``Ridge(alpha)`` is ``lam = alpha / n``.
    norm : float, optional
        In place of `lam`: the constraint ``||w|| <= norm``.
    prior : Normal, optional
        In place of `lam`: ``tk.Normal(0, sd=2)``, a prior of the coefficients in their own units.
        The noise has the greatest evidence under it; ``lam n = noise_^2 / sd^2``.
    folds : int, "loo", "gcv", one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row). With "loo",
        exact leave-one-out in closed form; with "gcv", generalized cross-validation.
    rule : str or rule, default "min"
        "min", or "1se", "2se", ...: the strongest strength within that many standard errors; or
        an information criterion, "aic", "bic" or "ebic"; or a bound, "srm" or "mdl".
    scoring : str, Score or callable, optional
        "squared_error" (default), "absolute_error", "r2", a `tk.Score`, or a cost function.
    nested : bool or int, default False
        Cross-validate the choice itself, in as many outer folds as there are inner ones or in
        this many: the honest score is `study_.nested`.
    standardize : bool, optional
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X. By default, yes for a strength
        and no for `norm` and `prior`, which speak of the coefficients as they are returned.
    fit_intercept : bool, default True
    solver : {"auto", "tall", "wide", "iterative"}, default "auto"
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
    intercept_ : float or ndarray of shape (targets,)
    lam_ : float or ndarray of shape (targets,)
    lam_1se_ : float
        The 1-SE choice, shown beside the one made; nan where a study has no standard errors.
    path_ : Path or None
        None where targets have strengths of their own.
    study_ : Study or None
        Scores of the grid; `study_.choose(rule)` applies another rule without fitting again.
    spectrum_ : Spectrum
        Maps between strength, norm, degrees of freedom and prior standard deviation.
    df_ : float
        Effective degrees of freedom.
    noise_ : float
        With a `prior`: the standard deviation of the noise.
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.Ridge().fit(X, y)
    >>> model.status_.code.value, model.certificate_.gap < 1e-8
    ('converged', True)
    >>> simpler = model.study_.choose("1se")
    >>> simpler.lam > model.lam_
    True
    """

    foreign_strengths: ClassVar[dict[str, str]] = {
        "alpha": "scikit-learn's Ridge(alpha={value}) is `lam` = alpha / n, n the number of rows "
        "(the sum of sample weights), with standardize=False; for 1,000 rows {per_1000}.",
        "C": "C={value} multiplies a sum of losses, so `lam` = 1 / (C n), n the number of rows; "
        "for 1,000 rows {per_1000}.",
        "alphas": "a grid is `lam`=tk.Grid(values=alphas / n), n the number of training rows.",
    }

    def __init__(
        self,
        lam: float | str | Grid | ArrayLike = "cv",
        *,
        norm: float | None = None,
        prior: Normal | None = None,
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        nested: bool | int = False,
        standardize: bool | None = None,
        fit_intercept: bool = True,
        solver: str = "auto",
        tol: float = 1e-8,
    ) -> None:
        self.lam = lam
        self.norm = norm
        self.prior = prior
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
        if self.standardize not in (None, True, False):
            raise ValueError(f"`standardize` must be a boolean or None, got {self.standardize!r}.")
        self.lam_1se_ = float("nan")
        given = not isinstance(self.lam, Grid) and not (
            isinstance(self.lam, str) and self.lam == "cv"
        )
        if self.nested and (given or self.norm is not None or self.prior is not None):
            raise UnsupportedError(
                f"nested={self.nested} judges a choice, and a given `lam`, `norm` or `prior` "
                "leaves nothing to choose; use lam='cv' or a tk.Grid."
            )
        if self.norm is not None or self.prior is not None:
            self._fit_other_form(data)
        elif not given:
            self._fit_grid(data, self.lam if isinstance(self.lam, Grid) else Grid())
        else:
            self._fit_strength(data, self._strengths(data))

    @property
    def _standardize(self) -> bool:
        if self.standardize is not None:
            return self.standardize
        return self.norm is None and self.prior is None

    def _strengths(self, data: Data) -> Float64Array:
        """The given strength of each target."""
        if isinstance(self.lam, str | bool):
            raise ValueError(f"`lam` must be 'cv', a number, a Grid or an array, got {self.lam!r}.")
        lam = np.asarray(self.lam, dtype=np.float64)
        targets = data.y.shape[1]
        if lam.ndim > 1 or (lam.ndim == 1 and len(lam) not in (1, targets)):
            raise ValueError(
                f"`lam` has shape {lam.shape} for {targets} target{'s' * (targets > 1)}: an array "
                "is one strength per target. To choose among strengths use tk.Grid(values=...)."
            )
        each = np.array(np.broadcast_to(lam, (targets,)))
        bad = each[~((each >= 0) & np.isfinite(each))]
        if bad.size:
            raise ValueError(
                f"`lam` must be finite and >= 0, got {bad[0]}. Use 0 for no regularization."
            )
        return each

    def _fit_grid(self, data: Data, grid: Grid) -> None:
        outer = outer_folds(self.folds, self.nested, grouped=data.groups is not None)
        score = as_score(self.scoring)

        def chosen_on(rows: Data) -> RidgeStudy:
            return study_ridge(
                rows,
                grid,
                folds=self.folds,
                rule=self.rule,
                score=score,
                standardize=self._standardize,
                intercept=self.fit_intercept,
                solver=self.solver,
                tol=self.tol,
            )

        found = chosen_on(data)
        study = found.study
        if outer is not None:
            study = nest(
                study, data, lambda rows: chosen_on(rows).study, outer, score, supports=False
            )
        self.study_: Study | None = study
        self.path_: Path | None = study.path
        chosen = study.lam()
        if np.isfinite(study.se).any():
            self.lam_1se_ = study.lam("1se")
        if study.at_edge and isinstance(self.lam, Grid) and study.lam("min") > 0:
            warn_user(
                f"the best strength, {study.lam('min'):.3g}, is the {study.at_edge} of the grid; "
                "widen the grid to see whether a better one lies beyond.",
                DataWarning,
            )
        self._finish(data, found.machine, np.full(data.y.shape[1], chosen), "")

    def _fit_strength(self, data: Data, lams: Float64Array) -> None:
        self.study_ = None
        if not lams.any():
            self._fit_unpenalised(data, "")
            return
        machine = self._machine(data, float(lams.min()))
        self._finish(data, machine, lams, "")

    def _fit_other_form(self, data: Data) -> None:
        """Fit under a bound on the norm, or a prior, in place of a strength."""
        name = "prior" if self.norm is None else "norm"
        if not (isinstance(self.lam, str) and self.lam == "cv"):
            raise ValueError(f"give `lam` or `{name}`, not both; got lam={self.lam!r}.")
        self.study_ = None
        if self.prior is None:
            self._fit_norm(data)
        elif self.norm is None:
            self._fit_prior(data, self.prior)
        else:
            raise ValueError(f"give `norm` or `prior`, not both; got norm={self.norm!r}.")

    def _fit_prior(self, data: Data, prior: Normal) -> None:
        if not isinstance(prior, Normal):
            raise UnsupportedError(
                f"`prior` must be tk.Normal(0, sd=...), got {prior!r}. A Laplace prior is the "
                "lasso: tk.Lasso(lam=prior.lam(noise, n)), or tk.theory.priors.bayesian_lasso."
            )
        machine = self._machine(data, 0.0)
        spectrum = machine.spectrum.spectrum()
        self.noise_ = noise_for(spectrum, prior, intercept=self.fit_intercept)
        lam = prior.lam(self.noise_, spectrum.weight)
        self._finish(data, machine, np.full(data.y.shape[1], lam), "")

    def _fit_norm(self, data: Data) -> None:
        machine = self._machine(data, 0.0)
        lam = machine.spectrum.lam_for_norm(float(self.norm or 0.0))
        if lam == 0.0:
            free = machine.spectrum.norm(0.0)
            self._fit_unpenalised(
                data, f"constraint inactive: least squares has norm {free:.6g} <= {self.norm:g}."
            )
            return
        self._finish(data, machine, np.full(data.y.shape[1], lam), "")

    def _machine(self, data: Data, smallest: float) -> Machine:
        plan = plan_ridge(*data.design.shape, self.solver)
        return plan.machine(self._training(data), lambda _: smallest, self.tol)

    def _training(self, data: Data) -> Training:
        cells = Cells.of(data.labels())
        return Training(data.design, data.y, data.s, cells, self._standardize, self.fit_intercept)

    def _fit_unpenalised(self, data: Data, message: str) -> None:
        """Strength 0: least squares, with the spectrum beside it."""
        fit = least_squares(self._training(data), self.tol)
        machine = self._machine(data, 0.0)
        self.spectrum_ = machine.spectrum.spectrum()
        self.lam_ = 0.0 if data.one_target else np.zeros(data.y.shape[1])
        self.df_ = self.spectrum_.df(0.0)
        self.solver_ = fit.rung
        self.path_ = ridge_path(
            machine,
            np.zeros(1),
            tol=self.tol,
            one_target=data.one_target,
            feature_names=data.feature_names,
        )
        status = least_squares_status(fit, data, self.tol)
        if message and status.ok:
            status = Status(StatusCode.CONVERGED, message)
        self._store(fit.coef, fit.intercept, data, fit.certificate, status)

    def _finish(self, data: Data, machine: Machine, lams: Float64Array, message: str) -> None:
        """Refine the chosen strength on the rows and store everything."""
        fit = ridge_refined(
            machine.frame, machine.spectrum, lams[None, :], tol=self.tol, corrections=1
        )
        certificate = fit.certificates[0]
        self.spectrum_ = machine.spectrum.spectrum()
        self.lam_ = float(lams[0]) if data.one_target else lams
        self.df_ = float(np.mean([machine.spectrum.df(float(lam)) for lam in lams]))
        self.solver_ = machine.name
        if self.study_ is None and not np.all(lams == lams[0]):
            self.path_ = None
        elif self.study_ is None:
            self.path_ = ridge_path(
                machine,
                lams[:1],
                tol=self.tol,
                one_target=data.one_target,
                feature_names=data.feature_names,
            )
        status = ridge_status(certificate.gap, self.tol)
        if message and status.ok:
            status = Status(StatusCode.CONVERGED, message)
        self._store(fit.coefs[0], fit.intercepts[0], data, certificate, status)
