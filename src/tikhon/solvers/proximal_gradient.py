"""Accelerated proximal gradient: any loss with a derivative, any penalty with a prox.

    v = w + m (w - w_previous)             extrapolation, restarted when it points uphill
    w = prox(v - t grad(v), t lam)         a step t short enough, found by backtracking

Plain and dependable: the reference that faster solvers are checked against, and what is used for
a combination that has no faster one. The intercept is a coordinate without penalty; columns are
centred and scaled for the iteration only, where the penalty allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.problem import Problem
from tikhon.solvers.loop import Loop, Progress, run
from tikhon.typing import Float64Array

__all__ = ["Iterate", "proximal_gradient"]

MEASURE_EVERY = 10


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """Coefficients and intercept, the previous ones, momentum and inverse step."""

    w: Float64Array
    b: Float64Array
    w_before: Float64Array
    b_before: Float64Array
    momentum: float
    inverse_step: float


def proximal_gradient(
    problem: Problem,
    table: Design | StandardizedDesign,
    y: Float64Array,
    s: Float64Array | None,
    start: tuple[Float64Array, Float64Array],
    *,
    tol: float,
    offset: Float64Array | None = None,
    max_iter: int = 20_000,
    max_seconds: float | None = None,
    callback: Callable[[Progress], bool | None] | None = None,
) -> Loop[Iterate]:
    """Minimise a problem from a starting point; the gap decides when it is done.

    Where the problem has no finite dual point the relative KKT residual takes the gap's place.
    """
    w, b = start
    first = Iterate(w, b, w, b, 1.0, _first_inverse_step(problem, table, y, s, offset))

    def step(at: Iterate) -> Iterate:
        return _step(problem, table, y, s, offset, at)

    def measure(at: Iterate) -> tuple[float, float]:
        certificate = problem.certificate(table, y, at.w, at.b, s, offset)
        gap = certificate.gap if np.isfinite(certificate.gap) else certificate.kkt
        return certificate.objective, gap

    return run(
        first,
        step,
        measure,
        tol=tol,
        max_iter=max_iter,
        measure_every=MEASURE_EVERY,
        passes_per_step=2.0,
        max_seconds=max_seconds,
        callback=callback,
    )


def _first_inverse_step(
    problem: Problem,
    table: Design | StandardizedDesign,
    y: Float64Array,
    s: Float64Array | None,
    offset: Float64Array | None,
) -> float:
    """A guess of the Lipschitz constant of the gradient, from the gradient's own direction."""
    w, b = problem.null(table, y, s, offset)
    b = np.where(np.isfinite(b), b, 0.0)
    g, _ = problem.gradient(table, y, w, b, s, offset)
    size = float(np.linalg.norm(g))
    if size == 0.0:
        return 1.0
    z = table.predict(g / size)
    return max(float(np.sum(z * z)) / len(z), 1e-300)


def _step(
    problem: Problem,
    table: Design | StandardizedDesign,
    y: Float64Array,
    s: Float64Array | None,
    offset: Float64Array | None,
    at: Iterate,
) -> Iterate:
    momentum = (1.0 + np.sqrt(1.0 + 4.0 * at.momentum**2)) / 2.0
    m = (at.momentum - 1.0) / momentum
    v, c = at.w + m * (at.w - at.w_before), at.b + m * (at.b - at.b_before)
    o = 0.0 if offset is None else offset
    g, g_b = problem.gradient(table, y, v, c, s, offset)
    base = problem.mean_loss(y, table.predict(v) + c + o, s)
    inverse = at.inverse_step * 0.95  # let the step grow again after a cautious stretch
    while True:
        step = max(problem.lam, 1e-300) / inverse
        w = np.asarray(problem.penalty.prox(v - g / inverse, step), dtype=np.float64)
        b = c - g_b / inverse if problem.intercept else c
        dw, db = w - v, b - c
        bound = base + float(np.sum(g * dw)) + float(np.sum(g_b * db))
        bound += inverse / 2.0 * (float(np.sum(dw * dw)) + float(np.sum(db * db)))
        value = problem.mean_loss(y, table.predict(w) + b + o, s)
        if value <= bound + 1e-14 * abs(base) or inverse > 1e300:
            break
        inverse *= 2.0
    uphill = float(np.sum((v - w) * (w - at.w))) + float(np.sum((c - b) * (b - at.b)))
    if uphill > 0:
        momentum = 1.0
    return Iterate(w, b, at.w, at.b, momentum, inverse)
