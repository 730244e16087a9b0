"""The path on a sample of the rows: where the grid starts, and the metric of its first steps.

Newton's method with a line search, warm along the path. Its solutions are close to those of all
rows, its second moments close to theirs; neither has to be exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.solvers.grid_pass import GridRows, Hessian
from tikhon.typing import Float64Array, IntArray

__all__ = ["Pilot", "inverse", "pilot_path"]

NEWTON_STEPS = 50
ROUGH = 1e-4
"""Share of what there is to gain that a step may promise for the pilot to be close enough."""

STEADY = 1e-3
"""The same share, up to which the metric from before a step serves after it."""

HALVINGS = 40


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Coefficients (L, d), intercepts (L,), and the second moments at each strength."""

    W: Float64Array
    b: Float64Array
    metrics: list[Hessian]


def pilot_path(
    rows: GridRows,
    p: Float64Array,
    squares: Float64Array,
    lams: Float64Array,
    start: tuple[Float64Array, float],
    sample: IntArray | None,
    *,
    intercept: bool,
    worth: float,
) -> Pilot:
    """Solve a path roughly: ``sum p loss + lam sum_j squares_j w_j^2 / 2`` on some rows."""
    if sample is not None:
        rows, p = rows.rows(sample), p[sample]
        p = p / p.sum()
    at = _Newton(rows, p, start[0].copy(), start[1], intercept, worth)
    W, c, metrics = np.empty((len(lams), len(at.w))), np.empty(len(lams)), []
    for k, lam in enumerate(lams):
        metrics.append(at.solve(lam * squares))
        W[k], c[k] = at.w, at.b
    return Pilot(W, c, metrics)


class _Newton:
    """Newton's method on the rows of the pilot, and the metric it is at."""

    def __init__(
        self,
        rows: GridRows,
        p: Float64Array,
        w: Float64Array,
        b: float,
        intercept: bool,
        worth: float,
    ) -> None:
        self.rows, self.p, self.intercept, self.worth = rows, p, intercept, worth
        self.w, self.b = w, b
        self.z = rows.predict(w, b)
        self.metric: Hessian | None = None

    def solve(self, penalty: Float64Array) -> Hessian:
        """Move to the solution for a penalty ``sum_j penalty_j w_j^2 / 2``; return the metric."""
        value = self._value(self.z) + float(penalty @ self.w**2) / 2.0
        for _ in range(NEWTON_STEPS):
            metric = self.metric or self._renewed()
            move, shift, promise = self._step(penalty, metric)
            if self.rows.stop.now or not promise > 0:
                break
            taken = self._search(penalty, value, move, shift, promise)
            if taken is None:
                break
            value = taken
            if promise > STEADY * self.worth:
                self.metric = None
            if promise <= ROUGH * self.worth:
                break
        return self.metric or self._renewed()

    def _value(self, z: Float64Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(self.rows.loss.value(self.rows.y, z))
        values[self.p == 0] = 0.0
        return float(self.p @ values)

    def _weighed(self, values: Float64Array) -> Float64Array:
        return np.where(self.p > 0, values * self.p, 0.0)

    def _renewed(self) -> Hessian:
        with np.errstate(over="ignore", invalid="ignore"):
            h = self._weighed(np.asarray(self.rows.loss.curvature(self.rows.y, self.z)))
        scale = self.rows.loss.smoothness or 1.0
        if not h.sum() > 1e-12 * scale:  # flat here: any curvature gives a direction
            h = scale * self.p
        self.metric = self.rows.hessian(h, intercept=self.intercept)
        return self.metric

    def _step(self, penalty: Float64Array, metric: Hessian) -> tuple[Float64Array, float, float]:
        """Return a step, that of the intercept, and twice the fall that the model promises."""
        r = self._weighed(np.asarray(self.rows.loss.derivative(self.rows.y, self.z)))
        slope = float(r.sum()) if self.intercept else 0.0
        total = self.rows.correlate(r) + penalty * self.w
        pull = total - metric.lean * (slope / metric.total) if self.intercept else total
        K = metric.K.copy()
        K[np.diag_indices(len(K))] += penalty
        move = -(inverse(K) @ pull)
        shift = 0.0
        if self.intercept:
            shift = -(slope + float(metric.lean @ move)) / metric.total
        return move, shift, -(float(total @ move) + slope * shift)

    def _search(
        self, penalty: Float64Array, value: float, move: Float64Array, shift: float, promise: float
    ) -> float | None:
        change = self.rows.change(move, shift)
        share = 1.0
        for _ in range(HALVINGS):
            w, z = self.w + share * move, self.z + share * change
            tried = self._value(z) + float(penalty @ w**2) / 2.0
            if tried <= value - 1e-4 * share * promise + 1e-14 * abs(value):
                self.w, self.b, self.z = w, self.b + share * shift, z
                return tried
            share /= 2.0
        return None


def inverse(K: Float64Array) -> Float64Array:
    """Invert a positive semidefinite matrix, lifted as little as makes it definite.

    By NumPy alone: calls to SciPy's BLAS between NumPy's cost a multiple of both. An inverse is
    as good a metric as a factor, and takes many right-hand sides in one product.
    """
    lift = 0.0
    size = float(np.max(np.diag(K), initial=0.0)) or 1.0
    while True:
        A = K.copy()
        A[np.diag_indices(len(A))] += lift
        try:
            half = np.linalg.inv(np.linalg.cholesky(A))
            return np.asarray(half.T @ half)
        except np.linalg.LinAlgError:
            lift = max(100.0 * lift, 1e-14 * size)
