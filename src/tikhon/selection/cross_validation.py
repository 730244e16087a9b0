"""Cross-validation of the whole grid: every fold and strength from one preparation of the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import Data, as_data
from tikhon.data.design import BLOCK_BYTES
from tikhon.data.moments import Cells
from tikhon.engine import map_units
from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid, as_grid
from tikhon.paths.ridge_path import ridge_lams, ridge_path, smallest_lam
from tikhon.penalties.base import Penalty
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.generic import cross_validate_generic, mean_loss_score
from tikhon.selection.leave_one_out import generalized, leave_one_out
from tikhon.selection.nested import nest, outer_folds
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import SQUARED_ERROR, Score, as_score
from tikhon.selection.split import Rows, Split
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.solvers.choose import Plan, is_ridge, plan_ridge
from tikhon.solvers.training import FoldFit, Machine, Training
from tikhon.typing import ArrayLike, BoolArray, Float64Array

__all__ = ["cross_validate", "study_ridge"]

MANY_CELLS = 64
"""More cells of moments than this (times d^2) and each fold makes its own two."""


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
        "squared_error" (default), "absolute_error", "r2", a `tk.Score`, or a function of
        (y, prediction) that is smaller for better predictions.
    nested : bool or int, default False
        Cross-validate the choice itself, in an outer loop over folds of the same kind: as many as
        the inner ones, or this many. The honest score is `Study.nested`.
    sample_weight : array of shape (n,), optional
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
    data = as_data(X, y, sample_weight=sample_weight, groups=groups)
    grid = as_grid(lams)
    outer = outer_folds(folds, nested, grouped=data.groups is not None)
    judge = mean_loss_score(loss) if score is None else as_score(score)
    ridge = is_ridge(loss, penalty)

    def inner(part: Data) -> Study:
        if not ridge:
            return cross_validate_generic(
                loss,
                penalty,
                part,
                grid,
                folds=folds,
                rule=rule,
                score=judge,
                standardize=standardize,
                intercept=intercept,
                tol=tol,
            )
        return study_ridge(
            part,
            grid,
            folds=folds,
            rule=rule,
            score=judge,
            standardize=standardize,
            intercept=intercept,
            solver=solver,
            tol=tol,
        ).study

    study = inner(data)
    return study if outer is None else nest(study, data, inner, outer, judge, supports=not ridge)


@dataclass(frozen=True, slots=True, eq=False)
class RidgeStudy:
    """A study with the machine that made it, for whoever wants to refine its choice."""

    study: Study
    machine: Machine


def study_ridge(
    data: Data,
    grid: Grid,
    *,
    folds: Any,
    rule: str | Rule,
    score: Score,
    standardize: bool,
    intercept: bool,
    solver: str,
    tol: float,
) -> RidgeStudy:
    """Cross-validate ridge: one machine serves every fold, every strength and the final path."""
    started = time.perf_counter()
    n, d = data.design.shape
    plan = plan_ridge(n, d, solver)
    closed_form = folds if isinstance(folds, str) else None
    if closed_form is not None and data.groups is not None:
        raise UnsupportedError(
            f"folds={folds!r} leaves out single rows and would tear `groups` apart; use a number."
        )
    split = None
    if closed_form is None:
        rule_for_rows = as_folds(folds, grouped=data.groups is not None)
        split = rule_for_rows.split(Rows(data.design, data.y, data.used, data.groups))
    shared = split is not None and _share_cells(split, plan, n, d)
    cells = split.cells if split is not None and shared else Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, standardize, intercept)
    smallest = smallest_lam(grid)
    machine = plan.machine(training, smallest, tol)
    lams = ridge_lams(grid, machine.spectrum)
    scores = None
    if split is not None:
        own = None if shared else plan
        scores, fold_weight = _fold_scores(machine, split, lams, score, own, smallest, tol)
        mean, se = summarise(scores, fold_weight)
    else:
        mean, se = _closed_form(closed_form, machine, lams, score)
        fold_weight = np.array([machine.frame.weight])
    path = ridge_path(
        machine, lams, tol=tol, one_target=data.one_target, feature_names=data.feature_names
    )
    study = Study(
        path=path,
        scores=scores,
        mean=mean,
        se=se,
        fold=None if split is None else fold_of_rows(split),
        fold_weight=fold_weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        method=closed_form or "folds",
        rule=rule,
        solver=f"{plan.regime} ({plan.reason}): {machine.name}",
        seconds=time.perf_counter() - started,
        sample=Sample.of(Squared(), data, intercept=intercept),
    )
    return RidgeStudy(study, machine)


def _share_cells(split: Split, plan: Plan, n: int, d: int) -> bool:
    """Whether one preparation can hold all cells: moments of many cells outgrow the table."""
    if plan.regime != "tall":
        return True
    cells = len(split.cells)
    return cells <= MANY_CELLS and (cells * d * d <= n * d or cells * d * d * 8 <= 2**28)


def _fold_scores(
    machine: Machine,
    split: Split,
    lams: Float64Array,
    score: Score,
    own: Plan | None,
    smallest: Callable[[float], float],
    tol: float,
) -> tuple[Float64Array, Float64Array]:
    training = machine.training
    s = training.s

    def judge(k: int) -> tuple[Float64Array, float]:
        if own is None:
            fit, test = machine.fold(split.train[k], split.test[k]), split.test[k]
            home = training
        else:
            home, test = _two_cells(training, split, k)
            fit = own.machine(home, smallest, tol).fold(~test, test)
        rows = home.cells.where(test)
        weight = float(len(rows)) if s is None else float(s[rows].sum())
        return _judge(home, fit, test, lams, score, weight), weight

    threads = None if own is None and machine.small_folds else 1
    results = map_units(judge, range(len(split)), threads)
    return np.column_stack([r[0] for r in results]), np.array([r[1] for r in results])


def _two_cells(training: Training, split: Split, k: int) -> tuple[Training, BoolArray]:
    """The training and the test rows of one fold as cells of their own."""
    labels = np.full(len(split.labels), -1, dtype=np.int64)
    labels[split.cells.where(split.train[k])] = 0
    labels[split.cells.where(split.test[k])] = 1
    home = Training(
        training.design,
        training.y,
        training.s,
        Cells.of(labels),
        training.standardize,
        training.intercept,
    )
    return home, np.array([False, True])


def _judge(
    training: Training,
    fit: FoldFit,
    test: BoolArray,
    lams: Float64Array,
    score: Score,
    weight: float,
) -> Float64Array:
    """Score every strength on one fold: (L,)."""
    if score is SQUARED_ERROR:
        return np.asarray(fit.squared_error(test, lams).mean(axis=1) / weight)
    rows = training.cells.where(test)
    y = training.y[rows]
    s = None if training.s is None else training.s[rows]
    at_once = max(1, 8 * BLOCK_BYTES // (8 * y.size))
    values: list[float] = []
    for start in range(0, len(lams), at_once):
        Z = fit.predict(rows, lams[start : start + at_once])
        values += [score(y, z, s) for z in Z]
    return np.array(values)


def _closed_form(
    method: str | None, machine: Machine, lams: Float64Array, score: Score
) -> tuple[Float64Array, Float64Array]:
    power = {"squared_error": 2, "absolute_error": 1}.get(score.name)
    if method == "loo" and len(machine.training.used()) < 2:
        raise ValueError("leave-one-out needs at least 2 rows, got 1 sample.")
    if method == "loo" and power is not None:
        return leave_one_out(machine, lams, power)
    if method == "gcv" and power == 2:
        return generalized(machine, lams), np.full(len(lams), np.nan)
    if method in ("loo", "gcv"):
        raise UnsupportedError(
            f"folds={method!r} has no closed form for the score {score.name!r}; "
            "use folds=10, or score='squared_error'."
        )
    raise ValueError(f"`folds` must be a number, 'loo', 'gcv' or one of tk.folds, got {method!r}.")
