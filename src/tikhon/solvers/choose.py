"""The default policy, as one table: which algorithm fits which table.

    regime      when                                       ridge by
    tall        n >= d, d <= 3000                          moments + eigendecomposition
    wide        n < d, n <= 3000                           kernel matrix + eigendecomposition
    iterative   min(n, d) > 3000                           Golub-Kahan bidiagonalization

The limit is where d^3 operations for each fold overtake some hundred products with the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.penalties import L2, NoPenalty
from tikhon.penalties.base import Penalty
from tikhon.solvers.ridge_krylov import KrylovMachine
from tikhon.solvers.ridge_tall import TallMachine
from tikhon.solvers.ridge_wide import WideMachine
from tikhon.solvers.training import Machine, Training

__all__ = ["DECOMPOSABLE", "Plan", "is_ridge", "plan_ridge"]

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
