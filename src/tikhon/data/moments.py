"""First and second moments of rows and targets, relative to one global shift.

For the rows of a cell, with weights s, shift c and targets y shifted by their own constant:

    weight = sum s          x = sum s (x_i - c)       y  = sum s y_i
    xx = sum s (x_i-c)(x_i-c)'    xy = sum s (x_i-c) y_i'    yy = sum s y_i^2

Because every cell uses the same shift, moments of a union of cells are sums. The shift is what
keeps the digits: raw second moments at mean/sd = 1e6 leave three correct digits, shifted ones
fifteen. Everything the squared loss needs follows from moments: fits, folds, held-out errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Cells", "Centred", "Moments", "accumulate", "total"]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A partition of (some of) the rows: `order[bounds[c]:bounds[c + 1]]` are the rows of cell c.

    Cross-validation schemes are unions of cells, so one pass over cells serves every fold.
    """

    order: IntArray
    bounds: IntArray

    @classmethod
    def single(cls, n: int) -> Cells:
        """All rows in one cell."""
        return cls(np.arange(n, dtype=np.int64), np.array([0, n], dtype=np.int64))

    @classmethod
    def of(cls, labels: IntArray) -> Cells:
        """Cells from one label 0, 1, ... per row; rows labelled -1 belong to none."""
        order = np.argsort(labels, kind="stable").astype(np.int64)
        count = int(labels.max(initial=-1)) + 1
        bounds = np.searchsorted(labels[order], np.arange(count + 1)).astype(np.int64)
        return cls(order, bounds)

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def rows(self, cell: int) -> IntArray:
        """Row numbers of one cell, ascending."""
        return self.order[self.bounds[cell] : self.bounds[cell + 1]]

    def only(self, cell: int) -> Cells:
        """Return one of the cells alone."""
        rows = self.rows(cell)
        return Cells(rows, np.array([0, len(rows)], dtype=np.int64))

    def where(self, members: BoolArray) -> IntArray:
        """Row numbers of a union of cells, ascending."""
        parts = [self.rows(int(c)) for c in np.flatnonzero(members)]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Centred:
    """Moments about the weighted means, divided by the total weight; `mean` is not shifted back."""

    weight: float
    x_mean: Float64Array
    y_mean: Float64Array
    xx: Float64Array
    xy: Float64Array
    yy: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Weighted sums over a set of rows."""

    weight: float
    x: Float64Array
    y: Float64Array
    xx: Float64Array
    xy: Float64Array
    yy: Float64Array

    @classmethod
    def zero(cls, n_features: int, n_targets: int) -> Moments:
        """Return the moments of no rows."""
        return cls(
            0.0,
            np.zeros(n_features),
            np.zeros(n_targets),
            np.zeros((n_features, n_features)),
            np.zeros((n_features, n_targets)),
            np.zeros(n_targets),
        )

    def __add__(self, other: Moments) -> Moments:
        return Moments(
            self.weight + other.weight,
            self.x + other.x,
            self.y + other.y,
            self.xx + other.xx,
            self.xy + other.xy,
            self.yy + other.yy,
        )

    def centred(self, *, intercept: bool = True) -> Centred:
        """Return second moments about the means (about the shift when there is no intercept)."""
        n = self.weight
        if not intercept:
            zero_x, zero_y = np.zeros_like(self.x), np.zeros_like(self.y)
            return Centred(n, zero_x, zero_y, self.xx / n, self.xy / n, self.yy / n)
        x_mean, y_mean = self.x / n, self.y / n
        xx = self.xx / n
        xx -= np.outer(x_mean, x_mean)
        xy = self.xy / n - np.outer(x_mean, y_mean)
        return Centred(n, x_mean, y_mean, xx, xy, self.yy / n - y_mean**2)

    def squared_error(self, W: Float64Array, b: Float64Array) -> Float64Array:
        """Return ``sum s (y - (x - shift) . w - b)^2`` for each column of W, target by target.

        W is (k, d, targets) and b (k, targets); the result is (k, targets). The sum is a small
        difference of large terms when the fit is nearly perfect: callers check `yy` against it.
        """
        k, _, targets = W.shape
        error = np.empty((k, targets))
        for t in range(targets):
            V = W[:, :, t].T
            quadratic = np.einsum("dk,dk->k", V, self.xx @ V)
            linear = V.T @ self.xy[:, t]
            offset = V.T @ self.x
            error[:, t] = (
                self.yy[t]
                - 2.0 * (linear + b[:, t] * self.y[t])
                + quadratic
                + 2.0 * b[:, t] * offset
                + self.weight * b[:, t] ** 2
            )
        return error


def accumulate(into: Moments, Z: Float64Array, y: Float64Array, s: Float64Array | None) -> Moments:
    """Add a block to moments: Z and y hold rows already shifted and multiplied by sqrt(s).

    `into.xx` is updated in place by one symmetric rank-k product, which NumPy recognises. All
    products are NumPy's: SciPy brings a second BLAS with threads of its own, and where calls to
    the two take turns, the idle threads of the one keep the other from the cores, at several times
    the price; nor would SciPy let go of the interpreter, so that cells could be done side by side.
    """
    root = None if s is None else np.sqrt(s)
    x_sum = Z.sum(axis=0) if root is None else root @ Z
    y_sum = y.sum(axis=0) if root is None else root @ y
    weight = float(len(Z)) if s is None else float(s.sum())
    xx = into.xx
    xx += Z.T @ Z
    return Moments(
        into.weight + weight,
        into.x + x_sum,
        into.y + y_sum,
        xx,
        into.xy + Z.T @ y,
        into.yy + np.einsum("it,it->t", y, y),
    )


def total(moments: list[Moments], members: BoolArray) -> Moments:
    """Add up the moments of some of the cells."""
    chosen = [moment for moment, member in zip(moments, members, strict=True) if member]
    result = chosen[0]
    if len(chosen) == 1:
        return result
    result = result + chosen[1]
    for moment in chosen[2:]:  # in place from here on: `result` is ours
        np.add(result.xx, moment.xx, out=result.xx)
        result = Moments(
            result.weight + moment.weight,
            result.x + moment.x,
            result.y + moment.y,
            result.xx,
            result.xy + moment.xy,
            result.yy + moment.yy,
        )
    return result
