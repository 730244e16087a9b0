"""Cross-validation of penalised least squares: every fold and strength from one preparation."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
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
from tikhon.solvers.relaxed import Supports, mixed
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array

__all__ = ["PenalisedBench", "PenalisedFits"]


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


@dataclass(frozen=True, slots=True, eq=False)
class PenalisedFits:
    """A grid of strengths solved on all rows and on every training set of a split.

    Attributes
    ----------
    bench : PenalisedBench
    machine : PenalisedMachine
        With the penalty of the path on all rows.
    lams : ndarray of shape (L,)
        Those that were solved everywhere in time.
    whole : PathFit
    folds : list of PathFit
    skipped : int
    started : float
    """

    bench: PenalisedBench
    machine: PenalisedMachine
    lams: Float64Array
    whole: PathFit
    folds: list[PathFit]
    skipped: int
    started: float

    @classmethod
    def of(
        cls,
        bench: PenalisedBench,
        machine: PenalisedMachine,
        grid: Grid,
        penalties: Sequence[Penalty] | None = None,
    ) -> PenalisedFits:
        """Solve a grid; `penalties` are the training sets' own, where they differ."""
        started = time.perf_counter()
        lams = penalised_lams(machine, grid)
        if lams[-1] == 0 and not machine.solves_zero:
            raise UnsupportedError(
                "a grid of strengths must be > 0 for this penalty, got 0. For no penalty at all "
                "use tk.LinearRegression, or lam=0 alone."
            )
        everything, trains = machine.training.everything(), list(bench.split.train)
        if penalties is None:
            whole, *fits = machine.fits([everything, *trains], lams)
        else:
            whole = machine.fits([everything], lams)[0]
            own = zip(penalties, trains, strict=True)
            fits = [machine.with_penalty(p).fits([train], lams)[0] for p, train in own]
        kept = max(1, min(fit.solved for fit in (whole, *fits)))
        return cls(
            bench,
            machine,
            lams[:kept],
            whole.part(0, kept),
            fits,
            len(lams) - kept,
            started,
        )

    def relaxed(self) -> PenalisedFits:
        """Return least squares on the support of every solution."""
        supports = Supports.of(self.machine, [self.whole, *self.folds])
        folds = supports.unshrunk(self.machine, self.folds, list(self.bench.split.train))
        return replace(self, folds=folds)

    def mixed(self, other: PenalisedFits, share: float) -> PenalisedFits:
        """Return the same fits with a share of others mixed in."""
        pairs = zip(self.folds, other.folds, strict=True)
        return replace(self, folds=[mixed(one, two, share) for one, two in pairs])

    def study(
        self, *, rule: str | Rule, score: Score, relaxed: float = 0.0, plan: object = None
    ) -> Study:
        """Score the folds' solutions on the rows that were held out.

        `relaxed` is the share of least squares that the folds' solutions have mixed in, `plan` what
        to call the solver.
        """
        bench, machine = self.bench, self.machine
        data, split = bench.data, bench.split
        scores, fold_weight = _scores(machine.training, split, self.folds, self.lams, score)
        mean, se = summarise(scores, fold_weight)
        seconds = time.perf_counter() - self.started
        return Study(
            path=PenalisedPath(
                machine,
                self.whole,
                self.lams,
                relaxed=relaxed,
                one_target=data.one_target and not machine.loss.per_class,
                feature_names=data.feature_names,
                seconds=seconds,
                skipped=self.skipped,
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
            skipped=self.skipped,
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
