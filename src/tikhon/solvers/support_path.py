"""What support vector solvers hand back: one solution per strength, dual and primal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tikhon._kernels import Stop
from tikhon.results import Certificate, Status, StatusCode
from tikhon.typing import Float64Array

__all__ = ["SupportPath", "SupportSolution", "support_status"]


@dataclass(frozen=True, slots=True, eq=False)
class SupportSolution:
    """One support vector machine.

    Attributes
    ----------
    lam : float
    beta : ndarray of shape (n,)
        Dual coefficients: ``f = sum_i beta_i k(x_i, .)``, ``beta_i = y_i alpha_i`` for classes.
    coef : ndarray of shape (d,) or None
        ``sum_i beta_i x_i``, where the kernel is linear.
    offset : float
        On the raw data.
    offset_centred : float
        In the coordinates of the solver.
    f : ndarray of shape (n,)
        ``sum_i beta_i k(x_i, x_j)``, in the coordinates of the solver, without the free offset.
    slack : ndarray of shape (n,)
        Each row's share of the duality gap.
    certificate : Certificate
    status : Status
    passes : float
        Sweeps over the rows, or steps on two coefficients over the number of rows.
    """

    lam: float
    beta: Float64Array
    coef: Float64Array | None
    offset: float
    offset_centred: float
    f: Float64Array
    slack: Float64Array
    certificate: Certificate
    status: Status
    passes: float


@dataclass(frozen=True, slots=True, eq=False)
class SupportPath:
    """Solutions along a grid, strongest first; how, and how long it took."""

    solutions: tuple[SupportSolution, ...]
    solver: str
    seconds: float

    @classmethod
    def of(cls, solutions: Sequence[SupportSolution], solver: str, started: float) -> SupportPath:
        """Return the path of these solutions."""
        return cls(tuple(solutions), solver, time.perf_counter() - started)

    def __len__(self) -> int:
        return len(self.solutions)

    @property
    def lams(self) -> Float64Array:
        """The strengths solved, (L,)."""
        return np.array([solution.lam for solution in self.solutions])


def support_status(gap: float, wanted: float, stop: Stop, *, finished: bool) -> Status:
    """Return how a fit ended that reached this gap."""
    if finished:
        return Status(StatusCode.CONVERGED)
    message = f"gap {gap:.1e}, wanted {wanted:.0e}."
    if stop.requested:
        return Status(StatusCode.INTERRUPTED, message, "Fit again to continue from the start.")
    if stop.late:
        return Status(
            StatusCode.MAX_SECONDS, message, "Raise `max_seconds`, or use a larger `lam`."
        )
    return Status(
        StatusCode.MAX_ITER, message, "Scale the columns (standardize=True), or use a larger `lam`."
    )
