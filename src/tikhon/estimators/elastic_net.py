"""The elastic net: least squares with a mixture of sizes and squares as its penalty."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.estimators.adaptive import Adaptive
from tikhon.estimators.penalised import PenalisedRegressor
from tikhon.estimators.shape import shaped
from tikhon.paths.grid import Grid
from tikhon.penalties import ElasticNet as Mixture
from tikhon.penalties.base import Penalty
from tikhon.selection.procedure import Candidate
from tikhon.selection.rules import Rule
from tikhon.selection.study import Study
from tikhon.typing import ArrayLike

__all__ = ["ElasticNet"]


class ElasticNet(PenalisedRegressor):
    """The elastic net, a penalty ``lam (l1_ratio ||w||_1 + (1 - l1_ratio) ||w||^2 / 2)``.

    The strength, and the mixture where several are given, are chosen by cross-validation over a
    grid, all folds and strengths at once, unless they are given. The intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength. scikit-learn's
        ``ElasticNet(alpha, l1_ratio)`` is ``lam = alpha`` with the same l1_ratio and
        standardize=False.
    l1_ratio : float or array, default 0.5
        Share of the sizes, between 0 (ridge) and 1 (lasso). Of several, cross-validation chooses
        the one with the best mean score.
    weights : array of shape (d,) or tk.Adaptive, optional
        Multiplies the penalty column by column; a column of weight 0 is never penalised. With
        `tk.Adaptive()` they come from a first fit, made anew in each fold.
    positive : bool, default False
        No coefficient below 0.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row).
    rule : str or rule, default "min"
        "min", "1se", "2se", ... (the strongest strength within that many standard errors), "aic",
        "bic", "ebic", "srm", "mdl".
    scoring : str, Score or callable, optional
        "squared_error" (default), "absolute_error", "r2", a `tk.Score`, or a cost function.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X.
    fit_intercept : bool, default True
    nested : bool or int, default False
        Cross-validate the choice itself, in an outer loop over folds of the same kind: as many as
        the inner ones, or this many. The honest score is `study_.nested`.
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional
        After this time the strengths solved so far are all there is.

    Attributes
    ----------
    coef_ : ndarray of shape (d,) or (targets, d)
    intercept_ : float or ndarray of shape (targets,)
    support_ : ndarray of int
        Columns with a nonzero coefficient.
    lam_ : float
    l1_ratio_ : float
        The mixture, given or chosen.
    lam_1se_ : float
        The 1-SE choice, shown beside the one made; nan where there is no study.
    path_ : Path
    study_ : Study or None
        Scores of the grid; `study_.choose(rule)` applies another rule without fitting again.
    studies_ : dict of float to Study
        The study of each mixture, where several were given.
    df_ : float
        Effective degrees of freedom.
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.ElasticNet(l1_ratio=[0.2, 0.9]).fit(X, y)
    >>> model.status_ == "converged", model.l1_ratio_ in (0.2, 0.9)
    (True, True)
    """

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        l1_ratio: float | ArrayLike = 0.5,
        weights: ArrayLike | Adaptive | None = None,
        positive: bool = False,
        folds: Any = None,
        rule: str | Rule = "min",
        scoring: Any = None,
        standardize: bool = True,
        fit_intercept: bool = True,
        nested: bool | int = False,
        tol: float = 1e-8,
        max_seconds: float | None = None,
    ) -> None:
        self.lam = lam
        self.l1_ratio = l1_ratio
        self.weights = weights
        self.positive = positive
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.nested = nested
        self.tol = tol
        self.max_seconds = max_seconds

    def _fit_checked(self, data: Data) -> None:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, dtype=np.float64))
        if ratios.ndim != 1 or not len(ratios) or not np.all((ratios >= 0) & (ratios <= 1)):
            raise ValueError(
                f"`l1_ratio` must be between 0 and 1, one number or a list, got {self.l1_ratio!r}."
            )
        self.l1_ratio_ = float(ratios[0])
        if len(ratios) > 1 and not (isinstance(self.lam, Grid) or self.lam == "cv"):
            raise ValueError(
                f"several `l1_ratio` are chosen from by cross-validation; got lam={self.lam!r}. "
                "Use lam='cv', or one l1_ratio."
            )
        super()._fit_checked(data)

    def _candidates(self, data: Data) -> dict[float, Candidate]:
        ratios = np.unique(np.asarray(self.l1_ratio, dtype=np.float64))[::-1]
        return {float(ratio): Candidate(self._maker_of(data, float(ratio))) for ratio in ratios}

    def _maker_of(self, data: Data, ratio: float) -> Penalty | Callable[[Data], Penalty]:
        if isinstance(self.weights, Adaptive):
            return lambda rows: self._mixture(rows, ratio)
        return self._mixture(data, ratio)

    def _record(self, studies: dict[float, Study], chosen: float) -> None:
        self.studies_ = studies
        self.l1_ratio_ = chosen

    def _penalty(self, data: Data) -> Penalty:
        return self._mixture(data, self.l1_ratio_)

    def _mixture(self, data: Data, ratio: float) -> Penalty:
        return shaped(Mixture(ratio), data, self)
