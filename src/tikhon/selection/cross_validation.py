"""Cross-validation: scores of a grid of strengths on held-out rows, whatever loss and penalty."""

from __future__ import annotations

from typing import Any

from tikhon._kernels import Stop
from tikhon.data.coerce import as_data
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid, as_grid
from tikhon.paths.solve_path import as_share
from tikhon.penalties.base import Penalty
from tikhon.selection.procedure import Candidate, Procedure
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import as_score
from tikhon.selection.study import Study
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
    relaxed: float = 0.0,
    sample_weight: Any = None,
    offset: Any = None,
    standardize: bool = False,
    intercept: bool = True,
    solver: str = "auto",
    tol: float = 1e-8,
    max_seconds: float | None = None,
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
        By default the deviance of a likelihood (the squared error of the squared loss), the mean
        loss otherwise. "loss", "squared_error", "absolute_error", "r2"; "d2" for counts and
        amounts; "accuracy", "balanced_accuracy", "f1", "precision", "recall", "auc", "brier",
        "log_loss" for classes; a `tk.Score`, or a function of (y, predicted mean) that is smaller
        for better predictions.
    nested : bool or int, default False
        Cross-validate the choice itself, in an outer loop over folds of the same kind: as many as
        the inner ones, or this many. The honest score is `Study.nested`.
    relaxed : float, default 0
        With the squared loss and a penalty that sets coefficients to 0: the share of least squares
        on the support that is mixed into every solution, in the folds and on all rows.
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
    max_seconds : float, optional
        After this time the strengths solved so far, on all rows and in every fold, are the study:
        `Study.skipped` counts the others. Ridge is solved for all strengths at once, and finishes.

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
    procedure = Procedure(
        loss,
        (Candidate(penalty, as_share(relaxed)),),
        grid=as_grid(lams),
        folds=folds,
        rule=rule,
        score=as_score(score, loss),
        standardize=standardize,
        intercept=intercept,
        solver=solver,
        tol=tol,
        stop=Stop.after(max_seconds),
    )
    return procedure.judged(data, nested)[0]
