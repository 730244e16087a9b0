"""Groups of coefficients on second moments: Newton steps where groups are in, sweeps to choose.

Where no group is at 0 the objective is smooth, and Newton's method with the group norms' curvature
solves for all of them at once: two or three steps for each strength of a path. Block coordinate
descent decides which groups are in: it visits those that are, and those whose correlation exceeds
what the penalty allows, and sets a group to 0 exactly.

Squares of coefficients count as part of the moments: ``lam l2`` on their diagonal.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import linalg

from tikhon import _kernels
from tikhon.engine import one_blas_thread
from tikhon.penalties.group_form import GroupForm
from tikhon.solvers.gram_solution import SLACK, GramSolution
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["GroupSolver"]

ROUNDS = 500
NEWTON_STEPS = 20
LARGEST_SYSTEM = 3000
"""Free entries up to which a Newton system is set up; beyond, sweeps alone go on."""

SMALL_SYSTEM = 500
"""Columns up to which BLAS gets one thread."""

ROUNDING = 1e-14


@dataclass(frozen=True, slots=True, eq=False)
class GroupSolver:
    """Group lasso, sparse-group lasso and, with groups of one column, several targets at once."""

    form: GroupForm
    tol: float
    unit: bool = False
    _largest: dict[int, tuple[int, float]] = field(default_factory=dict)

    def solve(
        self,
        K: Float64Array,
        C: Float64Array,
        columns: IntArray,
        inner: Float64Array,  # noqa: ARG002
        lams: Float64Array,
        start: Float64Array,
        stop: _kernels.Stop,
    ) -> GramSolution:
        """Solve at each strength in turn."""
        labels, codes = np.unique(self.form.codes[columns], return_inverse=True)
        blocks = self._blocks(K, columns, labels, codes)
        work = _Groups(K, C, blocks, self.form.l2[columns], codes, start, self.tol, stop)
        coefs = np.empty((len(lams), *C.shape))
        solved = 0
        with one_blas_thread() if len(K) <= SMALL_SYSTEM else contextlib.nullcontext():
            for k, lam in enumerate(lams):
                if not work.solve(float(lam)):
                    coefs[k:] = work.W.T
                    break
                coefs[k] = work.W.T
                solved += 1
        return GramSolution(coefs, solved)

    def _blocks(
        self, K: Float64Array, columns: IntArray, labels: IntArray, codes: IntArray
    ) -> _kernels.GroupBlocks:
        members = np.argsort(codes, kind="stable").astype(np.int64)
        starts = np.searchsorted(codes[members], np.arange(len(labels) + 1)).astype(np.int64)
        curvature = np.empty(len(labels))
        for g, label in enumerate(labels):
            own = members[starts[g] : starts[g + 1]]
            held = self._largest.get(int(label))
            if held is None or held[0] != len(own):
                top = float(np.linalg.eigvalsh(K[np.ix_(own, own)])[-1])
                held = self._largest[int(label)] = (len(own), top * (1 + ROUNDING))
            curvature[g] = held[1]
        return _kernels.GroupBlocks(
            members, starts, self.form.weight[labels], curvature, self.form.l1[columns]
        )


class _Groups:
    """The state of one solve: coefficients and correlations, (targets, m)."""

    def __init__(
        self,
        K: Float64Array,
        C: Float64Array,
        blocks: _kernels.GroupBlocks,
        l2: Float64Array,
        codes: IntArray,
        start: Float64Array,
        tol: float,
        stop: _kernels.Stop,
    ) -> None:
        self.K, self.C, self.blocks, self.codes, self.stop = K, C, blocks, codes, stop
        self.squares = _Squares(K, blocks, l2, codes) if l2.any() else None
        self.slack = SLACK * tol
        self.rounding = ROUNDING * float(np.abs(C).max(initial=0.0))
        self.W = np.ascontiguousarray(start.T)
        self.G = np.empty_like(self.W)
        self.refresh()
        self.free = (blocks.weight[codes] == 0) & (blocks.l1 == 0)

    def refresh(self) -> None:
        """Compute the correlations afresh."""
        used = np.flatnonzero(self.W.any(axis=0))
        self.G[:] = self.C.T - self.W[:, used] @ self.K[used]

    def solve(self, lam: float) -> bool:
        """Solve one strength; False when there was no time to."""
        if self.squares is not None:
            self.K, self.blocks = self.squares.at(lam)
            self.refresh()
        for _ in range(ROUNDS):
            if self.stop.requested or self.stop.late:
                return False
            self.newton(lam)
            self.refresh()
            excess = self.excess(lam)
            allowed = self.slack * lam * self.blocks.weight + self.rounding
            if self.blocks.l1.any():
                allowed = allowed + self.slack * lam * self._largest_l1
            if np.all(excess <= allowed):
                return True
            chosen = np.flatnonzero((excess > allowed) | self._in())
            _kernels.group_descent(
                self.K, self.blocks, chosen, lam, self.W, self.G, sweeps=2, stop=self.stop
            )
        return True

    @property
    def _largest_l1(self) -> Float64Array:
        largest = np.zeros(len(self.blocks.weight))
        np.maximum.at(largest, self.codes, self.blocks.l1)
        return largest

    def _in(self) -> BoolArray:
        """Groups that are not 0."""
        return np.asarray(self.norms(self.W) > 0)

    def norms(self, W: Float64Array) -> Float64Array:
        """Return the norm of each group."""
        squares = np.einsum("tj,tj->j", W, W)
        return np.sqrt(np.bincount(self.codes, squares, minlength=len(self.blocks.weight)))

    def excess(self, lam: float) -> Float64Array:
        """Return, for each group, the distance of its correlation from the subdifferential."""
        bound = lam * self.blocks.l1
        sizes = np.maximum(np.abs(self.G) - bound, 0.0) * np.sign(self.G)
        left = np.where(self.W == 0, sizes, self.G - bound * np.sign(self.W))
        norms = self.norms(self.W)
        price = lam * self.blocks.weight
        pull = np.divide(price, norms, out=np.zeros_like(norms), where=norms > 0)
        inside = self.norms(left - pull[self.codes] * self.W)
        return np.where(norms > 0, inside, np.maximum(self.norms(left) - price, 0.0))

    def newton(self, lam: float) -> None:
        """Newton steps on the entries that are in, as long as they reduce the objective."""
        for _ in range(NEWTON_STEPS):
            entries = np.flatnonzero((self.W != 0) | self.free)
            if not 0 < len(entries) <= LARGEST_SYSTEM:
                return
            if not self.step(lam, entries):
                return

    def step(self, lam: float, entries: IntArray) -> bool:
        """One damped Newton step; False when it brings nothing more."""
        m = len(self.K)
        targets, columns = np.divmod(entries, m)
        w, g = self.W.ravel()[entries], self.G.ravel()[entries]
        own = self.codes[columns]
        norms = self.norms(self.W)
        price = lam * self.blocks.weight
        pull = np.divide(price, norms, out=np.zeros_like(norms), where=norms > 0)[own]
        sizes = lam * self.blocks.l1[columns]
        slope = g - pull * w - sizes * np.sign(w)
        largest = float(np.abs(slope).max())
        if largest <= self.rounding + 0.1 * self.slack * lam:
            return False
        A = self.K[np.ix_(columns, columns)]
        if len(self.K) and targets.any():
            A = np.where(targets[:, None] == targets, A, 0.0)
        unit = w / np.where(norms > 0, norms, 1.0)[own]
        H = A.copy()
        H[np.diag_indices(len(entries))] += pull
        same = own[:, None] == own
        H -= np.where(same, np.outer(unit * pull, unit), 0.0)
        move = _solve(H, slope)
        if move is None:
            return False
        share = 1.0
        crossing = (sizes > 0) & (np.sign(w + move) != np.sign(w)) & (w != 0)
        if crossing.any():
            share = float(np.min(-w[crossing] / move[crossing]))
        return self._descend(lam, entries, columns, own, w, move, A, g, share)

    def _descend(
        self,
        lam: float,
        entries: IntArray,
        columns: IntArray,
        own: IntArray,
        w: Float64Array,
        move: Float64Array,
        A: Float64Array,
        g: Float64Array,
        share: float,
    ) -> bool:
        """Take the largest part of a step that lowers the objective."""
        sizes, weight = lam * self.blocks.l1[columns], lam * self.blocks.weight

        def penalty(v: Float64Array) -> float:
            norms = np.sqrt(np.bincount(own, v * v, minlength=len(weight)))
            return float(weight @ norms + sizes @ np.abs(v))

        before = penalty(w)
        for _ in range(6):
            v = w + share * move
            v[np.abs(v) <= 1e-15 * np.abs(w)] = 0.0
            # A group on its way through 0 stops there: else it alone would make the step short.
            through = np.bincount(own, w * v, minlength=len(weight)) <= 0.0
            v[(through & (weight > 0))[own]] = 0.0
            change = v - w
            if change @ A @ change / 2.0 - g @ change + penalty(v) - before < 0:
                self._take(entries, columns, v, change)
                return True
            share /= 4.0
        return False

    def _take(
        self, entries: IntArray, columns: IntArray, v: Float64Array, change: Float64Array
    ) -> None:
        """Set some entries, and bring the correlations up to date."""
        self.W.ravel()[entries] = v
        whole = np.zeros_like(self.W)
        whole.ravel()[entries] = change
        used = np.unique(columns)
        self.G -= whole[:, used] @ self.K[used]


class _Squares:
    """Moments and curvatures with what squares of coefficients add at a strength."""

    def __init__(
        self,
        K: Float64Array,
        blocks: _kernels.GroupBlocks,
        l2: Float64Array,
        codes: IntArray,
    ) -> None:
        self._K, self._diagonal, self._blocks, self._l2 = K.copy(), K.diagonal().copy(), blocks, l2
        self._largest = np.zeros(len(blocks.weight))
        np.maximum.at(self._largest, codes, l2)

    def at(self, lam: float) -> tuple[Float64Array, _kernels.GroupBlocks]:
        """Return both at one strength; the moments are valid until the next one is asked for."""
        self._K[np.diag_indices(len(self._K))] = self._diagonal + lam * self._l2
        curvature = self._blocks.curvature + lam * self._largest
        return self._K, replace(self._blocks, curvature=curvature)


def _solve(H: Float64Array, right: Float64Array) -> Float64Array | None:
    """Solve a positive definite system; None where it is not, to rounding."""
    try:
        factor = linalg.cho_factor(H, lower=False, overwrite_a=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return np.asarray(linalg.cho_solve(factor, right, check_finite=False))
