"""One training set of a smooth loss on a working set of columns, by proximal Newton steps.

At coefficients w, with derivatives r and curvatures h of the loss at ``z = A w + b + o`` (times the
row weights), the step minimises the quadratic model of the loss plus the penalty itself:

    min_v  v'Kv / 2 - c'v + lam R(v),     K = A'hA about h-weighted means,   c = K w - A'r

which is the small problem of least squares, and is solved by the same compiled methods. K is kept
from step to step, and along the path, for as long as steps with it shrink the distance from the
optimum well enough; it is only ever the metric of a step, never evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tikhon._kernels import Stop
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.problem.dual import mean_floor
from tikhon.problem.smooth import constrained_slope, has_dual
from tikhon.solvers.gram_solvers import gram_solver
from tikhon.solvers.shared_products import Product, Steps, alone, together
from tikhon.solvers.wide_table import TrainingColumns
from tikhon.solvers.working_path import BlockPath, padded
from tikhon.solvers.working_sets import ColumnStore
from tikhon.typing import Float64Array, IntArray

__all__ = ["Model", "Point", "Rows", "SmoothSet"]

SHARE = 0.2
"""Of the tolerance: the estimate is of first order, and what is certified is rounded once more."""

SLOW = 0.2
"""Ratio of successive distances beyond which the metric of the steps is renewed."""

NEWTON_STEPS = 60
HALVINGS = 50
SUFFICIENT = 1e-4
ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of one training set and one target.

    Attributes
    ----------
    loss : Loss
    y : ndarray of shape (n,)
    offset : ndarray of shape (n, 1) or (n, outputs), or None
    intercept : bool
    null : ndarray of shape (outputs,)
        The null model's intercept.
    """

    loss: Loss
    y: Float64Array
    offset: Float64Array | None
    intercept: bool
    null: Float64Array


@dataclass(slots=True, eq=False)
class Point:
    """Coefficients (m, outputs), intercept, predictions (n, outputs), and the mean loss there."""

    w: Float64Array
    b: Float64Array
    z: Float64Array
    loss: float


class SmoothSet(BlockPath):
    """A loss of one prediction per row."""

    def __init__(
        self,
        store: ColumnStore,
        own: TrainingColumns,
        rows: Rows,
        penalty: Penalty,
        tol: float,
    ) -> None:
        self.store = store
        self.rows = rows
        self.p = own.p
        self.out = np.flatnonzero(own.p == 0)
        self.mean = own.mean
        self.penalty = penalty.on_scaled(own.scale)
        self.tol = tol
        d = len(own.mean)
        self.unit = own.spread if gram_solver(self.penalty, d, tol).unit else own.scale
        self.inner = own.scale / self.unit
        self.slack = 0.05 * tol
        self.columns = np.empty(0, dtype=np.int64)
        self.holds = np.zeros(d, dtype=np.bool_)
        self.dual = has_dual(rows.loss, self.penalty, d)
        self.start(len(rows.null))
        self._last_b = rows.null
        self._solved_b: list[Float64Array] = []
        self._block_b = np.empty((0, len(rows.null)))
        self._residuals: list[Float64Array] = []
        self._part = self.penalty.restrict(self.columns)
        self._model: Model | None = None
        null = alone(store, self._at(self._last, self._last_b))
        used = own.p > 0
        self.worth = null.loss - mean_floor(rows.loss, rows.y[used], own.p[used])
        self.wanted = SHARE * tol * (self.worth if self.worth > 0 else 1.0)

    # Columns

    def extend(self, columns: IntArray) -> None:
        """Add columns to the working set."""
        new = columns[~self.holds[columns]]
        if not len(new):
            return
        self.columns = np.concatenate([self.columns, new])
        self.holds[new] = True
        self.store.places(new)
        self._part = self.penalty.restrict(self.columns)
        self._model = None

    def _scattered(self, w: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Coefficients of the store's columns, and what their means take off."""
        columns = self.columns[: len(w)]
        raw = w / self.unit[columns, None]
        spread = np.zeros((self.store.data.shape[1], w.shape[1]))
        spread[self.store.places(columns)] = raw
        return spread, self.mean[columns] @ raw

    def _predict(self, w: Float64Array) -> Steps[Float64Array]:
        """Return ``A w``, (n, outputs), without intercept and offset."""
        spread, off = self._scattered(w)
        product = yield Product(spread, onto_rows=True)
        return np.asarray(product - off)

    def _at(self, w: Float64Array, b: Float64Array) -> Steps[Point]:
        z = (yield from self._predict(w)) + b
        if self.rows.offset is not None:
            z += self.rows.offset
        return Point(w, b, z, self._value(z))

    # The loss at predictions z (n, outputs)

    def _value(self, z: Float64Array) -> float:
        with np.errstate(over="ignore", invalid="ignore"):
            values = self.rows.loss.value(self.rows.y, z if self.rows.loss.per_class else z[:, 0])
            values[self.out] = 0.0
            return float(self.p @ values)

    def _derivative(self, z: Float64Array) -> Float64Array:
        loss, y = self.rows.loss, self.rows.y
        slope = loss.derivative(y, z) if loss.per_class else loss.derivative(y, z[:, 0])[:, None]
        found: Float64Array = np.array(slope, dtype=np.float64)
        found[self.out] = 0.0
        return found

    def _slopes(self, z: Float64Array) -> Float64Array:
        """Row weights times derivatives: (n, outputs)."""
        return np.asarray(self._derivative(z) * self.p[:, None])

    def _gradient(self, r: Float64Array) -> Steps[tuple[Float64Array, Float64Array]]:
        """Return ``A'r`` (m, outputs) and the sums of r."""
        sums = r.sum(axis=0)
        product = yield Product(r, onto_rows=False)
        g = product[self.store.places(self.columns)]
        g -= np.multiply.outer(self.mean[self.columns], sums)
        return g / self.unit[self.columns, None], sums

    def latest_residual(self) -> Float64Array:
        """Return minus the loss's derivative at the latest coefficients: (n, outputs)."""
        return -self._derivative(alone(self.store, self._at(self._last, self._last_b)).z)

    def open_residuals(self) -> Float64Array:
        """Return minus the derivatives of the open strengths: (n, strengths times outputs)."""
        return np.hstack(self._residuals[self._open :])

    # Solving

    def begin(self, lams: Float64Array) -> None:
        """Start a block of strengths with the columns that are likely to matter."""
        super().begin(lams)
        self._block_b = np.tile(self._last_b, (len(lams), 1))
        self._residuals = [np.empty((len(self.p), 0))] * len(lams)

    def end(self) -> None:
        """Close the block."""
        if self._complete:
            self._solved_b.extend(self._block_b)
        self._last_b = self._block_b[-1]
        super().end()

    def intercepts(self, skipped: int, length: int) -> Float64Array:
        """Return the intercepts (length, outputs) that go with `path`, of centred columns."""
        found = np.tile(self._last_b, (length, 1))
        kept = self._solved_b[skipped : skipped + length]
        if kept:
            found[: len(kept)] = kept
        return found

    def solve(self, stop: Stop) -> None:
        """Solve the open strengths of the block on the working set."""
        alone(self.store, self.steps(stop))

    @staticmethod
    def solve_all(sets: Sequence[SmoothSet], stop: Stop) -> None:
        """Solve those of several training sets, whose products with the columns are shared."""
        together(sets[0].store, [own.steps(stop) for own in sets], stop)

    def steps(self, stop: Stop) -> Steps[None]:
        """Solve the open strengths, asking for products with the columns."""
        m = len(self.columns)
        self._coefs = padded(self._coefs, m).copy()
        start = self._coefs[self._open - 1] if self._open else padded(self._last, m)
        b = self._block_b[self._open - 1] if self._open else self._last_b
        point = yield from self._at(start, b)
        for k in range(self._open, len(self._block)):
            point = yield from self._solve_strength(float(self._block[k]), point, stop)
            self._coefs[k], self._block_b[k] = point.w, point.b
            self._residuals[k] = -self._derivative(point.z)
        self._complete = not stop.now

    def _solve_strength(self, lam: float, at: Point, stop: Stop) -> Steps[Point]:
        before = np.inf
        for _ in range(NEWTON_STEPS):
            if stop.now:
                break
            r = self._slopes(at.z)
            g, sums = yield from self._gradient(r)
            distance = self._distance(lam, at, g, sums)
            if not distance > self.wanted:
                break
            model = self._model
            renewed = model is None or distance > SLOW * before
            if model is None or renewed:
                model = self._model = self._metric(at.z)
            before = distance
            ahead = yield from self._advance(lam, at, g, sums, model, stop)
            if ahead is None and not renewed:
                model = self._model = self._metric(at.z)
                ahead = yield from self._advance(lam, at, g, sums, model, stop)
            if ahead is None:
                damped = self._damped(at.z, model)
                if damped is None:
                    break
                self._model = damped
                continue
            at = ahead
        return at

    def _distance(self, lam: float, at: Point, g: Float64Array, sums: Float64Array) -> float:
        """Estimate the duality gap on the working set, to first order; else the KKT residual."""
        inner = self.inner[self.columns, None]
        w, slope = self._penalised(at.w), _flat(g / inner)
        around = at.z - at.b
        balance = float(np.linalg.norm(sums)) * float(np.sqrt(self.p @ np.sum(around**2, axis=1)))
        if not self.rows.intercept:
            balance = 0.0
        if self.dual and lam > 0:
            v = -slope / lam
            t = self._part.dual_scale(v)
            gap = lam * (
                self._part.value(w) + self._part.conjugate(t * v) - t * float(np.sum(w * v))
            )
            return max(gap, 0.0) + (1.0 - t) ** 2 * max(self.worth, 0.0) + balance
        if lam > 0:
            left = lam * float(np.linalg.norm(self._part.subgradient_distance(w, slope / lam)))
        else:
            left = float(np.linalg.norm(constrained_slope(self._part, w, slope)))
        if self.rows.intercept:
            left = float(np.hypot(left, np.linalg.norm(sums)))
        return left * self.worth / self.null_gradient if self.null_gradient > 0 else left

    def _metric(self, z: Float64Array, damping: float = 0.0) -> Model:
        """Second moments of the working set, weighted by the curvature at z."""
        h = np.asarray(self.rows.loss.curvature(self.rows.y, z[:, 0]), dtype=np.float64) * self.p
        h += damping * self.p
        h[self.out] = 0.0
        total = float(h.sum())
        scale = self.rows.loss.smoothness or 1.0
        if not total > 1e-12 * scale and damping == 0.0:
            return self._metric(z, scale)
        columns = self.columns
        A = self.store.data[:, self.store.places(columns)]
        lean = h @ A
        A *= np.sqrt(h)[:, None]
        K = A.T @ A
        unit = self.unit[columns]
        if self.rows.intercept:
            K -= np.outer(lean, lean / total)
        K /= unit
        K /= unit[:, None]
        return Model(K, lean / unit, total, damping)

    def _damped(self, z: Float64Array, model: Model) -> Model | None:
        """A metric with more curvature everywhere, for where the quadratic model misleads."""
        damping = max(10.0 * model.damping, 0.01 * model.total)
        if damping > 1e8 * max(model.total, 1.0):
            return None
        return self._metric(z, damping)

    def _advance(
        self,
        lam: float,
        at: Point,
        g: Float64Array,
        sums: Float64Array,
        model: Model,
        stop: Stop,
    ) -> Steps[Point | None]:
        """Take a step of the quadratic model, shortened until the objective falls enough.

        None where a step of the model has to be shortened a lot: it misleads.
        """
        columns, inner = self.columns, self.inner[self.columns]
        unit = self.unit[columns]
        pull = g[:, 0].copy()
        if self.rows.intercept:
            lean = model.lean - self.mean[columns] / unit * model.total
            pull -= lean * (sums[0] / model.total)
        C = (model.K @ at.w[:, 0] - pull)[:, None]
        solver = gram_solver(self.penalty, len(self.mean), self.tol)
        found = solver.solve(model.K, C, columns, inner, np.array([lam]), at.w.copy(), stop)
        goal = found.coefs[0]
        move = goal - at.w
        shift = np.zeros(1)
        if self.rows.intercept:
            shift = -(sums + lean @ move) / model.total
        found_at: Point | None = yield from self._searched(
            lam, at, g, sums, goal, shift, hopeful=model.damping == 0.0
        )
        return found_at

    def _searched(
        self,
        lam: float,
        at: Point,
        g: Float64Array,
        sums: Float64Array,
        goal: Float64Array,
        shift: Float64Array,
        *,
        hopeful: bool,
    ) -> Steps[Point | None]:
        """The point on the way to a goal where the objective has fallen enough; None if far."""
        move = goal - at.w
        change = (yield from self._predict(move)) + shift
        price = self._price(lam, self._penalised(at.w))
        fall = float(np.sum(g * move) + sums @ shift)
        fall += self._price(lam, self._penalised(goal)) - price
        if not np.isfinite(fall) or not np.isfinite(change).all():
            return None
        small = ROUNDING * (abs(at.loss) + abs(price) + 1e-300)
        share = 1.0
        for _ in range(HALVINGS):
            # the goal itself, not a rounding of it: zeros and bounds are exact
            w, z = goal if share == 1.0 else at.w + share * move, at.z + share * change
            loss = self._value(z)
            gain = at.loss + price - loss - self._price(lam, self._penalised(w))
            if gain >= -SUFFICIENT * share * fall - small:
                return Point(w, at.b + share * shift, z, loss)
            share /= 2.0
            if hopeful and share < 0.1:
                return None
        return None

    def _price(self, lam: float, w: Float64Array) -> float:
        """``lam R(w)``; bounds cost nothing, and no step leaves them."""
        return 0.0 if lam == 0 else lam * self._part.value(w)

    def _penalised(self, w: Float64Array) -> Float64Array:
        """Coefficients as the penalty sees them, one output as a vector.

        Scaling may carry one that rests on its bound past it by a rounding.
        """
        scaled = w * self.inner[self.columns, None]
        form = self._part.coordinates(len(w))
        if form is not None:
            scaled = np.clip(scaled, form.lower[:, None], form.upper[:, None])
        return _flat(scaled)


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """Weighted second moments, first moments about the store's shift, and the total weight."""

    K: Float64Array
    lean: Float64Array
    total: float
    damping: float


def _flat(w: Float64Array) -> Float64Array:
    """One output as a vector, which is what penalties take it for."""
    return w[:, 0].copy() if w.shape[1] == 1 else w.copy()
