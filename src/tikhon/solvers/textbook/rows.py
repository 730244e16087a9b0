"""Mini-batches of rows, taken one after the other: the compiled pass, and its NumPy twin.

    u   = a_i loss'(y_i, x_i . w + b) / (rows in the batch)
    w  <- soft(w - gain (X_batch' u + l2 w), gain l1),   then into the ball, if there is one
    b  <- b - gain sum u

The twin is the readable form. It also takes what the compiled one does not: a user's own loss,
several targets, classes, and batches so long that a product with them is the fastest way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon import _kernels, losses
from tikhon.data.design import BLOCK_BYTES, Design
from tikhon.data.sparse import SparseDesign
from tikhon.losses.base import Loss
from tikhon.penalties import soft_threshold
from tikhon.solvers.textbook.smoothness import Curvature, top_curvature
from tikhon.typing import Float64Array, IntArray

__all__ = ["Draws", "Rows", "Rules", "Walker", "compiled_loss"]

ENTRIES_AT_ONCE = 2**20
"""Entries of a sparse table between two looks at the keyboard: some milliseconds."""

SAMPLE = 2048
"""Rows from which the curvature of long batches is found."""

COMPILED: dict[type[Loss], str | None] = {
    losses.Squared: None,
    losses.Logistic: None,
    losses.Hinge: None,
    losses.SquaredHinge: None,
    losses.Poisson: None,
    losses.Gamma: None,
    losses.Huber: "delta",
    losses.Quantile: "q",
    losses.EpsilonInsensitive: "eps",
}
"""Losses that the compiled pass knows, and the name of their parameter."""


def compiled_loss(loss: Loss) -> tuple[str, float] | None:
    """Return name and parameter of a loss that is compiled; of exactly these types."""
    if type(loss) not in COMPILED:
        return None
    parameter = COMPILED[type(loss)]
    return loss.name, 0.0 if parameter is None else float(getattr(loss, parameter))


@dataclass(frozen=True, slots=True)
class Rules:
    """What every step of a walk has in common.

    Attributes
    ----------
    loss : Loss
    l1, l2 : float
        Strengths times their shares of the penalty.
    intercept : bool
    radius : float
        Of the ball that coefficients are projected to; infinity for none.
    """

    loss: Loss
    l1: float
    l2: float
    intercept: bool
    radius: float = float("inf")


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Rows in the order of their batches, with factors of their gradients; and a gain per batch."""

    index: IntArray
    weight: Float64Array | None
    size: int
    gain: Float64Array

    @property
    def batches(self) -> int:
        """Number of batches."""
        return -(-len(self.index) // self.size)


@dataclass(slots=True, eq=False)
class Walker:
    """The iterate and the sum of all iterates before their step.

    Attributes
    ----------
    w : ndarray of shape (d,) or (d, k)
    b : ndarray of shape () or (k,)
    w_sum, b_sum : the same shapes
    """

    w: Float64Array
    b: Float64Array
    w_sum: Float64Array
    b_sum: Float64Array

    @classmethod
    def zero(cls, shape: tuple[int, ...]) -> Walker:
        """Start from 0."""
        return cls(np.zeros(shape), np.zeros(shape[1:]), np.zeros(shape), np.zeros(shape[1:]))

    def copy(self) -> Walker:
        """Return a walker in the same place, to go on from there."""
        return Walker(self.w.copy(), self.b.copy(), self.w_sum.copy(), self.b_sum.copy())

    def forgetting(self) -> Walker:
        """Return a walker in the same place whose sums are 0."""
        return Walker(self.w, self.b, np.zeros_like(self.w), np.zeros_like(self.b))


class Rows:
    """A table from which batches are taken; sparse tables in compressed rows."""

    def __init__(self, design: Design, y: Float64Array) -> None:
        if isinstance(design, SparseDesign):
            design = SparseDesign(design.X.tocsr(), design.scan)
        self.design = design
        self.y = y

    def __len__(self) -> int:
        return len(self.y)

    def at_once(self, size: int) -> int:
        """How many rows to take between two looks at the clock and the keyboard."""
        n, d = self.design.shape
        if isinstance(self.design, SparseDesign):
            most = ENTRIES_AT_ONCE * n // max(self.design.X.nnz, n)
        else:
            most = max(16, BLOCK_BYTES // (8 * d))
        return max(size, most // size * size)

    def batch_curvature(self, size: int, *, intercept: bool) -> Curvature:
        """Return the curvature that the gradient of a batch of this size has, in the mean.

        ``(n - k) / (k (n - 1))`` of the largest ``||x_i||^2`` plus ``n (k - 1) / (k (n - 1))`` of
        the largest eigenvalue of all rows together, which is that of some thousand of them.
        """
        n, k = len(self), min(size, len(self))
        largest = self._largest_square() + intercept
        if k == 1:
            return Curvature(largest, 1.0)
        chosen = np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])
        m = len(chosen)
        sample = self.design if m == n else self.design.rows(chosen)
        top = top_curvature(sample, np.full(m, 1.0 / m), intercept=intercept)
        value = (n - k) / (k * (n - 1)) * largest + n * (k - 1) / (k * (n - 1)) * top.value
        return Curvature(value, 1.0 + top.passes * m / n)

    def _largest_square(self) -> float:
        if isinstance(self.design, SparseDesign):
            squares = np.asarray(self.design.X.multiply(self.design.X).sum(axis=1), dtype=float)
            return float(squares.max())
        blocks = self.design.blocks()
        return max(float(np.einsum("ij,ij->i", b.rows, b.rows).max()) for b in blocks)

    def walk(self, rules: Rules, draws: Draws, at: Walker, *, plain: bool = False) -> Float64Array:
        """Take one step per batch; return the derivative of the loss found for each row drawn.

        `plain` asks for the NumPy twin where there is a choice.
        """
        loss = compiled_loss(rules.loss)
        most = self.at_once(1)
        fits = len(draws.index) <= max(most, draws.size) and draws.size <= most
        fits &= draws.size < len(self) or len(self) == 1  # a batch of all rows is one product
        if plain or loss is None or at.w.ndim == 2 or self.y.ndim == 2 or not fits:
            return self._plain(rules, draws, at)
        y = self.y[draws.index]
        batches = _kernels.Batches(
            y=y,
            weight=draws.weight,
            size=draws.size,
            shrink=1.0 - draws.gain * rules.l2,
            gain=draws.gain,
            threshold=draws.gain * rules.l1 if rules.l1 > 0 else None,
            radius=rules.radius,
            intercept=rules.intercept,
        )
        slopes = np.empty(len(y))
        offset = np.array([at.b, at.b_sum])
        if isinstance(self.design, SparseDesign):
            table, index = self.design.X.tocsr(), draws.index  # compressed rows already: no copy
            _kernels.stochastic_pass(table, index, batches, loss, at.w, at.w_sum, offset, slopes)
        else:
            (block,) = self.design.blocks(index=draws.index)
            rows = np.ascontiguousarray(block.rows)
            _kernels.stochastic_pass(rows, None, batches, loss, at.w, at.w_sum, offset, slopes)
        at.b, at.b_sum = np.asarray(offset[0]), np.asarray(offset[1])
        return slopes

    def _plain(self, rules: Rules, draws: Draws, at: Walker) -> Float64Array:
        found = []
        for t, gain in enumerate(draws.gain):
            place = slice(t * draws.size, (t + 1) * draws.size)
            index = draws.index[place]
            whole = len(index) == len(self) and np.array_equal(index, np.arange(len(self)))
            batch = self.design if whole else self.design.rows(index)
            slopes = rules.loss.derivative(self.y[index], batch.predict(at.w) + at.b)
            found.append(slopes)
            u = np.asarray(slopes, dtype=np.float64) / len(index)
            if draws.weight is not None:
                u = (u.T * draws.weight[place]).T
            step(rules, float(gain), batch.correlate(u), u.sum(axis=0), at)
        return np.concatenate(found)


def step(rules: Rules, gain: float, g: Float64Array, g_b: Any, at: Walker) -> None:
    """One step of a walk from the gradient of a batch's mean loss."""
    at.w_sum += at.w
    at.b_sum = at.b_sum + at.b
    w = at.w - gain * (g + rules.l2 * at.w)
    if rules.l1 > 0:
        w = np.asarray(soft_threshold(w, gain * rules.l1), dtype=np.float64)
    norm = float(np.linalg.norm(w))
    if norm > rules.radius:
        w = w * (rules.radius / norm)
    at.w = np.asarray(w, dtype=np.float64)
    if rules.intercept:
        at.b = np.asarray(at.b - gain * g_b)
