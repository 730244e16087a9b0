"""The procedure that chooses a strength: a grid, folds and a rule, for any loss and penalty.

Estimators, `tk.cross_validate` and nested folds all choose by it. Which passes over the data it
takes depends on loss and penalty: ridge, penalised least squares, smooth losses, or one path per
fold. There may be several *candidates*, such as the mixtures of an elastic net; the best mean score
decides among them, and all are solved from one preparation of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.paths.solve_path import refuse_no_strength
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.selection.generic import cross_validate_generic
from tikhon.selection.held_out import HeldOutSource
from tikhon.selection.nested import nest, outer_folds
from tikhon.selection.penalised_study import PenalisedBench, PenalisedFits
from tikhon.selection.ridge_study import study_ridge
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.smooth_study import study_smooth
from tikhon.selection.study import Study
from tikhon.solvers.choose import has_machine, is_ridge
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.solve import GENERIC, no_refit, refuse_solver

__all__ = ["Candidate", "Procedure", "best_candidate"]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """One penalty among those to choose from.

    Attributes
    ----------
    penalty : Penalty, or callable
        Or a function of rows, which makes the penalty anew for every training set.
    relaxed : float
        The share of least squares on the support that is mixed into the solutions.
    """

    penalty: Penalty | Callable[[Data], Penalty]
    relaxed: float = 0.0

    def on(self, data: Data) -> Penalty:
        """Return the penalty for some rows."""
        return self.penalty if isinstance(self.penalty, Penalty) else self.penalty(data)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Procedure:
    """The whole choice of a strength, as nested cross-validation repeats it on fewer rows.

    Attributes
    ----------
    loss : Loss
    candidates : tuple of Candidate
        The simplest first: it wins among equals.
    grid : Grid
    folds
        What `tikhon.selection.folds.as_folds` takes, or a closed form.
    rule : str or Rule
    score : Score
    standardize, intercept : bool
    solver : str
    tol : float
    stop : Stop
        Shared by everything that is solved: the clock runs for the whole procedure.
    """

    loss: Loss = field(kw_only=False)
    candidates: tuple[Candidate, ...] = field(kw_only=False)
    grid: Grid
    folds: Any
    rule: str | Rule
    score: Score
    standardize: bool
    intercept: bool
    solver: str
    tol: float
    stop: Stop

    def judged(self, data: Data, nested: bool | int) -> tuple[Study, ...]:
        """Return the study of each candidate; the best one with its nested score, if asked for."""
        outer = outer_folds(self.folds, nested, grouped=data.groups is not None)
        studies = self.studies(data)
        if outer is None:
            return studies
        at = best_candidate(studies)

        supports = not is_ridge(self.loss, self.candidates[0].on(data))
        honest = nest(
            studies[at], data, self.study, outer, self.score, supports=supports, stop=self.stop
        )
        return (*studies[:at], honest, *studies[at + 1 :])

    def study(self, data: Data) -> Study:
        """Return the study of the best candidate."""
        studies = self.studies(data)
        return studies[best_candidate(studies)]

    def studies(self, data: Data) -> tuple[Study, ...]:
        """Score every candidate, and remember how to predict the rows of each fold.

        There are fewer studies than candidates where the time was up.
        """
        pairs = zip(self._scored(data), self.candidates, strict=False)
        return tuple(replace(study, source=self._source(data, one)) for study, one in pairs)

    def _source(self, data: Data, candidate: Candidate) -> HeldOutSource:
        return HeldOutSource(
            self.loss,
            candidate.penalty,
            data,
            self.folds,
            self.standardize,
            self.intercept,
            self.solver,
            self.tol,
            candidate.relaxed,
        )

    def _scored(self, data: Data) -> tuple[Study, ...]:
        """Score the grid by the fastest passes there are for this loss and penalty."""
        first = self.candidates[0].on(data)
        d = data.design.shape[1]
        refuse_no_strength(self.loss, first, d, self.grid)
        if self.solver != GENERIC and has_machine(self.loss, first, d):
            return self._penalised(data)
        if self.candidates[0].relaxed or len(self.candidates) > 1:
            raise no_refit(self.loss, first)
        if is_smooth(self.loss):
            return (self._smooth(data, first),)
        if self.solver != GENERIC and is_ridge(self.loss, first):
            return (self._ridge(data),)
        return (self._generic(data, first),)

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

    def _penalised(self, data: Data) -> tuple[Study, ...]:
        """Every candidate from one preparation of the table; equal penalties are solved once."""
        bench = PenalisedBench.of(
            data,
            folds=self.folds,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
            stop=self.stop,
        )
        machine = bench.machine(self.candidates[0].on(data))
        shrunk, unshrunk, solved = None, None, None
        studies: list[Study] = []
        for candidate in self.candidates:
            if studies and self.stop.now:
                break
            if shrunk is None or candidate.penalty is not solved:
                machine = machine if shrunk is None else machine.with_penalty(candidate.on(data))
                shrunk = PenalisedFits.of(bench, machine, self.grid, self._own(candidate, bench))
                solved, unshrunk = candidate.penalty, None
            fits = shrunk
            if candidate.relaxed:
                unshrunk = unshrunk or shrunk.relaxed()
                fits = shrunk.mixed(unshrunk, candidate.relaxed)
            studies.append(fits.study(rule=self.rule, score=self.score, relaxed=candidate.relaxed))
        return tuple(studies)

    def _own(self, candidate: Candidate, bench: PenalisedBench) -> list[Penalty] | None:
        """The penalty of each training set, where it is made anew; None where all share one."""
        if isinstance(candidate.penalty, Penalty):
            return None
        data, split = bench.data, bench.split
        return [candidate.on(data.rows(split.cells.where(train))) for train in split.train]

    def _smooth(self, data: Data, penalty: Penalty) -> Study:
        return study_smooth(
            data,
            self.loss,
            penalty,
            self.grid,
            folds=self.folds,
            rule=self.rule,
            score=self.score,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
            stop=self.stop,
        )

    def _generic(self, data: Data, penalty: Penalty) -> Study:
        refuse_solver(Problem(self.loss, penalty, 0.0, self.intercept), self.solver)
        return cross_validate_generic(
            self.loss,
            penalty,
            data,
            self.grid,
            folds=self.folds,
            rule=self.rule,
            score=self.score,
            standardize=self.standardize,
            intercept=self.intercept,
            tol=self.tol,
            stop=self.stop,
        )


def best_candidate(studies: tuple[Study, ...]) -> int:
    """Return the position of the best mean score; of equals, the first."""
    costs = [study.best_cost for study in studies]
    return costs.index(min(costs))
