"""The default policy for smooth losses, as one table: which algorithm fits which table.

    regime             when                                   algorithm
    tall               squares alone, n >= d, d <= 3000       Newton steps, the grid at once
    iterative          squares alone, any other table,        Newton steps by conjugate gradients
                       and several classes
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
from tikhon.losses.multinomial import Multinomial
from tikhon.penalties.base import Penalty
from tikhon.solvers.smooth import SmoothMachine
from tikhon.solvers.smooth_generic import SmoothGeneric
from tikhon.solvers.smooth_krylov import SmoothKrylov
from tikhon.solvers.smooth_tall import SmoothTall
from tikhon.solvers.smooth_wide import SmoothWide
from tikhon.solvers.training import Training
from tikhon.solvers.wide_table import WideTable

__all__ = ["SmoothPlan", "plan_smooth"]

DECOMPOSABLE = 3000
"""Largest matrix of second moments that is made and factored."""

MACHINES: dict[str, type[SmoothMachine]] = {
    "tall": SmoothTall,
    "iterative": SmoothKrylov,
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
        _refuse(loss, penalty, solver, design.shape[1], targets)
        return SmoothPlan(solver, "asked for")
    n, d = design.shape
    form = penalty.coordinates(d)
    if form is not None and form.squares_alone:
        if isinstance(loss, Multinomial):
            return SmoothPlan("iterative", f"n = {n}, d = {d}, several classes")
        if d <= DECOMPOSABLE and n >= d and not loss.per_class:
            return SmoothPlan("tall", f"n = {n} >= d = {d}")
        if not loss.per_class:
            return SmoothPlan("iterative", f"n = {n}, d = {d}")
    if loss.per_class and (form is None or not isinstance(loss, Multinomial)):
        return SmoothPlan("proximal_gradient", f"n = {n}, d = {d}, several classes")
    by_column = form is not None
    if by_column or (penalty.group_form(d) is not None and targets == 1):
        return SmoothPlan("working_set", f"n = {n}, d = {d}")
    return SmoothPlan("proximal_gradient", f"{type(penalty).__name__} has no compiled form")


def _refuse(loss: Loss, penalty: Penalty, solver: str, d: int, targets: int) -> None:
    """Refuse a regime that does not take a loss or a penalty, and say which do."""
    form = penalty.coordinates(d)
    squares = form is not None and form.squares_alone
    takes = {
        "tall": squares and not loss.per_class,
        "iterative": squares and (not loss.per_class or isinstance(loss, Multinomial)),
        "working_set": (form is not None and (not loss.per_class or isinstance(loss, Multinomial)))
        or (penalty.group_form(d) is not None and targets == 1 and not loss.per_class),
        "proximal_gradient": True,
    }
    if not takes[solver]:
        able = ", ".join(repr(name) for name, able in takes.items() if able)
        raise UnsupportedError(
            f"solver={solver!r} does not take {type(loss).__name__} with "
            f"{type(penalty).__name__}; use 'auto', or one of {able}."
        )
