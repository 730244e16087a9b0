"""One pass over the rows for many problems at once: the gradient of every strength and fold.

    Z = X~ W + b + o        predictions, a column for each problem
    R = p_k loss'(y, Z)     derivatives times the row weights of the problem's training set
    G = X~' R               gradients, and the sums of R for the intercepts

Two products of the table with matrices, block of rows by block, and a pass over numbers that are
still in cache between them. Segments of rows go to threads and are added up in order, so the
result does not depend on how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy import sparse

from tikhon._kernels import Stop
from tikhon.data.dense import DenseDesign
from tikhon.data.design import Design
from tikhon.data.sparse import SparseDesign
from tikhon.engine import map_units
from tikhon.losses.base import Loss
from tikhon.typing import Float64Array, IntArray

__all__ = ["GridRows", "Hessian", "weigh"]

SEGMENTS = 8
"""Parts of the rows that threads take: few, since each has gradients of its own."""

CACHE_ENTRIES = 2**17
"""Predictions of a block: they stay in cache from one product to the next."""


@dataclass(frozen=True, eq=False)
class GridRows:
    """The rows of a table, shifted and scaled, for problems with one prediction each.

    Attributes
    ----------
    design : Design
    shift, unit : ndarray of shape (d,)
    loss : Loss
    y : ndarray of shape (n,)
    offset : ndarray of shape (n,), or None
    stop : Stop
    """

    design: Design
    shift: Float64Array
    unit: Float64Array
    loss: Loss
    y: Float64Array
    offset: Float64Array | None
    stop: Stop

    def rows(self, index: IntArray) -> GridRows:
        """Return some of the rows."""
        offset = None if self.offset is None else self.offset[index]
        return GridRows(
            self.design.rows(index), self.shift, self.unit, self.loss, self.y[index], offset,
            self.stop,
        )  # fmt: skip

    def gradients(
        self, W: Float64Array, b: Float64Array, P: Float64Array, owner: IntArray
    ) -> tuple[Float64Array, Float64Array]:
        """Return ``X~' R`` (d, k) and the sums of R (k,) of problems (d, k), (k,).

        Parameters
        ----------
        P : ndarray of shape (n, sets)
            Row weights of the training sets.
        owner : ndarray of shape (k,)
            The set of each problem, ascending.
        """
        V = W / self.unit[:, None]
        parts = map_units(
            lambda rows: self._segment(rows, V, b, P, owner), self._segments, stop=self.stop
        )
        G, sums = parts[0]
        for more, extra in parts[1:]:
            G += more
            sums += extra
        G -= np.outer(self.shift, sums) if not self._early else 0.0
        G /= self.unit[:, None]
        return G, sums

    @cached_property
    def _segments(self) -> list[slice]:
        edges = np.arange(SEGMENTS + 1) * len(self.y) // SEGMENTS
        return [slice(a, b) for a, b in pairwise(edges) if b > a]

    @cached_property
    def _early(self) -> bool:
        """Whether the shift is subtracted from the blocks, not from the products."""
        if self.design.is_sparse:
            return False
        return not self.design.direct or bool(np.any(np.abs(self.shift) > 10.0 * self.unit))

    @cached_property
    def _rows(self) -> sparse.csr_array | None:
        return self.design.X.tocsr() if isinstance(self.design, SparseDesign) else None

    def _blocks(self, rows: slice, step: int) -> Iterator[tuple[slice, object]]:
        """Hand out blocks of a segment, as anything that products can be taken with."""
        X = self._rows
        for start in range(rows.start, rows.stop, step):
            part = slice(start, min(start + step, rows.stop))
            if X is not None:
                yield part, X[part]
                continue
            assert isinstance(self.design, DenseDesign)
            block = self.design.X[part]
            if self._early:
                block = np.subtract(block, self.shift, dtype=np.float64)
            yield part, block

    def _segment(
        self, rows: slice, V: Float64Array, b: Float64Array, P: Float64Array, owner: IntArray
    ) -> tuple[Float64Array, Float64Array]:
        d, k = V.shape
        step = max(64, min(8192, CACHE_ENTRIES // max(k, d // 8)))
        constant = b if self._early else b - self.shift @ V
        bounds = np.searchsorted(owner, np.arange(P.shape[1] + 1))
        G, sums = np.zeros((d, k)), np.zeros(k)
        for part, block in self._blocks(rows, step):
            if self.stop.now:
                break
            Z = np.asarray(block @ V)  # type: ignore[operator]
            Z += constant
            if self.offset is not None:
                Z += self.offset[part, None]
            R: Float64Array = np.asarray(self.loss.derivative(self.y[part, None], Z), np.float64)
            weigh(R, P[part], bounds)
            sums += R.sum(axis=0)
            G += np.asarray(block.T @ R)  # type: ignore[attr-defined]
        return G, sums

    def predict(self, w: Float64Array, b: float) -> Float64Array:
        """Return the predictions (n,) of one problem."""
        v = w / self.unit
        z = self.design.predict(v, self.shift if self._early else None) + b
        if not self._early:
            z -= self.shift @ v
        return z if self.offset is None else np.asarray(z + self.offset)

    def change(self, move: Float64Array, shift: float) -> Float64Array:
        """Return what a step of coefficients and intercept adds to the predictions (n,)."""
        z = self.predict(move, shift)
        return z if self.offset is None else np.asarray(z - self.offset)

    def correlate(self, r: Float64Array) -> Float64Array:
        """Return ``X~' r`` for weighted derivatives r (n,)."""
        if self._early:
            return np.asarray(self.design.correlate(r, self.shift) / self.unit)
        return np.asarray((self.design.correlate(r) - self.shift * r.sum()) / self.unit)

    def hessian(self, h: Float64Array, *, intercept: bool) -> Hessian:
        """Return second moments with row weights h, about h-weighted means for an intercept."""
        total = float(h.sum())
        if self._rows is not None:
            X = self._rows
            K = np.asarray((X.T @ (X * h[:, None])).todense(), dtype=np.float64)
            raw = np.asarray(X.T @ h)
            lean = raw - total * self.shift
            K -= np.outer(raw, self.shift) + np.outer(self.shift, lean)
        else:
            root = np.sqrt(h)
            parts = map_units(lambda rows: self._moments(rows, h, root), self._segments)
            K, lean = parts[0]
            for more, extra in parts[1:]:
                K += more
                lean += extra
        if intercept and total > 0:
            K -= np.outer(lean, lean / total)
        K /= self.unit
        K /= self.unit[:, None]
        return Hessian(K, lean / self.unit, total)

    def _moments(
        self, rows: slice, h: Float64Array, root: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        d = self.design.shape[1]
        K, lean = np.zeros((d, d)), np.zeros(d)
        step = max(256, min(8192, 2**19 // max(d, 1)))
        assert isinstance(self.design, DenseDesign)
        for start in range(rows.start, rows.stop, step):
            part = slice(start, min(start + step, rows.stop))
            A = np.subtract(self.design.X[part], self.shift, dtype=np.float64)
            lean += h[part] @ A
            A *= root[part, None]
            K += A.T @ A
        return K, lean


@dataclass(frozen=True, slots=True, eq=False)
class Hessian:
    """Weighted second moments (centred for the intercept), first moments, and total weight."""

    K: Float64Array
    lean: Float64Array
    total: float


def weigh(R: Float64Array, P: Float64Array, bounds: IntArray) -> None:
    """Multiply the problems of each training set by its row weights; 0 wins over infinity."""
    for k in range(len(bounds) - 1):
        part = R[:, bounds[k] : bounds[k + 1]]
        if part.shape[1]:
            part *= P[:, [k]]
    if not np.isfinite(R).all():
        R[np.isnan(R)] = 0.0
