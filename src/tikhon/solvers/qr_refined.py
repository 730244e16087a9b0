"""Least squares by QR, refined in double-double until the last digit.

The columns, centred and scaled, are factorised A = Q R (in blocks of rows when the table is large:
then only R is kept). Refinement works on the original numbers. With r and w the current residual
and coefficients,

    f = y - r - (X - c) w - b        g = -(X - c)' S r         (both in double-double)
    dw = R^-1 (Q' f - R^-T g)        dr = (I - Q Q') f + Q R^-T g

which is Bjorck's refinement of the augmented system: every step gains -log10(cond(A) 1e-16) digits
however large the residual is, so even polynomials of degree ten in raw powers come out right.
Without Q, r is carried in double-double itself and ``dw = R^-1 R^-T (X - c)' S r``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from tikhon import _kernels
from tikhon.errors import AccuracyError
from tikhon.problem.squared import Frame
from tikhon.solvers.scaled_table import ScaledTable
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array, IntArray

__all__ = ["QRSolution", "independent_columns", "qr_refined"]

MAX_STEPS = 20

ENOUGH = 2.0**-64
"""A correction this small, relative to the largest coefficient, changes none that matters."""

THREE_DIGITS = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class QRSolution:
    """Coefficients on the user's scale, and what the factorisation tells.

    Attributes
    ----------
    frame : Frame
        The centred, scaled coordinates.
    inverse_form : callable
        Takes correlations g (d, targets) in the frame to ``g' (A'A)^-1 g``, target by target.
    coef, intercept, rank, aliased, singular, passes
        As in `LeastSquaresFit`.
    """

    frame: Frame
    inverse_form: Callable[[Float64Array], Float64Array]
    coef: Float64Array
    intercept: Float64Array
    rank: int
    aliased: IntArray
    singular: Float64Array
    passes: float


def qr_refined(training: Training) -> QRSolution:
    """Solve least squares with at least as many rows as columns."""
    table = ScaledTable.of(training)
    Q, R = table.factorise()
    kept, aliased = independent_columns(R[table.first :, table.first :], table.noise)
    columns = np.concatenate([np.arange(table.first), table.first + kept])
    if len(aliased):
        basis, own = np.linalg.qr(R[:, columns])
        Q = None if Q is None else Q @ basis
    else:
        own = R
    W, b, steps = _refined(table, kept, own, Q)
    if len(aliased):
        W = _least_norm(W, R[table.first :, table.first :], kept, aliased, table.scale)
        b = table.intercept_for(W)
    factor = own[table.first :, table.first :]

    def inverse_form(g: Float64Array) -> Float64Array:
        half = linalg.solve_triangular(factor, g[kept], trans="T") if len(kept) else g[kept]
        return np.asarray(np.einsum("jt,jt->t", half, half))

    singular = np.linalg.svd(factor, compute_uv=False) if len(kept) else np.empty(0)
    return QRSolution(
        table.frame(), inverse_form, W, b, len(kept), aliased, singular, 2.0 + 2.0 * steps
    )


def independent_columns(R: Float64Array, noise: Float64Array) -> tuple[IntArray, IntArray]:
    """Columns to keep and aliased columns, given R and the rounding level of each column.

    The rank comes from a pivoted factorisation, which is safe. The names come from the plain
    one where it agrees: it blames the later of two equal columns, as a reader would.
    """
    d = R.shape[1]
    if d == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    pivoted, order = linalg.qr(R, mode="r", pivoting=True)
    large = np.abs(np.diagonal(pivoted)) > noise[order]
    kept = np.sort(order[large]).astype(np.int64)
    in_turn = np.flatnonzero(np.abs(np.diagonal(R)) > noise)
    if len(in_turn) == len(kept):
        kept = in_turn
    return kept, np.setdiff1d(np.arange(d), kept)


def _refined(
    table: ScaledTable, kept: IntArray, R: Float64Array, Q: Float64Array | None
) -> tuple[Float64Array, Float64Array, int]:
    """Refine every target on its own; returns coefficients, intercepts and the most steps taken."""
    d, targets = table.design.shape[1], table.y.shape[1]
    W, b, most = np.zeros((d, targets)), np.zeros(targets), 0
    for t in range(targets):
        state = _Refinement(table, kept, R, Q, np.ascontiguousarray(table.y[:, t]))
        most = max(most, state.run())
        W[:, t] = state.w.hi + state.w.lo
        b[t] = state.user_intercept()
    return W, b, most


@dataclass(slots=True, eq=False)
class _Pairs:
    """A vector in double-double."""

    hi: Float64Array
    lo: Float64Array

    @classmethod
    def zeros(cls, n: int) -> _Pairs:
        return cls(np.zeros(n), np.zeros(n))

    def add(self, step: Float64Array) -> None:
        """Add a double to each pair."""
        total = self.hi + step
        part = total - self.hi
        rest = (self.hi - (total - part)) + (step - part) + self.lo
        self.hi = total + rest
        self.lo = rest - (self.hi - total)


class _Refinement:
    """The iteration for one target."""

    def __init__(
        self,
        table: ScaledTable,
        kept: IntArray,
        R: Float64Array,
        Q: Float64Array | None,
        y: Float64Array,
    ) -> None:
        self.table, self.kept, self.R, self.Q, self.y = table, kept, R, Q, y
        n, d = table.design.shape
        self.w, self.b = _Pairs.zeros(d), _Pairs.zeros(1)
        self.p, self.r = table.p, np.zeros(n)
        self.root = np.sqrt(self.p)

    def run(self) -> int:
        """Iterate until nothing changes any more; return the number of steps."""
        previous = np.inf
        for step in range(1, MAX_STEPS + 1):
            change = self._direction()
            size = float(np.max(np.abs(change), initial=0.0))
            if not size < 0.5 * previous:
                self._judge(previous)
                return step - 1
            self._move(change)
            if size <= ENOUGH * self._magnitude():
                return step
            previous = size
        self._judge(previous)
        return MAX_STEPS

    def _judge(self, size: float) -> None:
        if size > THREE_DIGITS * self._magnitude():
            raise AccuracyError(
                "the columns are so nearly dependent that the coefficients cannot be computed to "
                f"three digits (last correction {size / self._magnitude():.0e} of their size). "
                "Leave out columns, or use tk.Ridge with a small `lam`."
            )

    def _magnitude(self) -> float:
        scaled = np.abs(self.w.hi * self.table.scale)
        return max(float(np.max(scaled, initial=0.0)), float(np.abs(self.b.hi[0])), 1e-300)

    def _direction(self) -> Float64Array:
        """The next correction, in scaled coordinates (the intercept first, if there is one)."""
        hi, lo = self.table.residual(self.y, self.w, self.b)
        if self.Q is None:
            g = self.table.correlation(hi, lo)
            half = linalg.solve_triangular(self.R, g[self._columns], trans="T")
            return np.asarray(linalg.solve_triangular(self.R, half))
        f = self.root * ((hi - self.r) + lo)
        g = -self.table.correlation(self.r, np.zeros_like(self.r))
        h = linalg.solve_triangular(self.R, g[self._columns], trans="T")
        along = self.Q.T @ f
        self.r += (f + self.Q @ (h - along)) / self.root
        return np.asarray(linalg.solve_triangular(self.R, along - h))

    @property
    def _columns(self) -> IntArray:
        first = self.table.first
        return np.concatenate([np.arange(first), first + self.kept])

    def _move(self, change: Float64Array) -> None:
        first = self.table.first
        full = np.zeros(len(self.w.hi))
        full[self.kept] = change[first:] / self.table.scale[self.kept]
        self.w.add(full)
        self.b.add(change[:first] if first else np.zeros(1))

    def user_intercept(self) -> float:
        """``b - c . w``, where c is the centre that was subtracted from the columns."""
        if not self.table.first:
            return 0.0
        hi, lo = np.empty(1), np.empty(1)
        _kernels.residual_dd(
            self.table.centre[None, :],
            self.b.hi,
            self.w.hi,
            self.w.lo,
            -float(self.b.lo[0]),
            0.0,
            hi,
            lo,
        )
        return float(hi[0] + lo[0])


def _least_norm(
    W: Float64Array, R: Float64Array, kept: IntArray, aliased: IntArray, scale: Float64Array
) -> Float64Array:
    """Move along the null space of the columns to the coefficients of least norm."""
    N = np.zeros((R.shape[1], len(aliased)))
    N[aliased, np.arange(len(aliased))] = 1.0
    if len(kept):
        N[kept] = -np.linalg.lstsq(R[:, kept], R[:, aliased], rcond=None)[0]
    N /= scale[:, None]
    basis = np.linalg.qr(N / np.max(np.abs(N), axis=0))[0]
    return np.asarray(W - basis @ (basis.T @ W))
