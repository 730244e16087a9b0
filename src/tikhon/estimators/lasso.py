"""The lasso: least squares with the sum of sizes as its penalty."""

from __future__ import annotations

from typing import Any

from tikhon.data.coerce import Data
from tikhon.estimators.adaptive import Adaptive
from tikhon.estimators.penalised import PenalisedRegressor
from tikhon.estimators.shape import shaped
from tikhon.paths.grid import Grid
from tikhon.penalties import L1
from tikhon.penalties.base import Penalty
from tikhon.selection.rules import Rule
from tikhon.typing import ArrayLike

__all__ = ["Lasso"]


class Lasso(PenalisedRegressor):
    """The lasso, ``min mean (y - Xw - b)^2 / 2 + lam ||w||_1``.

    The strength is chosen by cross-validation over a grid, all folds and strengths at once, unless
    it is given. The intercept is never penalised.

    Parameters
    ----------
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength. scikit-learn's
        ``Lasso(alpha)`` is ``lam = alpha``, with standardize=False.
    weights : array of shape (d,) or tk.Adaptive, optional
        Multiplies the penalty column by column; a column of weight 0 is never penalised. With
        `tk.Adaptive()` they come from a first fit, made anew in each fold.
    positive : bool, default False
        No coefficient below 0.
    relaxed : bool, float or array, default False
        With True, least squares on the columns that the lasso chooses, at every strength: no
        shrinkage is left, and cross-validation judges the refitted solutions. A number between 0
        and 1 is the share of it that is mixed in; of several, such as ``[0, 0.25, 0.5, 0.75, 1]``,
        cross-validation chooses. (One minus the `gamma` of R's glmnet.)
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
    lam_1se_ : float
        The 1-SE choice, shown beside the one made; nan where there is no study.
    path_ : Path
    study_ : Study or None
        Scores of the grid; `study_.choose(rule)` applies another rule without fitting again.
    relaxed_ : float
        The share of least squares, given or chosen.
    studies_ : dict of float to Study
        The study of each share, where several were given.
    df_ : float
        Effective degrees of freedom: the number of nonzero coefficients.
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.Lasso().fit(X, y)
    >>> model.status_ == "converged", model.certificate_.gap < 1e-8
    (True, True)
    >>> sparse = model.study_.choose("1se")
    >>> int((sparse.coef != 0).sum()) < len(model.support_)
    True
    """

    def __init__(
        self,
        lam: float | str | Grid = "cv",
        *,
        weights: ArrayLike | Adaptive | None = None,
        positive: bool = False,
        relaxed: bool | float | ArrayLike = False,
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
        self.weights = weights
        self.positive = positive
        self.relaxed = relaxed
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.nested = nested
        self.tol = tol
        self.max_seconds = max_seconds

    def _penalty(self, data: Data) -> Penalty:
        return shaped(L1(), data, self)
