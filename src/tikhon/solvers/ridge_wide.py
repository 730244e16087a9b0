"""Ridge for wide tables: one kernel matrix of the rows serves all folds and strengths.

With p the row weights (summing to 1) and A = diag(sqrt p) (X - mean) / scale, ridge is

    (A A' + lam I) a = sqrt(p) (y - mean y),        w = A' a / scale.

The kernel A A' of every training set is a submatrix of one kernel of all rows, centred by small
corrections. When the columns are standardised, the scale belongs to the training set, so its
kernel costs a product of its own; when they are not, leaving the rows S out of a fit obeys

    y_S - prediction_S = G_SS^-1 (G y)_S,        G = (A A' + lam I)^-1 on the centred space,

at the training set's total strength, so K folds cost one eigendecomposition and K small systems.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.design import BLOCK_BYTES
from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.squared import Frame
from tikhon.solvers.row_kernel import cell_column_sums, row_kernel
from tikhon.solvers.spectrum import Eigenspace, spectrum_of_kernel
from tikhon.solvers.training import Training, summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["WideMachine"]


class WideMachine:
    """The kernel matrix of one table, or what is needed to form one per training set."""

    name = "kernel matrix and eigendecomposition"

    def __init__(self, training: Training) -> None:
        self.training = training
        self.x_shift, self.y_shift = training.shift()
        n = training.design.shape[0]
        self.weights = np.ones(n) if training.s is None else training.s
        self.sums = None
        if training.standardize:
            self.sums = cell_column_sums(training.design, training.s, training.cells, self.x_shift)

    @property
    def small_folds(self) -> bool:
        """Not where every fold forms a kernel of its own."""
        return not self.training.standardize

    @cached_property
    def kernel(self) -> Float64Array:
        """Inner products of the shifted rows, not scaled: shared by all training sets."""
        return row_kernel(self.training.design, self.x_shift)

    def mean_and_scale(self, members: BoolArray) -> tuple[Float64Array, Float64Array]:
        """Column means (from the shift) and scales of a union of cells."""
        design = self.training.design
        d = design.shape[1]
        rows = self.training.cells.where(members)
        weight = float(self.weights[rows].sum())
        if self.sums is None:
            if not self.training.intercept or (
                self.training.s is None and len(rows) == len(self.weights)
            ):
                return np.zeros(d), np.ones(d)  # the shift is the mean
            p = np.zeros(len(self.weights))
            p[rows] = self.weights[rows] / weight
            return design.correlate(p, self.x_shift), np.ones(d)
        first, second = (part[members].sum(axis=0) / weight for part in self.sums)
        mean = first if self.training.intercept else np.zeros(d)
        variance = np.maximum(second - mean**2, 0.0)
        scan = design.scan
        varies = (variance > 0) & (scan.minimum < scan.maximum)
        return mean, np.where(varies, np.sqrt(variance), 1.0)

    def kernel_for(self, scale: Float64Array) -> Float64Array:
        """Inner products of shifted rows with columns divided by `scale`."""
        if np.all(scale == 1.0):
            return self.kernel
        return row_kernel(self.training.design, self.x_shift, 1.0 / scale)

    @cached_property
    def _solution(self) -> _Centred:
        return _Centred.of(self, self.training.everything())

    @cached_property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        every = self.training.everything()
        mean, scale = self.mean_and_scale(every)
        solution = self._solution
        return self.training.frame(
            self.x_shift + mean, scale, self.y_shift + solution.y_mean, solution.weight
        )

    @property
    def spectrum(self) -> Eigenspace:
        """Spectrum of the fit to all rows in use."""
        return self._solution.spectrum

    def fold(self, train: BoolArray, test: BoolArray) -> WideFold | LeftOut:
        """Fit the rows of the cells in `train`, to be asked about those in `test` only."""
        complement = np.array_equal(train, ~test)
        if complement and not self.training.standardize:
            return LeftOut(self, self._solution, train, test)
        return WideFold(self, _Centred.of(self, train))

    def left_out_errors(self, lams: Float64Array) -> Iterator[tuple[IntArray, Float64Array]]:
        """Hand out rows and the errors (L, rows, targets) of their predictions by all others.

        The one-row case of ``G_SS^-1 (G y)_S``: numerator and denominator shrink together with
        the strength, so nothing cancels where the fit interpolates.
        """
        own = self._solution
        p = own.root**2
        projected = own.U.T @ own.target
        squares = own.U**2
        error = np.empty((len(lams), len(own.rows), self.training.y.shape[1]))
        for k, lam in enumerate(lams):
            kept = lam * (1.0 - p)
            for value in np.unique(kept):
                same = kept == value
                inverse = 1.0 / (own.spectrum.e + max(value, np.finfo(np.float64).tiny))
                top = own.U[same] @ (inverse[:, None] * projected)
                bottom = squares[same] @ inverse
                error[k, same] = top / (bottom * own.root[same])[:, None]
        yield own.rows, error


@dataclass(frozen=True, slots=True, eq=False)
class _Centred:
    """A training set's centred, weighted kernel, decomposed.

    `centring` and `level` turn raw inner products with the training rows into centred ones.
    """

    rows: IntArray
    root: Float64Array
    y_mean: Float64Array
    weight: float
    target: Float64Array
    spectrum: Eigenspace
    U: Float64Array
    raw: Float64Array
    centring: Float64Array
    level: float

    @classmethod
    def of(cls, machine: WideMachine, members: BoolArray) -> _Centred:
        training = machine.training
        rows = training.cells.where(members)
        mean, scale = machine.mean_and_scale(members)
        raw = machine.kernel_for(scale)
        weight = float(machine.weights[rows].sum())
        p = machine.weights[rows] / weight
        root = np.sqrt(p)
        y = training.y[rows] - machine.y_shift
        K = raw[np.ix_(rows, rows)]
        if training.intercept:
            centring = K @ p
            level = float(p @ centring)
            K -= centring[:, None]
            K -= centring
            K += level
            y_mean = p @ y
        else:
            centring, level, y_mean = np.zeros(len(rows)), 0.0, np.zeros(y.shape[1])
        K *= root
        K *= root[:, None]
        target = root[:, None] * (y - y_mean)
        view = StandardizedDesign(training.design, machine.x_shift + mean, scale)

        def lift(A: Float64Array) -> Float64Array:
            weighted = np.zeros((training.design.shape[0], A.shape[1]))
            weighted[rows] = root[:, None] * A
            return view.correlate(weighted)

        def drop(W: Float64Array) -> Float64Array:
            return np.asarray(root[:, None] * view.predict(W)[rows])

        spectrum, U = spectrum_of_kernel(
            K, target, weight, lift, drop, null=root if training.intercept else None
        )
        return cls(rows, root, y_mean, weight, target, spectrum, U, raw, centring, level)


@dataclass(frozen=True, slots=True, eq=False)
class WideFold:
    """One training set, fitted through its own kernel."""

    machine: WideMachine
    solution: _Centred

    @property
    def spectrum(self) -> Eigenspace:
        """The training set's spectrum."""
        return self.solution.spectrum

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at each strength: (L, rows, targets)."""
        own = self.solution
        K = own.raw[np.ix_(rows, own.rows)]
        if self.machine.training.intercept:
            p = own.root**2
            K = K - (K @ p)[:, None] - own.centring + own.level
        projected = (K * own.root) @ own.U
        duals = np.stack([_dual(own, lam) for lam in lams])
        return np.asarray(projected @ duals + (own.y_mean + self.machine.y_shift))

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        return summed_squares(self.machine.training, self, test, lams)


def _dual(own: _Centred, lam: float) -> Float64Array:
    """Spectral coordinates of the dual coefficients, ``(e + lam)^-1 U' target``."""
    e = own.spectrum.e
    bottom = e + lam
    inverse = np.divide(1.0, bottom, out=np.zeros_like(e), where=(e > 0) | (lam > 0))
    return np.asarray(inverse[:, None] * (own.U.T @ own.target))


@dataclass(frozen=True, slots=True, eq=False)
class LeftOut:
    """The fit to all rows but those in `test`, by leaving them out of the fit to all."""

    machine: WideMachine
    solution: _Centred
    train: BoolArray
    test: BoolArray

    @property
    def spectrum(self) -> Eigenspace:
        """The training set's own spectrum (not shared: decomposed when asked for)."""
        return _Centred.of(self.machine, self.train).spectrum

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for rows that were left out, at each strength: (L, rows, targets)."""
        own, training = self.solution, self.machine.training
        if np.any(lams == 0):  # G exists for positive strengths only
            return WideFold(self.machine, _Centred.of(self.machine, self.train)).predict(rows, lams)
        left = training.cells.where(self.test)
        where = np.searchsorted(own.rows, left)
        kept = 1.0 - float(self.machine.weights[left].sum()) / own.weight
        UL = own.U[where]
        projected = own.U.T @ own.target
        wanted = np.searchsorted(left, rows)
        result = np.empty((len(lams), len(rows), training.y.shape[1]))
        at_once = max(1, BLOCK_BYTES // (32 * UL.size))
        for start in range(0, len(lams), at_once):
            part = slice(start, start + at_once)
            weighted = UL / (own.spectrum.e + kept * lams[part, None])[:, None, :]
            stacked = weighted.reshape(-1, UL.shape[1])  # one product for all strengths
            G = (stacked @ UL.T).reshape(-1, len(left), len(left))
            right = (stacked @ projected).reshape(len(G), len(left), -1)
            error = np.linalg.solve(G, right)
            result[part] = training.y[rows] - (error / own.root[where][:, None])[:, wanted]
        return result

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        return summed_squares(self.machine.training, self, test, lams)
