"""The procedure that chooses a strength: a grid, folds and a rule, for any loss and penalty.

Estimators, `tk.cross_validate` and nested folds all choose by it. Which passes over the data it
takes depends on loss and penalty: ridge, penalised least squares, smooth losses, or one path per
fold.
"""

from __future__ import annotations

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
from tikhon.selection.penalised_study import PenalisedBench, study_penalised
from tikhon.selection.ridge_study import study_ridge
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.smooth_study import study_smooth
from tikhon.selection.study import Study
from tikhon.solvers.choose import has_machine, is_ridge
from tikhon.solvers.smooth import is_smooth
from tikhon.solvers.solve import GENERIC, refuse_solver

__all__ = ["Procedure"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Procedure:
    """The whole choice of a strength, as nested cross-validation repeats it on fewer rows.

    Attributes
    ----------
    loss : Loss
    penalty : Penalty
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
    penalty: Penalty = field(kw_only=False)
    grid: Grid
    folds: Any
    rule: str | Rule
    score: Score
    standardize: bool
    intercept: bool
    solver: str
    tol: float
    stop: Stop

    def judged(self, data: Data, nested: bool | int) -> Study:
        """Return the study of some rows, with its nested score if that is asked for."""
        outer = outer_folds(self.folds, nested, grouped=data.groups is not None)
        study = self.study(data)
        if outer is None:
            return study
        supports = not is_ridge(self.loss, self.penalty)
        return nest(study, data, self.study, outer, self.score, supports=supports, stop=self.stop)

    def study(self, data: Data) -> Study:
        """Score the grid, and remember how to predict the rows of each fold."""
        source = HeldOutSource(
            self.loss,
            self.penalty,
            data,
            self.folds,
            self.standardize,
            self.intercept,
            self.solver,
            self.tol,
        )
        return replace(self._scored(data), source=source)

    def _scored(self, data: Data) -> Study:
        """Score the grid by the fastest passes there are for this loss and penalty."""
        refuse_no_strength(self.loss, self.penalty, data.design.shape[1], self.grid)
        if is_smooth(self.loss):
            return self._smooth(data)
        if self.solver == GENERIC:
            return self._generic(data)
        if is_ridge(self.loss, self.penalty):
            return self._ridge(data)
        if has_machine(self.loss, self.penalty, data.design.shape[1]):
            return self._penalised(data)
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

    def bench(self, data: Data) -> PenalisedBench:
        """Return some rows prepared for several penalties on the squared loss."""
        return PenalisedBench.of(
            data,
            folds=self.folds,
            standardize=self.standardize,
            intercept=self.intercept,
            solver=self.solver,
            tol=self.tol,
            stop=self.stop,
        )

    def _penalised(self, data: Data) -> Study:
        bench = self.bench(data)
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
            stop=self.stop,
        )

    def _generic(self, data: Data) -> Study:
        refuse_solver(Problem(self.loss, self.penalty, 0.0, self.intercept), self.solver)
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
            stop=self.stop,
        )
