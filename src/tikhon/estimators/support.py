"""What support vector estimators share: machines, their choice, and what is shown of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.errors import DataWarning, UnsupportedError, warn_user
from tikhon.estimators.strength import as_strength
from tikhon.kernel import Kernel, as_kernel
from tikhon.paths.grid import Grid
from tikhon.problem.support import SupportProblem
from tikhon.results import Certificate, Status
from tikhon.selection.scores import Score
from tikhon.selection.support_study import (
    SupportStudy,
    SupportTasks,
    fit_support,
    study_support,
    weights_of,
    worst_certificate,
    worst_status,
)
from tikhon.solvers.support_kernel import Expansion, KernelTable
from tikhon.solvers.support_machine import BoundMachine, SupportMachine
from tikhon.solvers.support_path import SupportSolution
from tikhon.typing import Float64Array, IntArray

__all__ = [
    "FittedSupport",
    "as_kernels",
    "cache_bytes",
    "clock",
    "fit_machines",
    "outcome",
    "strength_of",
    "support_vectors",
]

STRENGTHS = 10
"""How many strengths "cv" tries."""


@dataclass(frozen=True, slots=True, eq=False)
class FittedSupport:
    """The machines of a fit.

    Attributes
    ----------
    bound : BoundMachine
    solutions : tuple of SupportSolution
        One for each task.
    chosen : SupportStudy or None
        What chose the strength.
    studies : tuple of SupportStudy
        One for each kernel tried.
    held_out : ndarray or None
        Decisions for rows that their machine had not seen, at the chosen strength.
    problems : tuple of SupportProblem
        One for each task.
    solver : str
    """

    bound: BoundMachine
    solutions: tuple[SupportSolution, ...]
    chosen: SupportStudy | None
    studies: tuple[SupportStudy, ...]
    held_out: Float64Array | None
    problems: tuple[SupportProblem, ...]
    solver: str

    @property
    def support(self) -> IntArray:
        """Rows with a dual coefficient in any machine, ascending."""
        used = np.zeros(len(self.solutions[0].beta), dtype=np.bool_)
        for each in self.solutions:
            used |= each.beta != 0
        return np.flatnonzero(used)

    @property
    def offsets(self) -> Float64Array:
        """The offset of each machine."""
        return np.array([each.offset for each in self.solutions])

    @property
    def expansion(self) -> Expansion:
        """The machines as functions of new rows, with what of the training rows they need."""
        assert isinstance(self.bound.table, KernelTable)
        support = self.support
        beta = np.column_stack([each.beta[support] for each in self.solutions])
        return self.bound.table.expansion(support, beta)

    @property
    def at_bound(self) -> Float64Array:
        """Which coefficients of each machine are at the end of their box, (tasks, n)."""
        upper = np.array(
            [
                np.maximum(np.abs(problem.lower), problem.upper) / each.lam
                for each, problem in zip(self.solutions, self.problems, strict=True)
            ]
        )
        beta = np.array([np.abs(each.beta) for each in self.solutions])
        return np.asarray((beta >= (1.0 - 1e-12) * upper) & (upper > 0))


def fit_machines(
    machines: Sequence[SupportMachine],
    data: Data,
    tasks: SupportTasks,
    lam: Grid | float,
    *,
    folds: Any,
    rule: Any,
    score: Score,
    stop: Stop,
    user_grid: bool,
) -> FittedSupport:
    """Fit one strength, or choose one (and a kernel, where several are given) by folds."""
    if not isinstance(lam, Grid) and len(machines) > 1:
        raise UnsupportedError(
            f"{len(machines)} kernels are to be chosen from, and lam={lam} asks for no choice; use "
            "lam='cv' or a tk.Grid, or one kernel."
        )
    if not isinstance(lam, Grid) and folds is None:
        return _fit_strength(machines[0], data, tasks, lam, stop)
    grid = lam if isinstance(lam, Grid) else Grid(values=[lam])
    studies = tuple(
        study_support(machine, data, tasks, grid, folds=folds, rule=rule, score=score, stop=stop)
        for machine in machines
    )
    best = min(studies, key=lambda each: each.study.best_cost)
    study = best.study
    at = study.index()
    edge = study.at_edge
    if edge and user_grid and len(study.lams) > 1:
        warn_user(
            f"the best strength, {study.lam('min'):.3g}, is the {edge} of the grid; widen the grid "
            "to see whether a better one lies beyond.",
            DataWarning,
        )
    solutions = tuple(path.solutions[at] for path in best.paths)
    problems = tuple(best.bound.problem(task) for task in tasks.tasks)
    return FittedSupport(
        best.bound, solutions, best, studies, best.held_out[at], problems, study.solver
    )


def _fit_strength(
    machine: SupportMachine, data: Data, tasks: SupportTasks, lam: float, stop: Stop
) -> FittedSupport:
    if lam <= 0:
        raise UnsupportedError(
            f"`lam` of a support vector machine must be > 0, got {lam}. For no slack at all use "
            "tk.HardSVM."
        )
    solvers = min(len(tasks.tasks), 2)
    bound = machine.bind(data.design, weights_of(data), solvers=solvers)
    paths = fit_support(bound, tasks, np.array([lam]), stop)
    solutions = tuple(path.solutions[0] for path in paths)
    problems = tuple(bound.problem(task) for task in tasks.tasks)
    return FittedSupport(bound, solutions, None, (), None, problems, paths[0].solver)


def outcome(fitted: FittedSupport) -> tuple[Certificate, Status]:
    """Return the worst certificate and status of the machines."""
    return (
        worst_certificate([each.certificate for each in fitted.solutions]),
        worst_status([each.status for each in fitted.solutions]),
    )


def as_kernels(kernel: Any) -> list[Kernel]:
    """Return the kernels to choose from: one, or those of a list."""
    if isinstance(kernel, list | tuple):
        if not kernel:
            raise ValueError("`kernel` is an empty list; give at least one kernel.")
        return [as_kernel(each) for each in kernel]
    return [as_kernel(kernel)]


def strength_of(lam: Any) -> Grid | float:
    """Return the grid or the number that `lam` means."""
    return as_strength(lam, size=STRENGTHS)


def clock(max_seconds: float | None) -> Stop:
    """Return the stop that the time limit means."""
    if max_seconds is None:
        return Stop()
    if not max_seconds > 0:
        raise ValueError(f"`max_seconds` must be > 0 or None, got {max_seconds}.")
    return Stop(float(max_seconds))


def cache_bytes(cache_mb: float) -> int:
    """Return the budget for rows of kernel matrices in bytes."""
    if not cache_mb > 0:
        raise ValueError(f"`cache_mb` must be > 0, got {cache_mb}.")
    return int(cache_mb * 2**20)


def support_vectors(design: Design, index: IntArray) -> Any:
    """Return some rows of the table, as the user knows them."""
    part = design.rows(index)
    X = getattr(part, "X", None)
    return part if X is None else X
