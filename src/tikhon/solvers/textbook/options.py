"""Options that several solvers share, checked where a solver is made."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from tikhon.solvers.textbook.schedules import Constant, Schedule

__all__ = ["AVERAGES", "Averaging", "Step", "at_least", "one_of", "schedule_of"]

Step: TypeAlias = Literal["auto", "backtracking"] | float | Schedule

Averaging: TypeAlias = Literal["average", "last", "suffix"]

AVERAGES = ("average", "last", "suffix")


def at_least(name: str, value: int, least: int) -> None:
    """Refuse what is not a whole number from `least` on."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"`{name}` must be a whole number >= {least}, got {value!r}.")


def one_of(name: str, value: str, names: tuple[str, ...]) -> None:
    """Refuse a word that is not in the list."""
    if value not in names:
        listed = ", ".join(map(repr, names))
        raise ValueError(f"`{name}` must be one of {listed}, got {value!r}.")


def schedule_of(step: Step) -> Schedule | None:
    """Return the schedule that a `step` stands for, None where the solver finds its own."""
    if isinstance(step, str):
        one_of("step", step, ("auto", "backtracking"))
        return None
    if callable(step):
        return step
    if isinstance(step, bool) or not isinstance(step, int | float | np.number):
        raise TypeError(
            f"`step` must be 'auto', 'backtracking', a number or a function of the step's number, "
            f"got {step!r}."
        )
    return Constant(float(step))
