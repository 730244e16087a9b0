"""One strength of penalised least squares, 0 included."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.penalties import Box, NoPenalty, Sum
from tikhon.penalties.base import Penalty
from tikhon.results import Certificate, Solution, Status, StatusCode
from tikhon.solvers.choose import plan_penalised
from tikhon.solvers.least_squares import least_squares
from tikhon.solvers.penalised import certified_fit
from tikhon.solvers.relaxed import Supports
from tikhon.solvers.training import Training

__all__ = ["Single", "solve_penalised", "unpenalised"]


@dataclass(frozen=True, slots=True, eq=False)
class Single:
    """One solution, and what a path or an estimator wants to know besides."""

    solution: Solution
    df: float
    loss: float
    aliased: np.ndarray


def solve_penalised(
    penalty: Penalty,
    lam: float,
    data: Data,
    *,
    standardize: bool,
    intercept: bool,
    solver: str,
    tol: float,
    stop: Stop,
    relaxed: float = 0.0,
) -> Single:
    """Solve one strength and certify it on the rows.

    At strength 0 bounds stay bounds; where there are none, the answer is least squares. `relaxed`
    is the share of least squares on the support that is mixed in.
    """
    started = time.perf_counter()
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, standardize, intercept)
    if lam == 0:
        bounds = _bounds_alone(penalty, data.design.shape[1])
        if bounds is None:
            return unpenalised(training, data, tol, started)
        penalty = bounds
    strength = np.array([lam if lam > 0 else 1.0])  # where only bounds count, no strength matters
    plan = plan_penalised(data.design, penalty, solver)
    machine = plan.machine(training, penalty, tol, stop)
    fit = machine.fits([training.everything()], strength)[0]
    null = machine.null()
    found = certified_fit(machine, null, strength, fit.dense(), fit.intercepts)
    df = float(machine.df(strength, found)[0])
    if relaxed:
        df += relaxed * (np.count_nonzero(found.coefs) / data.y.shape[1] - df)
        dense = replace(fit, columns=np.arange(data.design.shape[1]), coefs=found.coefs)
        supports = Supports.of(machine, [dense])
        found = supports.certified(machine, null, found, dense, relaxed)
    status = machine.judge(strength, found, fit.solved)
    solution = _solution(
        data,
        found.coefs[0],
        found.intercepts[0],
        lam,
        found.certificates[0],
        status,
        machine.name,
        time.perf_counter() - started,
    )
    return Single(solution, df, float(found.losses[0]), np.empty(0, dtype=np.int64))


def _bounds_alone(penalty: Penalty, d: int) -> Penalty | None:
    """The bounds of a penalty, without what its strength multiplies; None where it has none."""
    form = penalty.coordinates(d)
    if form is None or not (np.isfinite(form.lower).any() or np.isfinite(form.upper).any()):
        return None
    return Sum(NoPenalty(), Box(form.lower, form.upper))


def unpenalised(training: Training, data: Data, tol: float, started: float) -> Single:
    """Least squares, of least norm where the rows do not determine the coefficients."""
    fit = least_squares(training.rescaled(standardize=False), tol)
    n, d = data.design.shape
    status = Status(StatusCode.CONVERGED)
    if 0 <= fit.rank < d:
        status = Status(
            StatusCode.RANK_DEFICIENT,
            f"without a penalty {n} rows do not determine {d} coefficients (rank {fit.rank}); "
            "those of least norm are returned.",
        )
    elif fit.certificate.gap > tol:
        status = Status(
            StatusCode.MAX_ITER,
            f"relative suboptimality {fit.certificate.gap:.1e}, wanted {tol:.0e}.",
            "Use `lam` > 0.",
        )
    solution = _solution(
        data,
        fit.coef,
        fit.intercept,
        0.0,
        fit.certificate,
        status,
        fit.rung,
        time.perf_counter() - started,
    )
    df = float(fit.rank if fit.rank >= 0 else d)
    return Single(solution, df, fit.certificate.objective, fit.aliased)


def _solution(
    data: Data,
    coef: np.ndarray,
    intercept: np.ndarray,
    lam: float,
    certificate: Certificate,
    status: Status,
    solver: str,
    seconds: float,
) -> Solution:
    return Solution(
        coef=coef[:, 0] if data.one_target else coef,
        intercept=float(intercept[0]) if data.one_target else intercept,
        lam=lam,
        certificate=certificate,
        status=status,
        solver=solver,
        passes=2.0,
        seconds=seconds,
    )
