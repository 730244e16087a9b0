"""Smooth losses with squares for a penalty, on tall tables: the whole grid advances together.

A pilot solves the path on a sample of the rows. From there every strength and training set takes
the same steps at the same time,

    w <- w - (H + lam D)^-1 gradient(w)

where one pass over the rows gives all gradients, and the metric H of a strength is shared by its
training sets: it need not be exact, for it only decides how fast, not where to. How fast is
watched. Where steps do not shrink the gradient well, the metric is computed anew on all rows; where
that does not help, for the problem itself. Finished problems leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tikhon.problem.dual import mean_floor
from tikhon.solvers.grid_pass import GridRows, Hessian
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.pilot import inverse, pilot_path
from tikhon.solvers.smooth import SmoothMachine
from tikhon.solvers.smooth_wide import side_by_side
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["SmoothTall"]

SAMPLE = 400
"""Rows of the pilot for each column: the metric is then right to about a tenth."""

LEAST_SAMPLE = 20_000
METRIC_ENTRIES = 2**26
"""Numbers in the metrics of the strengths that advance together."""

WORTHWHILE = 8
"""Problems, times this, over columns, from which metrics of all rows save more than they cost."""

SHARE = 0.25
SLOW = 0.35
"""Ratio of successive gradients beyond which a metric is renewed."""

OVERSHOT = 0.5
"""Slope at the end of a step, over that at its start, beyond which the step is shortened."""

ROUNDS = 100


class SmoothTall(SmoothMachine):
    """A tall table, every strength and training set at once."""

    name = "Newton steps, the grid at once"

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set, all of them together."""
        starts = np.array(
            [self.start_of(train, -1 if k == 0 else k - 1) for k, train in enumerate(trains)]
        )
        targets = self.training.y.shape[1]
        solved = [self._target(t, trains, starts[:, t], lams) for t in range(targets)]
        return [side_by_side([fits[k] for fits in solved]) for k in range(len(trains))]

    def _target(
        self, target: int, trains: Sequence[BoolArray], starts: Float64Array, lams: Float64Array
    ) -> list[PathFit]:
        training = self.training
        rows = self._grid_rows(target)
        P = np.stack([self._shares(train) for train in trains], axis=1)
        squares = np.stack([self._squares(train, rows.unit) for train in trains])
        worth = self._worth(rows, P, starts)
        d = len(rows.unit)
        W = np.zeros((len(lams), d, len(trains)))
        b = np.tile(starts, (len(lams), 1))
        solved = 0
        step = max(1, METRIC_ENTRIES // (d * d))
        start = (np.zeros(d), float(starts[0]))
        for k in range(0, len(lams), step):
            part = slice(k, min(k + step, len(lams)))
            pilot = pilot_path(
                rows, P[:, 0], squares[0], lams[part], start, self._sample(d),
                intercept=training.intercept, worth=float(worth[0]),
            )  # fmt: skip
            grid = _Grid(rows, P, squares, lams[part], pilot.metrics, SHARE * self.tol * worth,
                         training.intercept)  # fmt: skip
            grid.begin(pilot.W, pilot.b, starts)
            if P.shape[1] * len(lams[part]) * WORTHWHILE >= d * len(set(map(id, pilot.metrics))):
                grid.sharpen()
            done = grid.run()
            W[part], b[part] = grid.W, grid.b
            solved += done
            if done < len(lams[part]):
                break
            start = (grid.W[-1, :, 0], float(grid.b[-1, 0]))
        V = W / rows.unit[:, None]
        c = b - np.einsum("j,ljk->lk", rows.shift, V) if training.intercept else np.zeros_like(b)
        columns = np.arange(d)
        return [
            PathFit(training, lams, columns, V[:, :, [k]], c[:, [k]], solved)
            for k in range(len(trains))
        ]

    def _grid_rows(self, target: int) -> GridRows:
        training = self.training
        offset = training.offset
        if offset is not None:
            offset = offset[:, min(target, offset.shape[1] - 1)]
        shift = self.table.shift
        spread = training.design.stats(training.s).sd
        if not training.intercept:
            spread = np.hypot(spread, training.design.stats(training.s).mean)
        unit = np.where(spread > 0, spread, 1.0)
        y = np.ascontiguousarray(training.y[:, target])
        return GridRows(training.design, shift, unit, self.loss, y, offset, self.stop)

    def _shares(self, train: BoolArray) -> Float64Array:
        training = self.training
        rows = training.cells.where(train)
        p = np.zeros(len(training.y))
        p[rows] = 1.0 if training.s is None else training.s[rows]
        return np.asarray(p / p.sum())

    def _squares(self, train: BoolArray, unit: Float64Array) -> Float64Array:
        """What the strength multiplies in ``lam sum_j D_j w_j^2 / 2``, for the solver's columns."""
        form = self.penalty.coordinates(len(unit))
        assert form is not None
        if not self.training.standardize:
            return np.asarray(form.l2 / unit**2)
        return np.asarray(form.l2 * (self.table.columns(train).scale / unit) ** 2)

    def _worth(self, rows: GridRows, P: Float64Array, starts: Float64Array) -> Float64Array:
        """What there is to gain over the null model of each training set."""
        worth = np.empty(P.shape[1])
        for k in range(P.shape[1]):
            used = P[:, k] > 0
            z = np.full(len(rows.y), starts[k])
            if rows.offset is not None:
                z += rows.offset
            value = self.loss.value(rows.y, z)
            p = P[used, k]
            worth[k] = p @ value[used] - mean_floor(self.loss, rows.y[used], p)
        return np.where(worth > 0, worth, 1.0)

    def _sample(self, d: int) -> IntArray | None:
        """Rows of the pilot, evenly spread in a shuffled order; None for all."""
        used = self.training.used()
        size = max(SAMPLE * d, LEAST_SAMPLE)
        if 2 * size > len(used):
            return None
        return np.sort(np.random.default_rng(0).permutation(used)[:size])


@dataclass(eq=False)
class _Grid:
    """All problems of a block of strengths, strength by strength and set by set."""

    rows: GridRows
    P: Float64Array
    squares: Float64Array
    lams: Float64Array
    metrics: list[Hessian]
    wanted: Float64Array
    intercept: bool
    W: Float64Array = field(init=False)
    b: Float64Array = field(init=False)

    def begin(self, W: Float64Array, b: Float64Array, starts: Float64Array) -> None:
        """Every set starts where the pilot ended, its intercept moved as its null model's is."""
        sets, length = self.P.shape[1], len(W)
        self.W = np.repeat(W[:, :, None], sets, axis=2)
        self.b = b[:, None] + (starts - starts[0]) * self.intercept
        self.open = np.ones((length, sets), dtype=np.bool_)
        self.before = np.full((length, sets), np.inf)
        self.renewed = np.zeros((length, sets), dtype=np.int64)
        self.own: dict[tuple[int, int], Hessian] = {}
        self.factors: dict[tuple[int, int], Float64Array] = {}
        self.last: dict[tuple[int, int], _Step] = {}

    def sharpen(self) -> None:
        """Replace the metrics of the sample by those of all rows, one for one."""
        found: dict[int, Hessian] = {}
        for at, metric in enumerate(self.metrics):
            if id(metric) not in found:
                found[id(metric)] = self._of_all_rows(at, 0)
        self.metrics = [found[id(metric)] for metric in self.metrics]
        self.renewed[:] = 1

    def run(self) -> int:
        """Advance until every problem is solved; how many strengths are, from the first on."""
        for _ in range(ROUNDS):
            sets, at = np.nonzero(self.open.T)
            if not len(sets):
                break
            W, b = self.W[at, :, sets].T, self.b[at, sets]
            G, sums = self.rows.gradients(np.ascontiguousarray(W), b, self.P, sets)
            if self.rows.stop.now:
                return int(at.min())
            for j in range(len(sets)):
                self._advance(int(at[j]), int(sets[j]), G[:, j], float(sums[j]))
        return len(self.lams)

    def _advance(self, at: int, k: int, g: Float64Array, slope: float) -> None:
        """One problem, whose gradient is known: finished, shortened, or a step further."""
        penalty = self.lams[at] * self.squares[k]
        total = g + penalty * self.W[at, :, k]
        slope = slope if self.intercept else 0.0
        last = self.last.get((at, k))
        finite = bool(np.isfinite(total).all() and np.isfinite(slope))
        if last is not None:
            end = float(total @ last.move) + slope * last.shift if finite else np.inf
            if end > OVERSHOT * -last.start:
                self._shorten(at, k, last, end)
                return
        if not finite:
            self.open[at, k] = False
            return
        distance = self._distance(total, slope, penalty, self.W[at, :, k])
        if distance <= self.wanted[k] or self.renewed[at, k] > ROUNDS:
            self.open[at, k] = False
            return
        if distance > SLOW**2 * self.before[at, k]:
            self._renew(at, k)
        self.before[at, k] = distance
        self._step(at, k, total, slope)

    def _distance(
        self, total: Float64Array, slope: float, penalty: Float64Array, w: Float64Array
    ) -> float:
        """The duality gap: half the squared gradient in the norm of the penalty."""
        if np.all(penalty > 0):
            return float(np.sum(total**2 / penalty)) / 2.0 + abs(slope) * float(np.sqrt(w @ w))
        return float(np.hypot(np.linalg.norm(total), slope))

    def _step(self, at: int, k: int, total: Float64Array, slope: float) -> None:
        hessian = self._hessian(at, k)
        lean, mass = hessian.lean, hessian.total
        pull = total - lean * (slope / mass) if self.intercept and mass > 0 else total
        move = -(self._factor(at, k) @ pull)
        shift = -(slope + float(lean @ move)) / mass if self.intercept and mass > 0 else 0.0
        start = float(total @ move) + slope * shift
        self.last[at, k] = _Step(move, shift, start)
        self.W[at, :, k] += move
        self.b[at, k] += shift

    def _shorten(self, at: int, k: int, last: _Step, end: float) -> None:
        """Go back along a step that went too far: to where the slope would vanish, or half."""
        share = 0.5
        if np.isfinite(end):
            share = min(max(last.start / (last.start - end), 0.05), 0.5)
        back = 1.0 - share
        self.W[at, :, k] -= back * last.move
        self.b[at, k] -= back * last.shift
        self.last[at, k] = _Step(share * last.move, share * last.shift, share * last.start)
        self.before[at, k] = np.inf
        self.renewed[at, k] += 1

    def _hessian(self, at: int, k: int) -> Hessian:
        return self.own.get((at, k), self.metrics[at])

    def _factor(self, at: int, k: int) -> Float64Array:
        key = (at, k) if (at, k) in self.own else (at, -1)
        if key not in self.factors:
            K = self._hessian(at, k).K.copy()
            own = k if key[1] >= 0 else 0
            K[np.diag_indices(len(K))] += self.lams[at] * self.squares[own]
            self.factors[key] = inverse(K)
        return self.factors[key]

    def _renew(self, at: int, k: int) -> None:
        """A metric of all rows for the strength, the first time; then one of the problem itself."""
        self.renewed[at, k] += 1
        shared = self.renewed[at, k] == 1
        if shared and self.own.get((at, -1)) is not None:
            return  # another training set has asked for it in this round
        found = self._of_all_rows(at, k)
        if shared:
            self.metrics[at] = self.own[at, -1] = found
            self.factors.pop((at, -1), None)
        else:
            self.own[at, k] = found
            self.factors.pop((at, k), None)

    def _of_all_rows(self, at: int, k: int) -> Hessian:
        """Second moments at the coefficients of one problem, with its row weights."""
        z = self.rows.predict(self.W[at, :, k], float(self.b[at, k]))
        with np.errstate(over="ignore", invalid="ignore"):
            h = np.asarray(self.rows.loss.curvature(self.rows.y, z), dtype=np.float64)
        h = np.where(self.P[:, k] > 0, h * self.P[:, k], 0.0)
        return self.rows.hessian(np.nan_to_num(h), intercept=self.intercept)


@dataclass(frozen=True, slots=True, eq=False)
class _Step:
    """A step taken, and the slope of the objective along it where it began."""

    move: Float64Array
    shift: float
    start: float
