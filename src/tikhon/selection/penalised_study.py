"""Cross-validation of penalised least squares: every fold and strength from one preparation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.paths.grid import Grid
from tikhon.paths.penalised_path import PenalisedPath, penalised_lams
from tikhon.penalties.base import Penalty
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.judge import judge_fold
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows, Split
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.solvers.choose import PenalisedPlan, plan_penalised
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.penalised import PenalisedMachine
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array

__all__ = ["PenalisedBench", "study_penalised"]


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedBench:
    """A table prepared for one split, on which several penalties can be tried."""

    data: Data
    split: Split
    solver: str
    training: Training
    stop: Stop
    tol: float

    @classmethod
    def of(
        cls,
        data: Data,
        *,
        folds: Any,
        standardize: bool,
        intercept: bool,
        solver: str,
        tol: float,
        stop: Stop,
    ) -> PenalisedBench:
        """Cut the rows and choose a plan."""
        if isinstance(folds, str):
            raise UnsupportedError(
                f"folds={folds!r} has a closed form for ridge only; use a number of folds."
            )
        rule_for_rows = as_folds(folds, grouped=data.groups is not None)
        split = rule_for_rows.split(Rows(data.design, data.y, data.used, data.groups))
        training = Training(data.design, data.y, data.s, split.cells, standardize, intercept)
        return cls(data, split, solver, training, stop, tol)

    def machine(self, penalty: Penalty) -> PenalisedMachine:
        """Prepare the table for one penalty."""
        return self.plan(penalty).machine(self.training, penalty, self.tol, self.stop)

    def plan(self, penalty: Penalty) -> PenalisedPlan:
        """Return the regime for one penalty, and why."""
        return plan_penalised(self.data.design, penalty, self.solver)


def study_penalised(
    bench: PenalisedBench,
    machine: PenalisedMachine,
    grid: Grid,
    *,
    rule: str | Rule,
    score: Score,
    plan: object = None,
) -> Study:
    """Score a grid of strengths on held-out rows, and solve the path on all rows."""
    started = time.perf_counter()
    data, split = bench.data, bench.split
    lams = penalised_lams(machine, grid)
    if lams[-1] == 0 and not machine.solves_zero:
        raise UnsupportedError(
            "a grid of strengths must be > 0 for this penalty, got 0. For no penalty at all use "
            "tk.LinearRegression, or lam=0 alone."
        )
    whole, *fits = machine.fits([machine.training.everything(), *split.train], lams)
    kept = max(1, min(fit.solved for fit in (whole, *fits)))
    skipped = len(lams) - kept
    lams, whole = lams[:kept], whole.part(0, kept)
    scores, fold_weight = _scores(machine.training, split, fits, lams, score)
    mean, se = summarise(scores, fold_weight)
    seconds = time.perf_counter() - started
    return Study(
        path=PenalisedPath(
            machine,
            whole,
            lams,
            one_target=data.one_target and not machine.loss.per_class,
            feature_names=data.feature_names,
            seconds=seconds,
            skipped=skipped,
        ),
        scores=scores,
        mean=mean,
        se=se,
        fold=fold_of_rows(split),
        fold_weight=fold_weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        method="folds",
        rule=rule,
        solver=str(plan or bench.plan(machine.penalty)),
        seconds=seconds,
        sample=Sample.of(machine.loss, data, intercept=machine.training.intercept),
        skipped=skipped,
    )


def _scores(
    training: Training, split: Split, fits: Sequence[PathFit], lams: Float64Array, score: Score
) -> tuple[Float64Array, Float64Array]:
    columns, weights = [], []
    for k, fit in enumerate(fits):
        rows = split.cells.where(split.test[k])
        weight = float(len(rows)) if training.s is None else float(training.s[rows].sum())
        columns.append(judge_fold(training, fit, split.test[k], lams, score, weight))
        weights.append(weight)
    return np.column_stack(columns), np.array(weights)
