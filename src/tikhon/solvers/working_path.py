"""The path of one training set on a working set of columns that grows.

`BlockPath` is the bookkeeping of a block of strengths, whatever the loss: which columns take part,
which want to enter, what is solved. `WorkingPath` is least squares.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.engine import map_units
from tikhon.penalties.base import Penalty
from tikhon.solvers.gram_solvers import gram_solver
from tikhon.solvers.wide_table import WideTable
from tikhon.solvers.working_sets import ColumnStore, TrainingSet
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["BlockPath", "WorkingPath", "padded"]

SPARE = 50
"""Columns a working set takes beyond what the last block used, at least."""

MOST_NEW = 1000
"""Columns that join at a time, beyond half the support."""


class BlockPath(ABC):
    """One training set's solutions so far, and the block of strengths it is at.

    Coefficients are on the solver's scale; `inner` times these are those the penalty sees.

    Attributes
    ----------
    p : ndarray of shape (n,)
        Row weights summing to 1, 0 for rows that are held out.
    columns : ndarray of shape (m,)
        The working set, in the order in which columns came; `holds` says it as a mask.
    mean, unit, inner : ndarray of shape (d,)
    """

    p: Float64Array
    mean: Float64Array
    unit: Float64Array
    inner: Float64Array
    columns: IntArray
    holds: BoolArray
    penalty: Penalty
    slack: float

    def start(self, outputs: int) -> None:
        """Begin with nothing solved."""
        d = len(self.mean)
        self.null_gradient = 0.0
        self._tried: Float64Array = np.empty((0, d))  # entry strengths where it last looked
        self._solved: list[Float64Array] = []
        self._last: Float64Array = np.zeros((0, outputs))
        self._block = np.empty(0)
        self._open = 0
        self._coefs = np.empty((0, 0, outputs))
        self._complete = True

    @abstractmethod
    def extend(self, columns: IntArray) -> None:
        """Add columns to the working set."""

    @abstractmethod
    def latest_residual(self) -> Float64Array:
        """Return minus the loss's derivative at the latest coefficients: (n, targets)."""

    @abstractmethod
    def solve(self, stop: Stop) -> None:
        """Solve the open strengths of the block on the working set."""

    @staticmethod
    def solve_all(sets: Sequence[Any], stop: Stop) -> None:
        """Solve those of several training sets; here, each on a thread."""
        map_units(lambda own: own.solve(stop), sets, stop=stop)

    @abstractmethod
    def open_residuals(self) -> Float64Array:
        """Return minus the derivatives of the open strengths: (n, strengths times targets)."""

    @property
    def outputs(self) -> int:
        """Columns of a residual: targets, or classes."""
        return int(self._last.shape[1])

    # What the table shows

    def see(self, G: Float64Array, sums: Float64Array, shift: Float64Array) -> None:
        """Turn products of the table with residuals, (d, k targets), into entry strengths."""
        g = np.ascontiguousarray(G.T)
        g -= np.multiply.outer(sums, shift + self.mean)
        g /= self.unit * self.inner
        if not (self._solved or len(self._block) or self._last.any()):
            self.null_gradient = float(np.linalg.norm(g))
        targets = self._last.shape[1]
        parts = (g[k : k + targets].T for k in range(0, len(g), targets))
        self._tried = np.stack([self._entries(part) for part in parts])

    def _entries(self, g: Float64Array) -> Float64Array:
        entries = self.penalty.entry_strengths(-(g[:, 0] if g.shape[1] == 1 else g))
        return np.asarray(entries, dtype=np.float64)

    def lam_max(self) -> float:
        """Return the least strength at which no held-out column enters the latest solution."""
        entries = self._tried[-1]
        return float(entries.max(initial=0.0))

    @property
    def support_size(self) -> int:
        """How many coefficients of the latest solution are not 0."""
        return int(np.count_nonzero(self._last))

    # A block of strengths

    def begin(self, lams: Float64Array) -> None:
        """Start a block of strengths with the columns that are likely to matter."""
        self._block, self._open = lams, 0
        self._coefs = np.zeros((len(lams), len(self.columns), self._last.shape[1]))
        entries = np.where(self.holds, -np.inf, self._tried[-1])
        used = int(np.count_nonzero(self._last))
        spare = min(SPARE + used // 2, len(entries) - 1)
        least = np.partition(entries, len(entries) - 1 - spare)[len(entries) - 1 - spare]
        self.extend(_largest(entries, max(least, 0.0)))

    def admit(self) -> bool:
        """Take in the columns that want to enter; return whether there are any.

        The block is then open from the first strength that a new column concerns.
        """
        lams = self._block[self._open :]
        strengths = np.maximum(lams, np.finfo(np.float64).tiny)[:, None]
        with np.errstate(over="ignore"):
            excess = np.where(self.holds, 0.0, self._tried / strengths)
        wants = excess > 1.0 + self.slack
        concerned = np.flatnonzero(wants.any(axis=1))
        if not len(concerned):
            return False
        self._open += int(concerned[0])
        most = excess.max(axis=0)
        used = int(np.count_nonzero(self._coefs[-1]))
        worst = np.sort(most[most > 1.0 + self.slack])[::-1]
        least = worst[min(MOST_NEW + used // 2, len(worst) - 1)]
        self.extend(_largest(most, least))
        return True

    def end(self) -> None:
        """Close the block."""
        if self._complete:
            self._solved.extend(self._coefs)
        self._last = self._coefs[-1]

    # Solutions found elsewhere

    @property
    def latest(self) -> Float64Array:
        """The latest coefficients, of the columns that had joined by then."""
        return self._last

    def wanting(self, lam: float) -> IntArray:
        """Return the columns that want to enter at a strength, as far as was last seen."""
        return np.flatnonzero(self._tried[-1] > lam)

    def keep(self, coefs: Float64Array) -> None:
        """Take a solution (m, targets) of the next strength."""
        self._solved.append(coefs)
        self._last = coefs

    def leave(self, coefs: Float64Array) -> None:
        """Take what was reached of the next strength when the time was up."""
        self._last = coefs

    def path(self, skipped: int, length: int) -> tuple[Float64Array, int]:
        """Return solutions (length, m, targets) after the first `skipped`, and how many are solved.

        Where the time was up, the last iterate stands in for the others.
        """
        m = len(self.columns)
        kept = self._solved[skipped : skipped + length]
        coefs = np.zeros((length, m, self._last.shape[1]))
        for k, solution in enumerate(kept):
            coefs[k, : len(solution)] = solution
        coefs[len(kept) :] = padded(self._last, m)
        return coefs, len(kept)


class WorkingPath(TrainingSet, BlockPath):
    """Least squares on a working set, from its second moments."""

    def __init__(
        self,
        table: WideTable,
        store: ColumnStore,
        penalty: Penalty,
        members: BoolArray,
        tol: float,
    ) -> None:
        own = table.columns(members)
        d = len(own.mean)
        self.penalty = penalty.on_scaled(own.scale)
        self.solver = gram_solver(self.penalty, d, tol)
        unit = own.spread if self.solver.unit else own.scale
        super().__init__(store, own.p, table.training.y, own.y_mean, own.mean, unit)
        self.inner = own.scale / unit
        self.slack = 0.05 * tol
        self.null_objective = float(np.einsum("i,it,it->", self.p, self.y, self.y)) / 2.0
        self.start(self.y.shape[1])

    def latest_residual(self) -> Float64Array:
        """Return the residuals of the latest coefficients: (n, targets)."""
        return self.residuals(self._last[None])[:, 0]

    def fit_unpenalised(self) -> bool:
        """Fit the columns without a penalty, if there are any; return whether there are."""
        free = np.flatnonzero(self.penalty.unpenalised(len(self.unit)))
        if not len(free):
            return False
        self.extend(free)
        self._last = np.asarray(np.linalg.lstsq(self.moments, self.C, rcond=None)[0], np.float64)
        return True

    def solve(self, stop: Stop) -> None:
        """Solve the open strengths of the block on the working set."""
        start = self._coefs[self._open - 1] if self._open else self._last
        found = self.solver.solve(
            self.moments,
            self.C,
            self.columns,
            self.inner[self.columns],
            self._block[self._open :],
            padded(start, len(self.columns)),
            stop,
        )
        done = padded(self._coefs[: self._open], len(self.columns))
        self._coefs = np.concatenate([done, found.coefs])
        self._complete = found.solved == len(self._block) - self._open

    def open_residuals(self) -> Float64Array:
        """Return the residuals of the open strengths: (n, strengths times targets)."""
        R = self.residuals(self._coefs[self._open :])
        return R.reshape(len(R), -1)

    def corrected(
        self, lam: float, W: Float64Array, correlation: Float64Array, stop: Stop
    ) -> Float64Array:
        """Solve one strength again, the moments mended by a correlation seen on the rows.

        `W` (d, targets) are on the solver's scale and `correlation` on that of the penalty.
        Returns the coefficients (m, targets) of the working set.
        """
        entries = self._entries(correlation)
        self.extend(np.flatnonzero((entries > lam) | np.any(W != 0, axis=1)))
        held = W[self.columns]
        inner = self.inner[self.columns]
        mended = correlation[self.columns] * inner[:, None] + self.moments @ held
        again = self.solver.solve(
            self.moments, mended, self.columns, inner, np.array([lam]), held, stop
        )
        return np.asarray(again.coefs[0])


def _largest(entries: Float64Array, least: float) -> IntArray:
    """Columns at or above a strength, largest first; ties go together, so groups stay whole."""
    chosen = np.flatnonzero((entries >= least) & (entries > 0))
    return chosen[np.argsort(-entries[chosen], kind="stable")]


def padded(coefs: Float64Array, m: int) -> Float64Array:
    """Coefficients (..., k, targets) with zeros for columns that joined later."""
    shape = (*coefs.shape[:-2], m - coefs.shape[-2], coefs.shape[-1])
    return np.concatenate([coefs, np.zeros(shape)], axis=-2)
