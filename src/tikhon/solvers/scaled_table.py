"""The rows in use of a table, under exact power-of-two scales, with exact products.

Centring by a rounded mean and scaling by powers of two keeps the meaning of every number: the
compensated kernels subtract the centre exactly, and powers of two divide exactly. So a solution
in these coordinates is a solution of the original problem, not of a rounded copy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tikhon import _kernels
from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.squared import Frame
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array, IntArray

__all__ = ["KEEP_Q", "PairVector", "ScaledTable"]

KEEP_Q = 2**22
"""Entries of Q up to which it is kept."""

NOISE = 8.0
"""Multiple of the rounding level below which a column is taken to be dependent."""


class PairVector(Protocol):
    """A vector in double-double."""

    hi: Float64Array
    lo: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class ScaledTable:
    """Rows in use, their centre and scales.

    Attributes
    ----------
    first : int
        1 with an intercept, which is then the first column of the factorised matrix, else 0.
    p : ndarray of shape (n,)
        Row weights summing to 1.
    centre, scale : ndarray of shape (d,)
    noise : ndarray of shape (d,)
        Rounding level of each centred, scaled column.
    """

    design: Design
    y: Float64Array
    s: Float64Array | None
    p: Float64Array
    first: int
    centre: Float64Array
    scale: Float64Array
    noise: Float64Array

    @classmethod
    def of(cls, training: Training) -> ScaledTable:
        """Take the rows in use and choose centre and scales."""
        rows = training.used()
        whole = len(rows) == training.design.shape[0]
        design = training.design if whole else training.design.rows(rows)
        y = training.y if whole else training.y[rows]
        s = training.s if whole or training.s is None else training.s[rows]
        n, d = design.shape
        size = np.maximum(np.abs(design.scan.minimum), np.abs(design.scan.maximum))
        unit = _power_of_two(size)
        centre = design.centre() if training.intercept else np.zeros(d)
        spread = np.empty(d)
        for start, Z in design.column_blocks(centre, 1.0 / unit):
            spread[start : start + Z.shape[1]] = np.sqrt(np.einsum("ij,ij->j", Z, Z) / n)
        ratio = np.divide(size / unit, spread, out=np.ones(d), where=spread > 0)
        noise = NOISE * design.eps * np.sqrt(max(n, d)) * np.maximum(ratio, 1.0)
        p = np.full(n, 1.0 / n) if s is None else s / s.sum()
        first = int(training.intercept)
        return cls(design, y, s, p, first, centre, unit * _power_of_two(spread), noise)

    def factorise(self) -> tuple[Float64Array | None, Float64Array]:
        """Return Q (if small enough to keep) and R of the weighted, centred, scaled columns."""
        n, d = self.design.shape
        width = d + self.first
        if n * width <= KEEP_Q:
            factors = np.linalg.qr(self._rows(np.arange(n)))
            return factors.Q, factors.R
        R: Float64Array = np.empty((0, width))
        step = max(4 * width, 4096)
        for start in range(0, n, step):
            block = self._rows(np.arange(start, min(start + step, n)))
            R = np.asarray(np.linalg.qr(np.vstack([R, block]), mode="r"))
        return None, R

    def _rows(self, index: IntArray) -> Float64Array:
        root = np.sqrt(self.p[index])[:, None]
        A = np.empty((len(index), self.design.shape[1] + self.first))
        A[:, : self.first] = root
        for block in self.design.blocks(self.centre, index):
            A[block.start : block.stop, self.first :] = block.rows
        A[:, self.first :] /= self.scale
        A[:, self.first :] *= root
        return A

    def residual(
        self, y: Float64Array, w: PairVector, b: PairVector
    ) -> tuple[Float64Array, Float64Array]:
        """Return ``y - (X - c) w - b`` in double-double."""
        hi, lo = np.empty(len(y)), np.empty(len(y))
        for block in self.design.blocks():
            part = slice(block.start, block.stop)
            _kernels.residual_dd(
                block.rows,
                y[part],
                w.hi,
                w.lo,
                float(b.hi[0]),
                float(b.lo[0]),
                hi[part],
                lo[part],
                shift=self.centre,
            )
        return hi, lo

    def correlation(self, r_hi: Float64Array, r_lo: Float64Array) -> Float64Array:
        """Return the factorised columns' inner products with ``p r``, from double-double sums."""
        d = self.design.shape[1]
        g_hi, g_lo = np.zeros(d), np.zeros(d)
        total_hi, total_lo = 0.0, 0.0
        for block in self.design.blocks():
            part = slice(block.start, block.stop)
            hi, lo = _kernels.correlate_dd(
                block.rows, self.p[part], r_hi[part], r_lo[part], g_hi, g_lo, shift=self.centre
            )
            # block sums are few and of one size: plain compensation is enough
            new = total_hi + hi
            total_lo += (total_hi - (new - (new - total_hi))) + (hi - (new - total_hi)) + lo
            total_hi = new
        scaled = (g_hi + g_lo) / self.scale
        return np.concatenate([[total_hi + total_lo], scaled]) if self.first else scaled

    def intercept_for(self, W: Float64Array) -> Float64Array:
        """Return the best intercept for coefficients W (d, targets), on the user's scale."""
        if not self.first:
            return np.zeros(W.shape[1])
        Z = self.design.predict(W, self.centre)
        return np.asarray(self.p @ (self.y - Z) - self.centre @ W)

    def frame(self) -> Frame:
        """Centred, scaled coordinates, for certificates."""
        d, targets = self.design.shape[1], self.y.shape[1]
        mean, y_mean = np.zeros(d), np.zeros(targets)
        if self.first:
            mean = self.centre + self.design.correlate(self.p, self.centre)
            y_mean = self.p @ self.y
        weight = float(len(self.y)) if self.s is None else float(self.s.sum())
        p = None if self.s is None else self.p
        view = StandardizedDesign(self.design, mean, self.scale)
        return Frame(view, self.y, y_mean, p, weight, bool(self.first))


def _power_of_two(size: Float64Array) -> Float64Array:
    """Return the power of two just above each positive number, 1 for zeros."""
    return np.asarray(np.exp2(np.frexp(np.where(size > 0, size, 1.0))[1].astype(np.float64)))
