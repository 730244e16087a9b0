"""The default policy, as one table: which algorithm fits which table.

    regime       when                          algorithm
    ridge
    tall         n >= d, d <= 3000             moments + eigendecomposition
    wide         n < d, n <= 3000              kernel matrix + eigendecomposition
    iterative    min(n, d) > 3000              Golub-Kahan bidiagonalization
    other penalties
    tall         n >= d, d <= 3000             moments + active sets
    columns      sparse, n > 3000 and d > 3000 coordinate descent on columns
    working_set  else                          moments of working sets + active sets;
                                               groups with more columns than n / 2: by rows

The limit is where d^3 operations for each fold overtake some hundred products with the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tikhon._kernels import Stop
from tikhon.data.design import Design
from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.penalties import L2, NoPenalty
from tikhon.penalties.base import Penalty
from tikhon.solvers.penalised import PenalisedMachine
from tikhon.solvers.penalised_columns import PenalisedColumns
from tikhon.solvers.penalised_tall import PenalisedTall
from tikhon.solvers.penalised_wide import PenalisedWide
from tikhon.solvers.ridge_krylov import KrylovMachine
from tikhon.solvers.ridge_tall import TallMachine
from tikhon.solvers.ridge_wide import WideMachine
from tikhon.solvers.tall_table import TallTable
from tikhon.solvers.training import Machine, Training
from tikhon.solvers.wide_table import WideTable

__all__ = [
    "DECOMPOSABLE",
    "PenalisedPlan",
    "Plan",
    "has_machine",
    "is_ridge",
    "plan_penalised",
    "plan_ridge",
]

DECOMPOSABLE = 3000
"""Largest matrix that is decomposed once per fold."""

REGIMES = ("tall", "wide", "iterative")


@dataclass(frozen=True, slots=True)
class Plan:
    """Which regime was chosen, and why."""

    regime: str
    reason: str

    def machine(
        self, training: Training, smallest: Callable[[float], float], tol: float
    ) -> Machine:
        """Prepare the table for this regime."""
        if self.regime == "tall":
            return TallMachine(training)
        if self.regime == "wide":
            return WideMachine(training)
        return KrylovMachine(training, smallest, tol)


def plan_ridge(n: int, d: int, solver: str = "auto") -> Plan:
    """Choose how ridge is computed for `n` rows and `d` columns."""
    if solver != "auto":
        if solver not in REGIMES:
            names = ", ".join(map(repr, ("auto", *REGIMES)))
            raise UnsupportedError(f"`solver` for ridge must be one of {names}, got {solver!r}.")
        return Plan(solver, "asked for")
    if min(n, d) > DECOMPOSABLE:
        return Plan("iterative", f"min(n, d) = {min(n, d)} > {DECOMPOSABLE}")
    if n >= d:
        return Plan("tall", f"n = {n} >= d = {d}")
    return Plan("wide", f"n = {n} < d = {d}")


def is_ridge(loss: Loss, penalty: Penalty) -> bool:
    """Whether a problem is least squares with no penalty but L2."""
    return isinstance(loss, Squared) and isinstance(penalty, L2 | NoPenalty)


PENALISED_REGIMES = ("tall", "working_set", "columns")


@dataclass(frozen=True, slots=True)
class PenalisedPlan:
    """Which regime was chosen for a penalty other than L2, and why."""

    regime: str
    reason: str

    def machine(
        self, training: Training, penalty: Penalty, tol: float, stop: Stop
    ) -> PenalisedMachine:
        """Prepare the table for this regime."""
        if self.regime == "tall":
            return PenalisedTall(TallTable(training), penalty, tol, stop)
        if self.regime == "columns":
            return PenalisedColumns(WideTable(training), penalty, tol, stop)
        return PenalisedWide(WideTable(training), penalty, tol, stop)

    def __str__(self) -> str:
        names = {"tall": PenalisedTall.name, "columns": PenalisedColumns.name}
        return f"{self.regime} ({self.reason}): {names.get(self.regime, PenalisedWide.name)}"


def has_machine(loss: Loss, penalty: Penalty, d: int) -> bool:
    """Whether a problem other than ridge has a compiled solver."""
    if is_ridge(loss, penalty) or not isinstance(loss, Squared):
        return False
    return penalty.coordinates(d) is not None or penalty.group_form(d) is not None


def plan_penalised(design: Design, penalty: Penalty, solver: str = "auto") -> PenalisedPlan:
    """Choose how penalised least squares is computed for a table."""
    n, d = design.shape
    if solver != "auto":
        if solver not in PENALISED_REGIMES:
            names = ", ".join(map(repr, ("auto", *PENALISED_REGIMES)))
            raise UnsupportedError(
                f"`solver` must be one of {names}, or 'proximal_gradient', got {solver!r}."
            )
        return PenalisedPlan(solver, "asked for")
    if d <= DECOMPOSABLE and n >= d:
        return PenalisedPlan("tall", f"n = {n} >= d = {d}")
    if design.is_sparse and min(n, d) > DECOMPOSABLE and penalty.coordinates(d) is not None:
        return PenalisedPlan("columns", f"sparse, n = {n}, d = {d}")
    return PenalisedPlan("working_set", f"n = {n}, d = {d}")
