"""The default policy for smooth losses, as one table: which algorithm fits which table.

    regime             when                                   algorithm
    tall               squares alone, n >= d, d <= 3000       Newton steps, the grid at once
    working_set        a penalty by column, or by group       proximal Newton on working sets
    proximal_gradient  any other penalty                      proximal gradient

Losses of one prediction for each row and target are solved target by target.
"""

from __future__ import annotations

from dataclasses import dataclass

from tikhon._kernels import Stop
from tikhon.data.design import Design
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.solvers.smooth import SmoothMachine
from tikhon.solvers.smooth_generic import SmoothGeneric
from tikhon.solvers.smooth_tall import SmoothTall
from tikhon.solvers.smooth_wide import SmoothWide
from tikhon.solvers.training import Training
from tikhon.solvers.wide_table import WideTable

__all__ = ["SmoothPlan", "plan_smooth"]

DECOMPOSABLE = 3000
"""Largest matrix of second moments that is made and factored."""

MACHINES: dict[str, type[SmoothMachine]] = {
    "tall": SmoothTall,
    "working_set": SmoothWide,
    "proximal_gradient": SmoothGeneric,
}


@dataclass(frozen=True, slots=True)
class SmoothPlan:
    """Which regime was chosen for a smooth loss, and why."""

    regime: str
    reason: str

    def __str__(self) -> str:
        return f"{self.regime} ({self.reason}): {MACHINES[self.regime].name}"

    def machine(
        self, training: Training, loss: Loss, penalty: Penalty, tol: float, stop: Stop
    ) -> SmoothMachine:
        """Prepare the table for this regime."""
        return MACHINES[self.regime](WideTable(training), loss, penalty, tol, stop)


def plan_smooth(
    design: Design, loss: Loss, penalty: Penalty, solver: str = "auto", *, targets: int = 1
) -> SmoothPlan:
    """Choose how a smooth loss is fitted to a table."""
    if solver != "auto":
        if solver not in MACHINES:
            names = ", ".join(map(repr, ("auto", *MACHINES)))
            raise UnsupportedError(
                f"`solver` for {type(loss).__name__} with {type(penalty).__name__} must be one of "
                f"{names}, got {solver!r}."
            )
        return SmoothPlan(solver, "asked for")
    n, d = design.shape
    if loss.per_class:
        return SmoothPlan("proximal_gradient", f"n = {n}, d = {d}")
    form = penalty.coordinates(d)
    if form is not None and form.squares_alone and d <= DECOMPOSABLE and n >= d:
        return SmoothPlan("tall", f"n = {n} >= d = {d}")
    by_column = form is not None
    if by_column or (penalty.group_form(d) is not None and targets == 1):
        return SmoothPlan("working_set", f"n = {n}, d = {d}")
    return SmoothPlan("proximal_gradient", f"{type(penalty).__name__} has no compiled form")
