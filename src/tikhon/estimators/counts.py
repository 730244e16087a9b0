"""Counts and positive amounts: regression with a logarithmic link."""

from __future__ import annotations

from typing import Any

from sklearn.utils import Tags

from tikhon.estimators.mean_regressor import RateRegressor
from tikhon.losses import Gamma, Poisson
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.penalties.base import Penalty
from tikhon.selection.rules import Rule

__all__ = ["GammaRegressor", "PoissonRegressor"]


class _LogLink(RateRegressor):
    """What both have in common: their options."""

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        penalty: str | Penalty = "l2",
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        nested: bool | int = False,
        standardize: bool = True,
        fit_intercept: bool = True,
        tol: float = 1e-8,
        max_seconds: float | None = None,
    ) -> None:
        self.lam = lam
        self.penalty = penalty
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.nested = nested
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_seconds = max_seconds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.target_tags.multi_output = False
        return tags


class PoissonRegressor(_LogLink):
    """Regression of counts, ``min mean (exp(z) - y z) + lam R(w)``, ``z = x . w + b + offset``.

    The mean is ``exp(z)``. An exposure (the time or the number of units that were counted over)
    is an offset ``log(exposure)``. The strength is chosen by cross-validation unless it is given;
    the intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength, the same as
        scikit-learn's `alpha` with standardize=False.
    penalty : {"l2", "l1", "elastic_net"} or one of `tk.penalties`, default "l2"
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row).
    rule : str or rule, default "min"
        "min", "1se", "2se", ..., "aic", "bic", "ebic".
    scoring : str, Score or callable, optional
        "deviance" (default), "d2", "squared_error", "absolute_error", "r2", a `tk.Score`, or a
        cost function of (y, predicted mean).
    nested : bool or int, default False
        Cross-validate the choice itself: the honest score is `study_.nested`.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X.
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional
        After this time the strengths solved so far are all there is.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
        ``exp(coef_)`` is the factor by which one unit of a column multiplies the mean.
    intercept_ : float or ndarray of shape (targets,)
    lam_, lam_1se_ : float
    path_ : Path
    study_ : Study or None
    df_ : float
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> rng = np.random.default_rng(0)
    >>> X, months = rng.standard_normal((200, 2)), rng.integers(1, 25, 200)
    >>> visits = rng.poisson(months * np.exp(0.5 * X[:, 0] - 1))
    >>> model = tk.PoissonRegressor(0.001).fit(X, visits, exposure=months)
    >>> model.status_ == "converged", bool(abs(model.coef_[0] - 0.5) < 0.1)
    (True, True)
    >>> a_year = model.predict(X[:1], exposure=[12.0])
    >>> bool(np.isclose(a_year, 12 * model.predict(X[:1])).all())
    True
    """

    @property
    def _loss(self) -> Loss:
        return Poisson()


class GammaRegressor(_LogLink):
    """Regression of positive amounts, ``min mean (y exp(-z) + z) + lam R(w)``.

    The mean is ``exp(z)``, ``z = x . w + b + offset``, and errors count relative to it: sizes of
    claims, durations, prices. The strength is chosen by cross-validation unless it is given; the
    intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength, the same as
        scikit-learn's `alpha` with standardize=False.
    penalty : {"l2", "l1", "elastic_net"} or one of `tk.penalties`, default "l2"
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row).
    rule : str or rule, default "min"
        "min", "1se", "2se", ..., "aic", "bic", "ebic".
    scoring : str, Score or callable, optional
        "deviance" (default), "d2", "squared_error", "absolute_error", "r2", a `tk.Score`, or a
        cost function of (y, predicted mean).
    nested : bool or int, default False
        Cross-validate the choice itself: the honest score is `study_.nested`.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X.
    fit_intercept : bool, default True
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional
        After this time the strengths solved so far are all there is.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
        ``exp(coef_)`` is the factor by which one unit of a column multiplies the mean.
    intercept_ : float or ndarray of shape (targets,)
    lam_, lam_1se_ : float
    path_ : Path
    study_ : Study or None
    df_ : float
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> amount = rng.gamma(4.0, np.exp(0.5 * X[:, 0]) / 4.0)
    >>> model = tk.GammaRegressor(0.001).fit(X, amount)
    >>> model.status_ == "converged", bool(abs(model.coef_[0] - 0.5) < 0.1)
    (True, True)
    """

    @property
    def _loss(self) -> Loss:
        return Gamma()
