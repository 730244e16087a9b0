"""The only iteration loop: history, callbacks, time, interruption, and the end of it.

An iterative solver is a step function and an opinion on when it is done. Everything else, from
Ctrl-C to `max_seconds`, is the same for all of them and lives here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from tikhon.results import History, Status, StatusCode

__all__ = ["Loop", "Progress", "run"]

State = TypeVar("State")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a callback is told: iteration number, objective, relative gap and seconds so far."""

    iteration: int
    objective: float
    gap: float
    seconds: float


@dataclass(frozen=True, slots=True)
class Loop(Generic[State]):
    """How an iteration ended.

    Attributes
    ----------
    state : State
        The last state.
    status : Status
    history : History
    iterations : int
    """

    state: State
    status: Status
    history: History
    iterations: int


def run(
    state: State,
    step: Callable[[State], State],
    measure: Callable[[State], tuple[float, float]],
    *,
    tol: float,
    max_iter: int,
    measure_every: int = 1,
    passes_per_step: float = 1.0,
    passes_of: Callable[[State], float] | None = None,
    limit: str = "max_iter",
    max_seconds: float | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Loop[State]:
    """Apply `step` until the gap is small.

    Parameters
    ----------
    state : State
        Where to start.
    step : callable
        One iteration.
    measure : callable
        Objective and relative gap (or KKT residual) of a state.
    tol : float
        The gap at which to stop.
    max_iter : int
    measure_every : int
        Measuring costs about as much as a step: do it this often.
    passes_per_step : float
        Sweeps over the data in a step, for the history. Measuring is not counted: it is no part of
        the algorithm.
    passes_of : callable, optional
        Sweeps so far, as a state knows them, where steps differ.
    limit : str
        How the solver calls `max_iter`, for the remedy.
    max_seconds : float, optional
        Looked at after each step.
    callback : callable, optional
        Called with a `Progress` at each measurement; returning True stops the loop.
    """
    started = time.perf_counter()
    trace: list[tuple[float, float, float, float]] = []
    iteration = 0

    def end(status: Status) -> Loop[State]:
        columns = tuple(zip(*trace, strict=True)) or ((), (), (), ())
        return Loop(state, status, History(*columns), iteration)

    def measured() -> Status | None:
        """Record where the state is; say whether that is the end."""
        objective, gap = measure(state)
        elapsed = time.perf_counter() - started
        passes = iteration * passes_per_step if passes_of is None else passes_of(state)
        trace.append((objective, gap, elapsed, passes))
        if gap <= tol:
            return Status(StatusCode.CONVERGED)
        if not objective < float("inf"):
            return _diverged(objective)
        if callback is not None and callback(Progress(iteration, objective, gap, elapsed)):
            return Status(StatusCode.INTERRUPTED, "stopped by the callback.")
        if iteration >= max_iter:
            return _out_of(StatusCode.MAX_ITER, gap, tol, limit)
        if late():
            return _out_of(StatusCode.MAX_SECONDS, gap, tol, "max_seconds")
        return None

    def late() -> bool:
        return max_seconds is not None and time.perf_counter() - started > max_seconds

    try:
        while True:
            if iteration % measure_every == 0 or iteration >= max_iter or late():
                status = measured()
                if status is not None:
                    return end(status)
            state = step(state)
            iteration += 1
    except KeyboardInterrupt:
        return end(Status(StatusCode.INTERRUPTED, "stopped by Ctrl-C; the best so far is kept."))


def _out_of(code: StatusCode, gap: float, tol: float, what: str) -> Status:
    return Status(
        code, f"gap {gap:.1e}, wanted {tol:.0e}.", f"Raise `{what}`, or use a larger `lam`."
    )


def _diverged(objective: float) -> Status:
    return Status(
        StatusCode.DIVERGED,
        f"the objective became {objective}.",
        "Scale the columns (standardize=True), use a shorter step, or a larger `lam`.",
    )
