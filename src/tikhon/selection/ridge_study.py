"""Cross-validation of ridge: every fold and strength from one preparation of the table."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.engine import map_units
from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.paths.grid import Grid
from tikhon.paths.ridge_path import ridge_lams, ridge_path, smallest_lam
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.judge import judge_fold
from tikhon.selection.leave_one_out import generalized, leave_one_out
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows, Split
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.solvers.choose import Plan, plan_ridge
from tikhon.solvers.training import Machine, Training
from tikhon.typing import BoolArray, Float64Array

__all__ = ["RidgeStudy", "study_ridge"]

MANY_CELLS = 64
"""More cells of moments than this (times d^2) and each fold makes its own two."""


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
        return judge_fold(home, fit, test, lams, score, weight), weight

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
