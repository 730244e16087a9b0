"""Any loss of a numeric target with any penalty, in the manner of the other estimators."""

from __future__ import annotations

from typing import Any

from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.estimators.mean_regressor import MeanRegressor
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.penalties import L2
from tikhon.penalties.base import Penalty
from tikhon.selection.rules import Rule
from tikhon.typing import ArrayLike

__all__ = ["GeneralizedLinear"]


class GeneralizedLinear(MeanRegressor):
    """A linear model with a loss and a penalty of your choice.

    ``min  mean_i loss(y_i, x_i . w + b)  +  lam R(w)``

    With the squared loss every penalty that is a sum over columns, under bounds or not, or a sum of
    norms of groups is solved along the whole grid at once, and so are other differentiable losses,
    your own included (see docs/add-a-loss.md); penalties of your own by proximal gradient.

    Parameters
    ----------
    loss : Loss, optional
        One of `tk.losses` for numeric targets, or your own; the squared loss by default.
    penalty : Penalty, optional
        One of `tk.penalties`, or your own; `L2()` by default.
    lam : "cv", float or Grid, default "cv"
        "cv" tries 100 strengths, a `Grid` tries its own; a number is the strength.
    relaxed : bool, float or array, default False
        With the squared loss and a penalty that sets coefficients to 0: the share of least squares
        on the support that is mixed into every solution, all for True, as in `tk.Lasso`.
    folds : int, one of `tk.folds`, fold numbers, or pairs, optional
        10 by default (on a table with fewer distinct rows, one per distinct row).
    rule : str or rule, default "min"
        "min", "1se", "2se", ... (the strongest strength within that many standard errors), "aic",
        "bic", "ebic", "srm", "mdl".
    scoring : str, Score or callable, optional
        The mean loss by default.
    standardize : bool, default True
        Penalise coefficients of columns scaled to unit (1/n) standard deviation, within each
        fold; coefficients are always returned on the scale of X, and bounds are bounds of these.
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
        Effective degrees of freedom; nan where they are unknown.
    certificate_ : Certificate
    status_ : Status
    solver_ : str
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    Ten columns in four groups, each in or out as a whole:

    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> groups = [0, 0, 1, 1, 2, 2, 2, 2, 3, 3]
    >>> model = tk.GeneralizedLinear(penalty=tk.penalties.Group(groups), rule="1se").fit(X, y)
    >>> model.status_ == "converged", model.certificate_.gap < 1e-8
    (True, True)
    """

    def __init__(
        self,
        loss: Loss | None = None,
        penalty: Penalty | None = None,
        lam: float | str | Grid = "cv",
        *,
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
        self.loss = loss
        self.penalty = penalty
        self.lam = lam
        self.relaxed = relaxed
        self.folds = folds
        self.rule = rule
        self.scoring = scoring
        self.standardize = standardize
        self.fit_intercept = fit_intercept
        self.nested = nested
        self.tol = tol
        self.max_seconds = max_seconds

    @property
    def _loss(self) -> Loss:
        return Squared() if self.loss is None else self.loss

    def _penalty(self, data: Data) -> Penalty:  # noqa: ARG002
        return L2() if self.penalty is None else self.penalty

    def _check_options(self) -> None:
        for name, base, where in (("loss", Loss, "losses"), ("penalty", Penalty, "penalties")):
            given = getattr(self, name)
            if given is not None and not isinstance(given, base):
                raise ValueError(
                    f"`{name}` must be one of tk.{where}, such as tk.{where}."
                    f"{'Huber()' if name == 'loss' else 'L1()'}, got {given!r}."
                )
        if self._loss.classification:
            raise UnsupportedError(
                f"GeneralizedLinear predicts numbers, and {type(self._loss).__name__} is a loss of "
                "classes; use tk.LogisticRegression, or tk.cross_validate, tk.path or tk.solve "
                "with targets -1 and 1."
            )
