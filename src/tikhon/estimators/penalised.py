"""What estimators with a loss and a penalty share: the grid, the choice, one strength."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import DataWarning, warn_user
from tikhon.estimators.adaptive import Adaptive
from tikhon.estimators.base import Estimator, LinearEstimator, check_range, feature_labels
from tikhon.estimators.strength import as_strength
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.paths.penalised_path import path_of_one
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.results import Path, Solution, Status, unfinished
from tikhon.selection.procedure import Candidate, Procedure, best_candidate
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.scores import as_score
from tikhon.selection.study import Study
from tikhon.solvers.least_squares import SAFE_LARGEST, SAFE_SMALLEST
from tikhon.solvers.solve import solve_one
from tikhon.solvers.solve_penalised import Single
from tikhon.typing import ArrayLike

__all__ = ["STRENGTH_ELSEWHERE", "Penalised", "PenalisedRegressor"]

STRENGTH_ELSEWHERE = {
    "alpha": "scikit-learn's {name}(alpha={value}) is `lam`={value} with standardize=False.",
    "C": "C={value} multiplies a sum of losses, so `lam` = 1 / (C n), n the number of rows; "
    "for 1,000 rows {per_1000}.",
    "alphas": "a grid is `lam`=tk.Grid(values=alphas), with standardize=False.",
}


class Penalised(Estimator):
    """A penalised loss, its strength chosen by cross-validation unless it is given.

    Subclasses say which penalty, by `_penalty`; the loss is the squared one unless they say
    otherwise. Regressors and classifiers differ in how they store a solution (`_store`), and
    classifiers cut rows by class (`_fold_rule`).
    """

    lam: float | str | Grid
    folds: Any
    rule: str | Rule
    scoring: Any
    standardize: bool
    fit_intercept: bool
    nested: bool | int
    max_seconds: float | None
    study_: Study | None
    path_: Path
    relaxed: bool | float | ArrayLike = False

    @property
    def _loss(self) -> Loss:
        """The loss of the predictions."""
        return Squared()

    @property
    def _solver(self) -> str:
        """The solver, by the name that `tk.solve` knows."""
        return "auto"

    @abstractmethod
    def _penalty(self, data: Data) -> Penalty:
        """Return the penalty of the coefficients."""

    def _fit_checked(self, data: Data) -> None:
        check_range(data, SAFE_SMALLEST, SAFE_LARGEST)
        as_rule(self.rule)
        if self.standardize not in (True, False):
            raise ValueError(f"`standardize` must be True or False, got {self.standardize!r}.")
        self.lam_1se_ = float("nan")
        lam = as_strength(self.lam, self.nested)
        if isinstance(lam, Grid):
            self._fit_grid(data, lam)
        else:
            self._fit_strength(data, lam)

    def _fold_rule(self, data: Data) -> Any:  # noqa: ARG002
        """How rows are cut, as `tk.cross_validate` takes it."""
        return self.folds

    def _maker(self, data: Data) -> Penalty | Callable[[Data], Penalty]:
        """Return the penalty, or how it is made for the rows of each training set."""
        adaptive = isinstance(getattr(self, "weights", None), Adaptive)
        return self._penalty if adaptive else self._penalty(data)

    def _candidates(self, data: Data) -> dict[float, Candidate]:
        """Return what there is to choose from besides the strength, the simplest first."""
        penalty = self._maker(data)
        return {share: Candidate(penalty, share) for share in self._shares()}

    def _shares(self) -> list[float]:
        """Return the shares of least squares that `relaxed` stands for, ascending."""
        shares = np.unique(np.asarray(self.relaxed, dtype=np.float64))
        if not len(shares) or not np.all((shares >= 0) & (shares <= 1)):
            raise ValueError(
                "`relaxed` must be True, False, or shares between 0 and 1, such as "
                f"[0, 0.25, 0.5, 0.75, 1]; got {self.relaxed!r}."
            )
        return [float(share) for share in shares]

    def _procedure(self, data: Data, grid: Grid) -> Procedure:
        """Return how a strength is chosen, the clock already running."""
        loss = self._loss
        return Procedure(
            loss,
            tuple(self._candidates(data).values()),
            grid=grid,
            folds=self._fold_rule(data),
            rule=self.rule,
            score=as_score(self.scoring, loss),
            standardize=self.standardize,
            intercept=self.fit_intercept,
            solver=self._solver,
            tol=self.tol,
            stop=Stop.after(self.max_seconds),
        )

    def _fit_grid(self, data: Data, grid: Grid) -> None:
        studies = self._procedure(data, grid).judged(data, self.nested)
        at, names = best_candidate(studies), list(self._candidates(data))
        self._record(dict(zip(names, studies, strict=False)), names[at])
        self._choose(data, studies[at], warn_at_edge=isinstance(self.lam, Grid))

    def _record(self, studies: dict[float, Study], chosen: float) -> None:
        """Keep the study of each candidate, and which one was chosen."""
        if "relaxed" in vars(self):  # estimators whose constructor has it
            self.relaxed_ = chosen
        if len(studies) > 1:
            self.studies_ = studies

    def _choose(self, data: Data, study: Study, *, warn_at_edge: bool) -> None:
        """Keep a study, and what its rule chooses."""
        self.study_ = study
        self.path_ = study.path
        if np.isfinite(study.se).any():
            self.lam_1se_ = study.lam("1se")
        if study.at_edge == "smallest" and warn_at_edge:
            warn_user(
                f"the best strength, {study.lam('min'):.3g}, is the smallest of the grid; widen "
                "the grid to see whether a better one lies beyond.",
                DataWarning,
            )
        solution = study.choose()
        late = unfinished(len(study.lams), len(study.lams) + study.skipped)
        if late is not None and solution.status.ok:
            solution = replace(solution, status=late)
        self._keep(data, solution)

    def _fit_strength(self, data: Data, lam: float) -> None:
        self.study_ = None
        shares = self._shares()
        if len(shares) > 1:
            raise ValueError(
                f"several shares of `relaxed` are chosen from by cross-validation; got lam={lam}. "
                "Use lam='cv', or one share."
            )
        if "relaxed" in vars(self):
            self.relaxed_ = shares[0]
        single = self._one(data, lam)
        self.path_ = path_of_one(single, data)
        solution = single.solution
        if len(single.aliased):
            named = feature_labels(data, single.aliased)
            remedy = f"Remove {named}, which the others determine, or use `lam` > 0."
            status = Status(solution.status.code, solution.status.message, remedy)
            solution = replace(solution, status=status)
        self._keep(data, solution)

    def _one(self, data: Data, lam: float) -> Single:
        """Solve one strength."""
        return solve_one(
            Problem(self._loss, self._penalty(data), lam, self.fit_intercept),
            data,
            standardize=self.standardize,
            solver=self._solver,
            tol=self.tol,
            stop=Stop.after(self.max_seconds),
            relaxed=self._shares()[0],
        )

    def _keep(self, data: Data, solution: Solution) -> None:
        """Store one solution as what was fitted."""
        coef = solution.coef if solution.coef.ndim == 2 else solution.coef[:, None]
        intercept = np.atleast_1d(np.asarray(solution.intercept))
        self.lam_ = float(solution.lam)
        self.solver_ = solution.solver
        self.support_ = np.flatnonzero(np.any(coef != 0, axis=1))
        self._store(coef, intercept, data, solution.certificate, solution.status)

    @property
    def df_(self) -> float:
        """Effective degrees of freedom of the fitted coefficients."""
        return float(self.path_.df[self.path_.index(self.lam_)])


class PenalisedRegressor(Penalised, LinearEstimator):
    """The same for one or several numeric targets."""

    foreign_strengths: ClassVar[dict[str, str]] = STRENGTH_ELSEWHERE
