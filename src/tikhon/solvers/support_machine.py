"""Support vector machines of every kind behind one door: bind rows once, solve tasks on them.

A task is a target and the rows that take part: a class against the rest, a pair of classes, a
column of targets. Rows that a fold holds out stay in the table with weight 0: they take no part,
and the solver's values at them are predictions for free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tikhon._kernels import SharedRows, Stop
from tikhon.data.design import Design
from tikhon.kernel import Kernel
from tikhon.problem.support import SupportProblem
from tikhon.solvers.support_kernel import KernelTable, kernel_path
from tikhon.solvers.support_linear import LinearTable, linear_path
from tikhon.solvers.support_path import SupportPath, SupportSolution
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["BoundMachine", "SupportMachine", "Task"]


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """One problem: targets of all rows, and which rows take part."""

    target: Float64Array
    member: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class SupportMachine:
    """What is to be fitted, whatever the rows.

    Attributes
    ----------
    kernel : Kernel or None
        None for a linear machine, which is solved for its coefficients.
    loss : str
        "hinge", "squared_hinge" or "tube".
    tube : float
    offset : str
        "constraint", "none" or "augmented".
    standardize : bool
    solver : str
        Of the linear machine.
    tol : float
    budget : int
        Bytes for rows of kernel matrices, of all solvers together.
    """

    kernel: Kernel | None
    loss: str
    tube: float
    offset: str
    standardize: bool
    solver: str
    tol: float
    budget: int

    @property
    def same_rows(self) -> bool:
        """Whether folds see the same kernel matrix: nothing of it depends on their rows."""
        kernel = self.kernel
        if kernel is None:
            return False
        return not kernel.scales or (not self.standardize and kernel.resolved(1.0) is kernel)

    def bind(self, design: Design, s: Float64Array, *, solvers: int = 1) -> BoundMachine:
        """Bind rows of weights s, for so many solvers at a time."""
        if self.kernel is None:
            linear = LinearTable.of(design, s, standardize=self.standardize, offset=self.offset)
            return BoundMachine(self, linear, s, None, 0)
        table = KernelTable.of(
            self.kernel,
            design,
            s,
            standardize=self.standardize and self.kernel.scales,
            offset=self.offset,
            budget=self.budget,
        )
        shared = table.shared()
        return BoundMachine(self, table, s, shared, self.budget // (2 * max(1, solvers)))

    def with_budget(self, budget: int) -> SupportMachine:
        """Return the same machine with another budget."""
        return replace(self, budget=budget)


@dataclass(frozen=True, slots=True, eq=False)
class BoundMachine:
    """A machine with its rows, ready to solve tasks.

    Attributes
    ----------
    machine : SupportMachine
    table : KernelTable or LinearTable
    s : ndarray of shape (n,)
        Weights; 0 for rows that take no part in any task.
    shared : SharedRows or None
    budget : int
        Bytes for the rows of one solver.
    """

    machine: SupportMachine
    table: KernelTable | LinearTable
    s: Float64Array
    shared: SharedRows | None
    budget: int

    def weighted(self, s: Float64Array) -> BoundMachine:
        """Return the same rows with other weights, where the matrix does not depend on them."""
        return replace(self, s=s)

    def problem(self, task: Task) -> SupportProblem:
        """Return the problem of a task; weights are shares of all rows, whoever takes part."""
        p = np.where(task.member, self.s, 0.0) / float(self.s.sum())
        if self.machine.loss == "tube":
            return SupportProblem.tubes(
                task.target, p, self.machine.tube, offset=self.machine.offset
            )
        return SupportProblem.classes(
            task.target, p, squared=self.machine.loss == "squared_hinge", offset=self.machine.offset
        )

    def solve(
        self, task: Task, lams: Float64Array, *, exact: bool, stop: Stop | None
    ) -> SupportPath:
        """Solve one task for each strength, strongest first."""
        problem, machine = self.problem(task), self.machine
        if isinstance(self.table, LinearTable):
            return linear_path(
                self.table, problem, lams, tol=machine.tol, solver=machine.solver, stop=stop
            )
        return kernel_path(
            self.table,
            problem,
            lams,
            tol=machine.tol,
            budget=self.budget,
            shared=self.shared,
            exact=exact,
            stop=stop,
        )

    def values(self, solutions: Sequence[SupportSolution], rows: IntArray) -> Float64Array:
        """Return the machine's values at some rows of the table, (solutions, rows)."""
        if isinstance(self.table, LinearTable):
            part = self.table.design.rows(rows)
            return np.array([part.predict(_coef(each)) + each.offset for each in solutions])
        return np.array([each.f[rows] + each.offset for each in solutions])

    def scale_of_kernel(self) -> float:
        """Return the weighted mean of k(x, x): what strengths are measured by."""
        share = self.s / self.s.sum()
        if isinstance(self.table, KernelTable):
            table = self.table
            return float(share @ table.kernel.diagonal(table.X)) + table.plus
        stats = self.table.design.stats(self.s)
        centred = (stats.mean / self.table.scale - self.table.mean / self.table.scale) ** 2
        return float(((stats.sd / self.table.scale) ** 2 + centred).sum())


def _coef(solution: SupportSolution) -> Float64Array:
    assert solution.coef is not None
    return solution.coef
