"""Smooth losses with squares for a penalty, matrix-free: Newton steps by conjugate gradients.

For tables with many columns, dense or sparse, and for several classes. A step solves

    (X~' P h X~ + lam D) v = -gradient

by conjugate gradients, to the accuracy that the step deserves; all training sets take theirs
together, so that every product is one of the table with a matrix. Where the second moments of the
columns can be decomposed once, they precondition every system of the path:

    (c X~'PX~ + lam)^-1 = Q (c E + lam)^-1 Q',   c the mean curvature of an output,

which leaves only what rows differ in their curvature. Otherwise the diagonal does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.losses.base import Loss
from tikhon.problem.dual import mean_floor
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.smooth import SmoothMachine
from tikhon.typing import BoolArray, Float64Array

__all__ = ["SmoothKrylov"]

ENTRIES = 2**24
"""Predictions held at once: training sets advance together as far as these allow."""

DECOMPOSABLE = 1500
"""Columns up to which their second moments are decomposed, for preconditioning."""

SHARE = 0.25
NEWTON_STEPS = 100
INNER_STEPS = 300
HALVINGS = 40
FORCING = 0.1
"""Largest relative residual at which a Newton system counts as solved."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A table with one loss on it: products, values and curvatures of many problems."""

    view: StandardizedDesign
    loss: Loss
    y: Float64Array
    offset: Float64Array | None

    def predict(self, W: Float64Array, b: Float64Array | None = None) -> Float64Array:
        """Return ``X~ W + b + o`` (n, sets, outputs); without b, the linear part alone."""
        d, sets, outputs = W.shape
        Z = np.asarray(self.view.predict(W.reshape(d, -1))).reshape(-1, sets, outputs)
        if b is not None:
            Z += b
            if self.offset is not None:
                Z += self.offset[:, None, :]
        return Z

    def correlate(self, R: Float64Array) -> Float64Array:
        """Return ``X~' R`` (d, sets, outputs)."""
        n, sets, outputs = R.shape
        return np.asarray(self.view.correlate(R.reshape(n, -1))).reshape(-1, sets, outputs)

    @property
    def targets(self) -> Float64Array:
        """The targets, so that they broadcast against predictions."""
        return self.y if self.loss.per_class else self.y[:, None, :]

    def values(self, Z: Float64Array, P: Float64Array) -> Float64Array:
        """Return the mean loss of each set: (sets,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            values = np.asarray(self.loss.value(self.targets, Z), dtype=np.float64)
        values = values if values.ndim == 2 else values.sum(axis=2)
        return np.asarray(np.einsum("ik,ik->k", P, np.where(P > 0, values, 0.0)))

    def slopes(self, Z: Float64Array, P: Float64Array) -> Float64Array:
        """Return derivatives times row weights: (n, sets, outputs)."""
        with np.errstate(over="ignore", invalid="ignore"):
            R = np.asarray(self.loss.derivative(self.targets, Z), dtype=np.float64)
        return np.where(P[:, :, None] > 0, R * P[:, :, None], 0.0)

    def curvature(
        self, Z: Float64Array, P: Float64Array
    ) -> tuple[Callable[[Float64Array], Float64Array], Float64Array]:
        """Return the weighted second derivative as a map, and its mean diagonal (sets, outputs)."""
        with np.errstate(over="ignore", invalid="ignore"):
            h = np.asarray(self.loss.curvature(self.targets, Z), dtype=np.float64)
        h = np.where(P[:, :, None] > 0, h * P[:, :, None], 0.0)
        mean = h.sum(axis=0)
        if not self.loss.per_class:
            return (lambda A: h * A), mean
        p = np.asarray(self.loss.inverse_link(Z), dtype=np.float64)
        weighted = p * P[:, :, None]
        return (lambda A: weighted * (A - np.sum(p * A, axis=2, keepdims=True))), mean


class SmoothKrylov(SmoothMachine):
    """A table that is only ever multiplied with."""

    name = "Newton steps by conjugate gradients"

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set, as many together as fit into memory."""
        n, outputs = len(self.training.y), self.frame.outputs
        together = max(1, ENTRIES // (n * outputs))
        fits: list[PathFit] = []
        for first in range(0, len(trains), together):
            fits += self._together(trains[first : first + together], first, lams)
        return fits

    @cached_property
    def _rows(self) -> _Rows:
        own, training = self.table.everything, self.training
        view = StandardizedDesign(training.design, self.table.shift + own.mean, own.spread)
        return _Rows(view, self.loss, training.y, training.offset)

    @cached_property
    def _spectrum(self) -> tuple[Float64Array, Float64Array] | None:
        """Eigenvalues and vectors of the columns' second moments, or their diagonal alone."""
        d = self.training.design.shape[1]
        if d > DECOMPOSABLE:
            return None
        p = self.frame.shares
        S = np.zeros((d, d))
        for block in self.training.design.blocks(self._rows.view.mean):
            A = block.rows * np.sqrt(p[block.start : block.start + len(block.rows), None])
            S += A.T @ A
        S /= self._rows.view.scale
        S /= self._rows.view.scale[:, None]
        e, Q = np.linalg.eigh(S)
        return np.maximum(e, 0.0), Q

    def _together(
        self, trains: Sequence[BoolArray], first: int, lams: Float64Array
    ) -> list[PathFit]:
        training, d, outputs = self.training, self.training.design.shape[1], self.frame.outputs
        sets = [self.table.columns(train) for train in trains]
        P = np.stack([own.p for own in sets], axis=1)
        form = self.penalty.coordinates(d)
        assert form is not None
        unit = self._rows.view.scale
        D = np.stack([form.l2 * (own.scale / unit) ** 2 for own in sets], axis=1)[:, :, None]
        b = np.stack([self.start_of(train, first + k - 1) for k, train in enumerate(trains)])
        state = _State(self, P, D, np.zeros((d, len(sets), outputs)), b)
        coefs = np.empty((len(lams), d, len(sets), outputs))
        intercepts = np.empty((len(lams), len(sets), outputs))
        solved = 0
        for k, lam in enumerate(lams):
            if not self.stop.now:
                state.solve(float(lam))
            coefs[k], intercepts[k] = state.W, state.b
            solved += 0 if self.stop.now else 1
        if self.loss.per_class:  # softmax ignores what all classes share: centring picks one
            free = (D.max(axis=(1, 2)) == 0.0) | (lams[:, None] == 0.0)
            shared = coefs.mean(axis=3, keepdims=True)
            coefs -= np.where(free[:, :, None, None], shared, 0.0)
            intercepts -= intercepts.mean(axis=2, keepdims=True) * training.intercept
        V = coefs / unit[:, None, None]
        if training.intercept:
            intercepts -= np.einsum("j,ljso->lso", self._rows.view.mean, V)
        columns = np.arange(d)
        return [
            PathFit(training, lams, columns, V[:, :, k], intercepts[:, k], solved)
            for k in range(len(sets))
        ]


class _State:
    """The training sets that advance together."""

    def __init__(
        self,
        machine: SmoothKrylov,
        P: Float64Array,
        D: Float64Array,
        W: Float64Array,
        b: Float64Array,
    ) -> None:
        self.rows, self.stop = machine._rows, machine.stop  # noqa: SLF001
        self.spectrum = machine._spectrum  # noqa: SLF001
        self.intercept = float(machine.training.intercept)
        self.P, self.D, self.W, self.b = P, D, W, b
        Z = self.rows.predict(W, b)
        worth = self.rows.values(Z, P)
        for k in range(P.shape[1]):
            used = P[:, k] > 0
            worth[k] -= mean_floor(self.rows.loss, self.rows.y[used], P[used, k])
        self.worth = np.where(worth > 0, worth, 1.0)
        G = self.rows.correlate(self.rows.slopes(Z, P))
        slope = np.sqrt(np.einsum("jso,jso->s", G, G))
        self.null_gradient = np.where(slope > 0, slope, 1.0)
        self.wanted = SHARE * machine.tol * self.worth

    def solve(self, lam: float) -> None:
        """Newton steps for one strength until every set is at rest."""
        Z = self.rows.predict(self.W, self.b)
        penalty = lam * self.D
        value = self.rows.values(Z, self.P) + _half_squares(penalty, self.W)
        open_sets = np.arange(self.P.shape[1])
        for _ in range(NEWTON_STEPS):
            P, W = self.P[:, open_sets], self.W[:, open_sets]
            R = self.rows.slopes(Z[:, open_sets], P)
            total = self.rows.correlate(R) + penalty[:, open_sets] * W
            slope = R.sum(axis=0) * self.intercept
            distance = self._distance(total, slope, penalty[:, open_sets], open_sets, W)
            late = np.flatnonzero(distance > self.wanted[open_sets])
            if not len(late) or self.stop.now:
                return
            open_sets, total, slope = open_sets[late], total[:, late], slope[late]
            move, shift = self._direction(
                Z[:, open_sets], total, slope, lam, open_sets, distance[late]
            )
            moved = self._search(Z, value, open_sets, move, shift, total, slope, penalty)
            open_sets = open_sets[moved]
            if not len(open_sets):
                return

    def _distance(
        self,
        total: Float64Array,
        slope: Float64Array,
        penalty: Float64Array,
        sets: np.ndarray,
        W: Float64Array,
    ) -> Float64Array:
        """The duality gap, half the squared gradient in the penalty's norm; else the gradient."""
        if np.all(penalty > 0):
            squares = np.sum(total**2 / penalty, axis=(0, 2)) / 2.0
            size = np.sqrt(np.einsum("jso,jso->s", W, W))
            return np.asarray(squares + np.linalg.norm(slope, axis=1) * size)
        left = np.sqrt(np.einsum("jso,jso->s", total, total) + np.sum(slope**2, axis=1))
        return np.asarray(left * self.worth[sets] / self.null_gradient[sets])

    def _direction(
        self,
        Z: Float64Array,
        total: Float64Array,
        slope: Float64Array,
        lam: float,
        sets: np.ndarray,
        distance: Float64Array,
    ) -> tuple[Float64Array, Float64Array]:
        """Solve the Newton systems of all open sets, roughly far away and firmly near the end."""
        bend, mean = self.rows.curvature(Z, self.P[:, sets])
        penalty = lam * self.D[:, sets]
        floor = 1e-12 * max(float(mean.max(initial=0.0)), 1e-300)
        mean = np.maximum(mean, floor)
        ease = self._preconditioner(mean, penalty)
        x, x_b = np.zeros_like(total), np.zeros_like(slope)
        r, r_b = -total, -slope
        q, q_b = ease(r), r_b / mean
        s, s_b = q.copy(), q_b.copy()
        rho = _inner(r, q, r_b, q_b)
        first = rho.copy()
        goal = np.minimum(FORCING, np.sqrt(distance / self.worth[sets])) ** 2
        for _ in range(INNER_STEPS):
            A = self.rows.predict(s) + s_b * self.intercept
            B = bend(A)
            H = self.rows.correlate(B) + penalty * s
            H_b = B.sum(axis=0) * self.intercept
            curve = _inner(s, H, s_b, H_b)
            step = np.divide(rho, curve, out=np.zeros_like(rho), where=curve > 0)
            x += step[:, None] * s
            x_b += step[:, None] * s_b
            r -= step[:, None] * H
            r_b -= step[:, None] * H_b
            q, q_b = ease(r), r_b / mean
            after = _inner(r, q, r_b, q_b)
            if np.all((after <= goal * first) | (curve <= 0)) or self.stop.now:
                break
            ratio = np.divide(after, rho, out=np.zeros_like(rho), where=rho > 0)
            s = q + ratio[:, None] * s
            s_b = q_b + ratio[:, None] * s_b
            rho = after
        return x, x_b * self.intercept

    def _preconditioner(
        self, mean: Float64Array, penalty: Float64Array
    ) -> Callable[[Float64Array], Float64Array]:
        if self.spectrum is None:
            scale = mean + penalty
            return lambda r: r / scale
        e, Q = self.spectrum
        typical = penalty.mean(axis=0)
        scale = e[:, None, None] * mean + np.maximum(typical, 1e-12 * mean * e[-1])
        flat = (len(e), -1)
        return lambda r: (
            Q @ ((Q.T @ r.reshape(flat)).reshape(r.shape) / scale).reshape(flat)
        ).reshape(r.shape)

    def _search(
        self,
        Z: Float64Array,
        value: Float64Array,
        sets: np.ndarray,
        move: Float64Array,
        shift: Float64Array,
        total: Float64Array,
        slope: Float64Array,
        penalty: Float64Array,
    ) -> BoolArray:
        """Shorten each set's step until its objective falls enough; which sets have moved."""
        change = self.rows.predict(move) + shift
        fall = _inner(total, move, slope, shift)
        share = np.ones(len(sets))
        waiting = np.ones(len(sets), dtype=np.bool_)
        for _ in range(HALVINGS):
            k = np.flatnonzero(waiting)
            W = self.W[:, sets[k]] + share[k, None] * move[:, k]
            tried_z = Z[:, sets[k]] + share[k, None] * change[:, k]
            tried = self.rows.values(tried_z, self.P[:, sets[k]])
            tried = tried + _half_squares(penalty[:, sets[k]], W)
            slack = 1e-14 * np.abs(value[sets[k]])
            fine = tried <= value[sets[k]] + 1e-4 * share[k] * fall[k] + slack
            done = k[fine]
            self.W[:, sets[done]] = W[:, fine]
            self.b[sets[done]] += share[done, None] * shift[done]
            Z[:, sets[done]] = tried_z[:, fine]
            value[sets[done]] = tried[fine]
            waiting[done] = False
            if not waiting.any():
                break
            share[waiting] /= 2.0
        return ~waiting


def _inner(a: Float64Array, b: Float64Array, a_b: Float64Array, b_b: Float64Array) -> Float64Array:
    """Inner products of each set: (sets,)."""
    return np.asarray(np.einsum("jso,jso->s", a, b) + np.einsum("so,so->s", a_b, b_b))


def _half_squares(penalty: Float64Array, W: Float64Array) -> Float64Array:
    return np.asarray(np.sum(penalty * W**2, axis=(0, 2)) / 2.0)
