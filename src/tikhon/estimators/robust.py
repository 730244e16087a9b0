"""Huber's regression: least squares for most rows, absolute errors for those far off.

Where the loss turns linear is a matter of scale: ``delta`` counts in units of the noise, and the
noise is estimated once, from all rows, by the median absolute deviation of held-out residuals,

    scale = 1.4826 median |r - median(r)|,

which is the standard deviation for normal errors and does not follow wild rows, up to half of
them. With one common scale the problem is convex in the coefficients and certified; scikit-learn's
``HuberRegressor`` estimates both together, and its solution is this one at its own scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.estimators.base import Estimator
from tikhon.estimators.mean_regressor import MeanRegressor
from tikhon.estimators.penalty import as_penalty
from tikhon.estimators.strength import as_strength
from tikhon.losses import Huber
from tikhon.losses.base import Loss
from tikhon.losses.location import weighted_quantile
from tikhon.paths.grid import Grid
from tikhon.penalties import L2
from tikhon.penalties.base import Penalty
from tikhon.selection.rules import Rule
from tikhon.typing import Float64Array

__all__ = ["HuberRegressor"]

NORMAL = 1.4826022185056018
"""Standard deviation over median absolute deviation, of a normal distribution."""

PILOT = 20
"""Strengths of the first look at the noise."""

INTERPOLATED = 1e-6
"""Residuals this small beside the target say that rows were interpolated, not what noise is."""


class HuberRegressor(MeanRegressor):
    """Huber's regression, ``min mean huber(y - z; delta scale) + lam R(w)``, ``z = x . w + b``.

    Residuals up to ``delta scale`` are squared (and halved), larger ones count linearly, so that
    a few wild targets cannot carry the fit away.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength.
    delta : float, default 1.35
        Where the loss turns linear, in units of the scale. 1.35 keeps 95% of the precision of
        least squares where the noise is normal.
    scale : "mad" or float, default "mad"
        The size of the noise in the unit of y. "mad" estimates it by the median absolute deviation
        of residuals: held-out ones where the strength is chosen, else those of the fit. With
        ``scale=1`` delta is in the unit of y.
    penalty : {"l2", "l1", "elastic_net"} or one of `tk.penalties`, default "l2"
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row).
    rule : str or rule, default "min"
    scoring : str, Score or callable, optional
        The mean loss (default), "absolute_error", "squared_error", "r2", a `tk.Score`, or a cost
        function of (y, prediction).
    nested : bool or int, default False
        Cross-validate the choice of the strength itself; the scale is that of all rows.
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
    intercept_ : float or ndarray of shape (targets,)
    scale_ : float
        The scale, given or estimated.
    outliers_ : ndarray of bool, shape (n,)
        Rows whose residual counts linearly.
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
    >>> X = rng.standard_normal((100, 2))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(100)
    >>> y[:5] += 100.0
    >>> model = tk.HuberRegressor(1e-4).fit(X, y)
    >>> bool(abs(model.coef_[0] - 1) < 0.1), bool(model.outliers_[:5].all())
    (True, True)
    >>> model.status_ == "converged", bool(model.scale_ < 0.2)
    (True, True)
    """

    foreign_strengths = Estimator.foreign_strengths | {
        "alpha": "scikit-learn's HuberRegressor(alpha={value}) is `lam` = alpha scale_ / n, with "
        "its own scale_ as `scale` and standardize=False.",
        "epsilon": "scikit-learn's epsilon={value} is `delta`={value}.",
    }

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        delta: float = 1.35,
        scale: float | str = "mad",
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
        self.delta = delta
        self.scale = scale
        self.penalty = penalty
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.nested = nested
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_seconds = max_seconds

    @property
    def _loss(self) -> Loss:
        return Huber(self.delta * getattr(self, "scale_", 1.0))

    @property
    def _solver(self) -> str:
        """Newton's method with squares alone.

        Far from the optimum most rows have no curvature, and steps that rest on it may go astray.
        """
        return "auto" if isinstance(as_penalty(self.penalty), L2) else "proximal_gradient"

    def _check_options(self) -> None:
        super()._check_options()
        if not (isinstance(self.delta, int | float | np.number) and 0 < self.delta < np.inf):
            raise ValueError(f"`delta` must be positive and finite, got {self.delta!r}.")
        known = isinstance(self.scale, str) and self.scale == "mad"
        given = isinstance(self.scale, int | float | np.number) and 0 < float(self.scale) < np.inf
        if not (known or given):
            raise ValueError(f"`scale` must be 'mad' or a positive number, got {self.scale!r}.")
        self.scale_ = float(self.scale) if given else 1.0

    def _fit_checked(self, data: Data) -> None:
        if isinstance(self.scale, str):
            self.scale_ = self._noise(data)
        super()._fit_checked(data)
        z = np.asarray(data.design.predict(np.atleast_2d(self.coef_).T)) + self.intercept_
        z = z if data.offset is None else z + data.offset
        self.outliers_ = np.any(np.abs(data.y - z) > self.delta * self.scale_, axis=1)

    def _noise(self, data: Data) -> float:
        """The deviation of residuals of a first fit, whose own scale is that of the target."""
        spread = _deviation(data.y if data.offset is None else data.y - data.offset, data.s)
        self.scale_ = spread
        lam = as_strength(self.lam, self.nested, size=PILOT)
        if isinstance(lam, Grid):
            pilot = Grid(size=PILOT) if lam.values is None else lam
            study = self._procedure(data, pilot).study(data)
            found = study.held_out()
            residuals, s = (found.y - found.z).reshape(len(found), -1), found.s
        else:
            solution = self._one(data, lam).solution
            z = np.asarray(data.design.predict(solution.coef) + solution.intercept)
            z = z.reshape(data.y.shape)
            residuals = data.y - (z if data.offset is None else z + data.offset)
            s = np.ones(len(z)) if data.s is None else data.s
        noise = _deviation(residuals, s)
        return noise if noise > INTERPOLATED * spread else spread


def _deviation(values: Float64Array, s: Float64Array | None) -> float:
    """Normalised median absolute deviation of all entries; 1 where more than half are equal."""
    flat = values.reshape(-1)
    weights = np.ones(len(values)) if s is None else s
    share = np.repeat(weights / weights.sum(), values.shape[1]) / values.shape[1]
    middle = weighted_quantile(flat, share, 0.5)
    found = NORMAL * weighted_quantile(np.abs(flat - middle), share, 0.5)
    return found if found > 0 else 1.0
