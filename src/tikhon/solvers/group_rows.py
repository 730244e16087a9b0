"""Groups on the rows themselves: for supports with about as many columns as the table has rows.

A group lasso may keep many more columns than there are rows. Their second moments are then larger
than the columns, and singular. Here the state is the residual. The columns of each group are turned
by the eigenvectors of its moments: a group's own minimum is then one root, and sweeps of block
descent over the columns, in single precision, go most of the way. What little is left to the
tolerance is Newton's, whose systems are solved from the side of the rows. Single coefficients with
a price of their own forbid turning: these groups are settled a few at a time on their moments.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from scipy import sparse

from tikhon import _kernels
from tikhon.penalties.group_form import GroupForm
from tikhon.solvers.gram_solution import SLACK
from tikhon.solvers.group_curvature import Curvature, RowInverse, solve_newton
from tikhon.typing import BoolArray, Float64Array, FloatArray, IntArray

__all__ = ["GroupRows"]

ROUNDS = 300
REFRESH = 4
"""Steps of conjugate gradients beyond which the curvature's inverse follows."""

AT_ONCE = 40
"""Groups that block descent settles among themselves at a time."""

SWEEPS = 10
PASSES = 30
"""Sweeps over the columns at most, before slopes are looked at afresh."""

FIRST, LEAST = 1e-7, 1e-8
"""Shares of the null objective that a sweep has to bring, at first and before Newton's method."""

TIGHTEN = 0.1

SHARE = 0.4
"""Share of the gap asked for that slopes may account for."""

ROUNDING = 1e-14

ROOM = 10_000_000
"""Numbers for which a table of columns has room from the start: what is not used is not touched."""

T = TypeVar("T", Float64Array, FloatArray)


class GroupRows:
    """One training set: columns that joined, coefficients, residual.

    Attributes
    ----------
    columns : ndarray of shape (m,)
        Which columns have joined, group after group.
    W : ndarray of shape (m, targets)
        Their coefficients, each group's in its own turned coordinates.
    R : ndarray of shape (n, targets)
        Residuals, times the square roots of row weights that sum to 1.
    """

    def __init__(self, y: Float64Array, form: GroupForm, tol: float, stop: _kernels.Stop) -> None:
        self.form, self.tol, self.stop = form, tol, stop
        self.null = float(np.sum(y * y)) / 2.0
        self.y = y
        self.R = y.copy()
        self.columns = np.empty(0, dtype=np.int64)
        self.starts = np.empty(0, dtype=np.int64)
        self.sizes = np.empty(0, dtype=np.int64)
        self.weight = self.l1 = self.own = self.square = np.empty(0)
        self.turns = not form.l1.any()
        self._axes: list[Float64Array] = []
        self._turn: sparse.csr_array | None = None
        self._table = np.empty((len(y), 0), order="F")
        self._single = np.empty((len(y), 0), dtype=np.float32, order="F")
        self.W = np.empty((0, y.shape[1]))
        self._inverse: RowInverse | None = None
        self._steps = 0
        self._before: list[Float64Array] = []
        self.rounding = 0.0

    @property
    def table(self) -> Float64Array:
        """The columns: (n, m)."""
        return self._table[:, : len(self.columns)]

    @property
    def single(self) -> FloatArray:
        """The columns in single precision."""
        return self._single[:, : len(self.columns)]

    def admit(self, columns: IntArray, A: Float64Array) -> None:
        """Take in whole groups: scaled columns, and coefficients of 0."""
        order = np.argsort(self.form.codes[columns], kind="stable")
        columns, A = columns[order], A[:, order]
        labels, first, sizes = np.unique(
            self.form.codes[columns], return_index=True, return_counts=True
        )
        tops = np.empty(len(labels))
        squares = np.empty(len(columns))
        for g, (k, size) in enumerate(zip(first, sizes, strict=True)):
            block = slice(k, k + size)
            values, axes = np.linalg.eigh(A[:, block].T @ A[:, block])
            tops[g] = values[-1] * (1 + ROUNDING)
            squares[block] = np.maximum(values, 0.0)
            if self.turns:
                A[:, block] = A[:, block] @ axes
                self._axes.append(axes.ravel())
        self._turn = None
        old = len(self.columns)
        count = old + len(columns)
        if count > self._table.shape[1]:
            room = min(ROOM // max(len(self.y), 1), len(self.form.codes))
            capacity = max(count, room, 3 * self._table.shape[1] // 2)
            self._table = _widened(self._table, old, capacity)
            self._single = _widened(self._single, old, capacity)
        self._table[:, old:count] = A
        self._single[:, old:count] = A
        self.columns = np.concatenate([self.columns, columns])
        self.starts = np.concatenate([self.starts, old + first])
        self.sizes = np.concatenate([self.sizes, sizes])
        self.weight = np.concatenate([self.weight, self.form.weight[labels]])
        self.l1 = np.concatenate([self.l1, self.form.l1[columns]])
        self.own = np.concatenate([self.own, tops])
        self.square = np.concatenate([self.square, squares])
        fresh = np.zeros((len(columns), self.W.shape[1]))
        self.W = np.concatenate([self.W, fresh])
        seen = np.abs(A.T @ self.y).max(initial=0.0)
        self.rounding = max(self.rounding, ROUNDING * float(seen))

    def place(self, W: Float64Array) -> None:
        """Set the coefficients of the columns that have joined."""
        self.W = self._axis_matrix.T @ W if self.turns else W
        self.refresh()

    @property
    def coefs(self) -> Float64Array:
        """The coefficients of the columns that have joined: (m, targets)."""
        return np.asarray(self._axis_matrix @ self.W) if self.turns else self.W

    @property
    def _axis_matrix(self) -> sparse.csr_array:
        """The axes of all groups, from turned coordinates to columns: (m, m)."""
        if self._turn is None:
            m = len(self.columns)
            lengths = np.repeat(self.sizes, self.sizes)
            ends = np.concatenate([[0], np.cumsum(lengths)])
            first = np.repeat(self.starts, self.sizes) - ends[:-1]
            indices = np.arange(ends[-1]) + np.repeat(first, lengths)
            values = np.concatenate([np.empty(0), *self._axes])
            self._turn = sparse.csr_array((values, indices, ends), shape=(m, m))
        return self._turn

    def refresh(self) -> None:
        """Compute the residual afresh."""
        self.R = self.y - self.table @ self.W

    def solve(self, lam: float) -> bool:
        """Solve one strength among the columns that have joined; False when there was no time."""
        self._extrapolate(lam)
        worth = FIRST
        for _ in range(ROUNDS):
            if self.stop.requested or self.stop.late:
                return False
            G = self.table.T @ self.R
            excess, entering = self._excess(G, lam)
            late = excess > self._allowed(lam)
            if not late.any():
                break
            if self.turns and worth > LEAST / 2:
                self._sweep(late, lam, worth)
                worth *= TIGHTEN
            elif (late & entering).any():
                self._descend(np.flatnonzero(late & entering), lam)
            elif not self._newton(G, lam):
                self._descend(np.flatnonzero(late), lam)
        self._before = [*self._before[-1:], self.W.copy()]
        return True

    # The state

    def _by_group(self, values: Float64Array) -> Float64Array:
        return np.asarray(np.add.reduceat(values, self.starts))

    def _norms(self, W: Float64Array) -> Float64Array:
        return np.sqrt(self._by_group(np.einsum("jt,jt->j", W, W)))

    def _penalty(self, W: Float64Array) -> float:
        return float(self.weight @ self._norms(W) + self.l1 @ np.abs(W).sum(axis=1))

    def _pull(self, norms: Float64Array, lam: float) -> Float64Array:
        return np.divide(lam * self.weight, norms, out=np.zeros_like(norms), where=norms > 0)

    def _excess(self, G: Float64Array, lam: float) -> tuple[Float64Array, BoolArray]:
        """Return each group's distance from optimality, and whether entries at 0 are why."""
        bound = lam * self.l1[:, None]
        norms = self._norms(self.W)
        held = np.sign(G) * np.maximum(np.abs(G) - bound, 0.0)
        left = np.where(self.W == 0, held, G - bound * np.sign(self.W))
        inside = left - np.repeat(self._pull(norms, lam), self.sizes)[:, None] * self.W
        outside = np.maximum(self._norms(left) - lam * self.weight, 0.0)
        excess = np.where(norms > 0, self._norms(inside), outside)
        still = self._norms(np.where(self.W == 0, inside, 0.0))
        return excess, (norms == 0) | (still > 0.5 * excess)

    def _allowed(self, lam: float) -> Float64Array:
        """What may be left of slopes: such that they account for a share of the gap."""
        value = lam * self._penalty(self.W)
        share = SLACK * self.tol
        if value > 0:
            share = max(share, min(SHARE * self.tol * self.null / value, self.tol**0.5))
        sizes = np.maximum.reduceat(self.l1, self.starts)
        return np.asarray(share * lam * (self.weight + sizes) + self.rounding)

    # Steps

    def _extrapolate(self, lam: float) -> None:
        """Go on as far as from the strength before the last to the last, if that is downhill."""
        if len(self._before) < 2:
            return
        last = self.W
        before = np.zeros_like(last)
        before[: len(self._before[0])] = self._before[0]
        move = last - before
        there = np.repeat(self._norms(before) > 0, self.sizes)
        move[~there] = 0.0
        self._search(move, lam)

    def _newton(self, G: Float64Array, lam: float) -> bool:
        """One step on the entries that are in; False when it leads nowhere."""
        norms = self._norms(self.W)
        pull = self._pull(norms, lam)
        free = self.W != 0
        slope = G - np.repeat(pull, self.sizes)[:, None] * self.W
        slope -= lam * self.l1[:, None] * np.sign(self.W)
        slope[~free] = 0.0
        unit = self.W / np.repeat(np.where(norms > 0, norms, 1.0), self.sizes)[:, None]
        at = Curvature(self.single, self.starts, self.sizes, unit, pull, free)
        if self._inverse is None:
            self._inverse = RowInverse(at)
        elif self._steps > REFRESH:
            self._inverse.follow(at)
        move, self._steps = solve_newton(at, self._inverse, slope, self.own)
        return self._search(move, lam)

    def _search(self, move: Float64Array, lam: float) -> bool:
        """Take the largest part of a step that lowers the objective; signs and groups may end."""
        before = lam * self._penalty(self.W)
        share = 1.0
        for _ in range(5):
            V = self._within(self.W + share * move)
            fitted = self.table @ (V - self.W)
            change = float(np.sum(fitted * (fitted / 2.0 - self.R)))
            change += lam * self._penalty(V) - before
            if change < 0:
                self.W = V
                self.R = self.R - fitted
                return True
            share /= 4.0
        return False

    def _within(self, V: Float64Array) -> Float64Array:
        """Stop at 0 what would change its sign: entries with a size, and groups that turn round."""
        crossed = (self.l1[:, None] > 0) & (V * self.W < 0)
        V[crossed] = 0.0
        along = self._by_group((V * self.W).sum(axis=1))
        turned = (along < 0) & (self.weight > 0)
        V[np.repeat(turned, self.sizes)] = 0.0
        return V

    def _sweep(self, late: BoolArray, lam: float, worth: float) -> None:
        """Block descent on the rows among the groups that are in or ought to be."""
        groups = _kernels.TurnedGroups(
            self.single,
            np.append(self.starts, len(self.columns)),
            self.weight,
            self.square,
        )
        W, R = np.ascontiguousarray(self.W.T), np.ascontiguousarray(self.R.T)
        _kernels.group_columns(
            groups,
            np.flatnonzero(late | (self._norms(self.W) > 0)),
            lam,
            W,
            R,
            sweeps=PASSES,
            enough=worth * self.null,
            stop=self.stop,
        )
        self.W = np.ascontiguousarray(W.T)
        self.refresh()

    def _descend(self, groups: IntArray, lam: float) -> None:
        """Block descent among some groups, the others as they are."""
        for start in range(0, len(groups), AT_ONCE):
            some = groups[start : start + AT_ONCE]
            sizes = self.sizes[some]
            places = np.concatenate(
                [np.arange(a, a + s) for a, s in zip(self.starts[some], sizes, strict=True)]
            )
            A = self.table[:, places]
            W = np.ascontiguousarray(self.W[places].T)
            before = W.copy()
            blocks = _kernels.GroupBlocks(
                np.arange(len(places)),
                np.concatenate([[0], np.cumsum(sizes)]),
                self.weight[some],
                self.own[some],
                self.l1[places],
            )
            _kernels.group_descent(
                A.T @ A,
                blocks,
                np.arange(len(some)),
                lam,
                W,
                np.ascontiguousarray((A.T @ self.R).T),
                sweeps=SWEEPS,
                stop=self.stop,
            )
            self.W[places] = W.T
            self.R -= A @ (W - before).T


def _widened(table: T, used: int, capacity: int) -> T:
    wider: T = np.empty((len(table), capacity), dtype=table.dtype, order="F")
    wider[:, :used] = table[:, :used]
    return wider
