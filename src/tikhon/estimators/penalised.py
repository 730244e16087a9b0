"""What estimators with a loss and a penalty share: the grid, the choice, one strength."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import DataWarning, UnsupportedError, warn_user
from tikhon.estimators.adaptive import Adaptive
from tikhon.estimators.base import LinearEstimator, check_range, feature_labels
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
from tikhon.typing import ArrayLike

__all__ = ["STRENGTH_ELSEWHERE", "PenalisedRegressor"]

STRENGTH_ELSEWHERE = {
    "alpha": "scikit-learn's {name}(alpha={value}) is `lam`={value} with standardize=False.",
    "C": "C={value} multiplies a sum of losses, so `lam` = 1 / (C n), n the number of rows; "
    "for 1,000 rows {per_1000}.",
    "alphas": "a grid is `lam`=tk.Grid(values=alphas), with standardize=False.",
}


class PenalisedRegressor(LinearEstimator):
    """A penalised loss, its strength chosen by cross-validation unless it is given.

    Subclasses say which penalty, by `_penalty`; the loss is the squared one unless they say
    otherwise.
    """

    lam: float | str | Grid
    folds: Any
    rule: str | Rule
    scoring: Any
    standardize: bool
    fit_intercept: bool
    nested: bool | int
    max_seconds: float | None
    relaxed: bool | float | ArrayLike = False
    foreign_strengths: ClassVar[dict[str, str]] = STRENGTH_ELSEWHERE

    @property
    def _loss(self) -> Loss:
        """The loss of the predictions."""
        return Squared()

    @abstractmethod
    def _penalty(self, data: Data) -> Penalty:
        """Return the penalty of the coefficients."""

    def _fit_checked(self, data: Data) -> None:
        check_range(data, SAFE_SMALLEST, SAFE_LARGEST)
        as_rule(self.rule)
        if self.standardize not in (True, False):
            raise ValueError(f"`standardize` must be True or False, got {self.standardize!r}.")
        self.lam_1se_ = float("nan")
        grid = self.lam if isinstance(self.lam, Grid) else None
        if isinstance(self.lam, str) and self.lam == "cv":
            grid = Grid()
        if grid is not None:
            self._fit_grid(data, grid)
        else:
            self._fit_strength(data, self._strength())

    def _strength(self) -> float:
        if not isinstance(self.lam, int | float | np.number) or isinstance(self.lam, bool):
            raise ValueError(
                f"`lam` must be 'cv', a number or a tk.Grid, got {self.lam!r}. To choose among "
                "strengths use tk.Grid(values=...)."
            )
        lam = float(self.lam)
        if not (lam >= 0 and np.isfinite(lam)):
            raise ValueError(
                f"`lam` must be finite and >= 0, got {lam}. Use 0 for no regularization."
            )
        return lam

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

    def _fit_grid(self, data: Data, grid: Grid) -> None:
        candidates, loss = self._candidates(data), self._loss
        procedure = Procedure(
            loss,
            tuple(candidates.values()),
            grid=grid,
            folds=self.folds,
            rule=self.rule,
            score=as_score(self.scoring, loss),
            standardize=self.standardize,
            intercept=self.fit_intercept,
            solver="auto",
            tol=self.tol,
            stop=Stop.after(self.max_seconds),
        )
        studies = procedure.judged(data, self.nested)
        at = best_candidate(studies)
        self._record(dict(zip(candidates, studies, strict=False)), list(candidates)[at])
        self._choose(data, studies[at], warn_at_edge=isinstance(self.lam, Grid))

    def _record(self, studies: dict[float, Study], chosen: float) -> None:
        """Keep the study of each candidate, and which one was chosen."""
        self.relaxed_ = chosen
        if len(studies) > 1:
            self.studies_ = studies

    def _choose(self, data: Data, study: Study, *, warn_at_edge: bool) -> None:
        """Keep a study, and what its rule chooses."""
        self.study_: Study | None = study
        self.path_: Path = study.path
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
        if self.nested:
            raise UnsupportedError(
                f"nested={self.nested} judges a choice, and a given `lam` leaves nothing to "
                "choose; use lam='cv' or a tk.Grid."
            )
        shares = self._shares()
        if len(shares) > 1:
            raise ValueError(
                f"several shares of `relaxed` are chosen from by cross-validation; got lam={lam}. "
                "Use lam='cv', or one share."
            )
        self.relaxed_ = shares[0]
        single = solve_one(
            Problem(self._loss, self._penalty(data), lam, self.fit_intercept),
            data,
            standardize=self.standardize,
            solver="auto",
            tol=self.tol,
            stop=Stop.after(self.max_seconds),
            relaxed=self.relaxed_,
        )
        self.path_ = path_of_one(single, data)
        solution = single.solution
        if len(single.aliased):
            named = feature_labels(data, single.aliased)
            remedy = f"Remove {named}, which the others determine, or use `lam` > 0."
            status = Status(solution.status.code, solution.status.message, remedy)
            solution = replace(solution, status=status)
        self._keep(data, solution)

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
