"""Cross-validation: scores of a grid of strengths on held-out rows, whatever loss and penalty."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tikhon._kernels import Stop
from tikhon.data.coerce import Data, as_data
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid, as_grid
from tikhon.penalties.base import Penalty
from tikhon.selection.generic import cross_validate_generic, mean_loss_score
from tikhon.selection.nested import nest, outer_folds
from tikhon.selection.penalised_study import PenalisedBench, study_penalised
from tikhon.selection.ridge_study import study_ridge
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import Score, as_score
from tikhon.selection.smooth_study import study_smooth
from tikhon.selection.study import Study
from tikhon.solvers.choose import has_machine, is_ridge
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.targets import check_offset
from tikhon.typing import ArrayLike

__all__ = ["cross_validate"]


def cross_validate(
    loss: Loss,
    penalty: Penalty,
    X: Any,
    y: Any,
    *,
    lams: int | float | ArrayLike | Grid = 100,
    folds: Any = 10,
    rule: str | Rule = "min",
    groups: Any = None,
    score: Any = None,
    nested: bool | int = False,
    sample_weight: Any = None,
    offset: Any = None,
    standardize: bool = False,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
) -> Study:
    """Score a grid of strengths on held-out rows, and solve the path on all rows.

    Parameters
    ----------
    loss : Loss
    penalty : Penalty
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,) or (n, targets)
    lams : int, array or Grid
        How many strengths, or which.
    folds : int, "loo", "gcv", one of `tk.folds`, an array of fold numbers, or (train, test) pairs
    rule : str or rule
        What `Study.choose` applies by default.
    groups : array of shape (n,), optional
        Rows of a group are held out together.
    score : str, Score or callable, optional
        The mean loss by default, which for the squared loss is "squared_error"; that,
        "absolute_error", "r2", a `tk.Score`, or a function of (y, prediction) that is smaller for
        better predictions. Predictions are linear predictors: before the inverse of the link.
    nested : bool or int, default False
        Cross-validate the choice itself, in an outer loop over folds of the same kind: as many as
        the inner ones, or this many. The honest score is `Study.nested`.
    sample_weight : array of shape (n,), optional
    offset : array of shape (n,), optional
        Added to the linear predictor of each row, such as the logarithm of an exposure; for losses
        with a column per class (n, classes). Smooth losses other than the squared one.
    standardize : bool, default False
        Penalise the coefficients of columns scaled to unit standard deviation, within each fold.
    intercept : bool, default True
    solver : str, default "auto"
    tol : float, default 1e-8
        Largest relative duality gap along the path.

    Returns
    -------
    Study

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> study = tk.cross_validate(tk.losses.Squared(), tk.penalties.L2(), X, y, folds=5)
    >>> study.scores.shape
    (100, 5)
    >>> study.lam("1se") >= study.lam("min")
    True
    """
    as_rule(rule)
    data = as_data(X, y, sample_weight=sample_weight, groups=groups, offset=offset)
    check_offset(loss, data)
    outer = outer_folds(folds, nested, grouped=data.groups is not None)
    procedure = _Procedure(
        loss,
        penalty,
        grid=as_grid(lams),
        folds=folds,
        rule=rule,
        score=mean_loss_score(loss) if score is None else as_score(score),
        standardize=standardize,
        intercept=intercept,
        solver=solver,
        tol=tol,
    )
    study = procedure.study(data)
    if outer is None:
        return study
    supports = not is_ridge(loss, penalty)
    return nest(study, data, procedure.study, outer, procedure.score, supports=supports)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Procedure:
    """The whole choice, as nested cross-validation repeats it on the rows it is given."""

    loss: Loss = field(kw_only=False)
    penalty: Penalty = field(kw_only=False)
    grid: Grid
    folds: Any
    rule: str | Rule
    score: Score
    standardize: bool
    intercept: bool
    solver: str
    tol: float

    def study(self, data: Data) -> Study:
        """Score the grid by the fastest passes there are for this loss and penalty."""
        if is_ridge(self.loss, self.penalty):
            return self._ridge(data)
        if has_machine(self.loss, self.penalty, data.design.shape[1]):
            return self._penalised(data)
        if is_smooth(self.loss):
            return self._smooth(data)
        return self._generic(data)

    def _ridge(self, data: Data) -> Study:
        return study_ridge(
            data,
            self.grid,
            folds=self.folds,
            rule=self.rule,
            score=self.score,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
        ).study

    def _penalised(self, data: Data) -> Study:
        bench = PenalisedBench.of(
            data,
            folds=self.folds,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
            stop=Stop(),
        )
        machine = bench.machine(self.penalty)
        return study_penalised(bench, machine, self.grid, rule=self.rule, score=self.score)

    def _smooth(self, data: Data) -> Study:
        return study_smooth(
            data,
            self.loss,
            self.penalty,
            self.grid,
            folds=self.folds,
            rule=self.rule,
            score=self.score,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
        )

    def _generic(self, data: Data) -> Study:
        return cross_validate_generic(
            self.loss,
            self.penalty,
            data,
            self.grid,
            folds=self.folds,
            rule=self.rule,
            score=self.score,
            standardize=self.standardize,
            intercept=self.intercept,
            tol=self.tol,
        )
