"""Penalised least squares for tall tables: one pass of moments serves all folds and strengths.

The rows are read once, into moments of each cell of rows. A training set is a sum of cells, its
path is solved from its moments alone, and the held-out squared error of all its strengths follows
from the held-out cells' moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.moments import Centred
from tikhon.engine import map_units
from tikhon.penalties.base import Penalty
from tikhon.problem.squared import Frame, NullModel
from tikhon.solvers.gram_solution import GramSolution, GramSolver
from tikhon.solvers.gram_solvers import gram_solver, within_bounds
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.squared_machine import SquaredMachine
from tikhon.solvers.tall_table import TallTable
from tikhon.solvers.training import Training, summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["PenalisedTall"]


class PenalisedTall(SquaredMachine):
    """Per-cell moments of one table, and a penalty."""

    name = "moments and active sets"

    def __init__(self, table: TallTable, penalty: Penalty, tol: float, stop: Stop) -> None:
        self.table = table
        self.penalty = penalty
        self.tol = tol
        self.stop = stop

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        return self.table.training

    @property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        return self.table.frame

    def with_penalty(self, penalty: Penalty) -> PenalisedTall:
        """Return the same moments under another penalty."""
        return PenalisedTall(self.table, penalty, self.tol, self.stop)

    @cached_property
    def _all(self) -> _ScaledMoments:
        return _ScaledMoments.of(self, self.table.everything)

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        own = self._all
        penalty = self.penalty.on_scaled(own.scale)
        W = np.zeros_like(own.C)
        free = np.flatnonzero(penalty.unpenalised(len(W)))
        if len(free):
            W[free] = np.linalg.lstsq(own.K[np.ix_(free, free)], own.C[free], rcond=None)[0]
        g = (own.K @ W - own.C) / own.inner[:, None]
        return penalty.lam_max(g[:, 0] if g.shape[1] == 1 else g)

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set."""
        return map_units(
            lambda train: _ScaledMoments.of(self, self.table.centred(train)).fit(lams),
            trains,
            stop=self.stop,
        )

    def null(self) -> NullModel:
        """Return the null model's figures, which the moments know."""
        own = self._all
        slope = float(np.linalg.norm(own.C / own.inner[:, None]))
        return NullModel(float(own.centred.yy.sum()) / 2.0, slope)

    def corrected(self, lam: float, V: Float64Array, correlation: Float64Array) -> Float64Array:
        """Solve one strength again, the moments mended by a correlation seen on the rows.

        `V` (d, targets) are coefficients on the user's scale and `correlation` that of their
        residuals with the columns of the frame: at V the mended moments give exactly that.
        """
        own = self._all
        W = V * own.unit[:, None]
        mended = correlation * own.inner[:, None] + own.K @ W
        again = own.solve(np.array([lam]), mended, W)
        found = again.coefs[0] / own.unit[:, None]
        return within_bounds(self.penalty, len(found), np.arange(len(found)), found)


@dataclass(frozen=True, slots=True, eq=False)
class _ScaledMoments:
    """One training set's moments, scaled for the solver.

    `unit` is what columns are divided by for the solver, `scale` what they are for the penalty,
    and `inner` the second over the first.
    """

    machine: PenalisedTall
    centred: Centred
    unit: Float64Array
    scale: Float64Array
    inner: Float64Array
    K: Float64Array
    C: Float64Array
    solver: GramSolver

    @classmethod
    def of(cls, machine: PenalisedTall, centred: Centred) -> _ScaledMoments:
        scale = machine.table.scale(centred)
        solver = gram_solver(machine.penalty.on_scaled(scale), len(scale), machine.tol)
        unit = machine.table.spread(centred) if solver.unit else scale
        K = np.triu(centred.xx / unit / unit[:, None])
        K += np.triu(K, 1).T
        C = centred.xy / unit[:, None]
        return cls(machine, centred, unit, scale, scale / unit, K, C, solver)

    def solve(self, lams: Float64Array, C: Float64Array, start: Float64Array) -> GramSolution:
        """Solve a grid of strengths for correlations C, on the solver's scale."""
        columns = np.arange(len(self.unit))
        return self.solver.solve(self.K, C, columns, self.inner, lams, start, self.machine.stop)

    def fit(self, lams: Float64Array) -> TallPathFit:
        """Solve a grid of strengths from nothing."""
        found = self.solve(lams, self.C, np.zeros_like(self.C))
        table, columns = self.machine.table, np.arange(len(self.unit))
        V = within_bounds(
            self.machine.penalty, len(columns), columns, found.coefs / self.unit[:, None]
        )
        b = self.centred.y_mean - np.einsum("j,ljt->lt", self.centred.x_mean, V)
        b += table.y_shift - np.einsum("j,ljt->lt", table.x_shift, V)
        return TallPathFit(table.training, lams, columns, V, b, found.solved, table, self.centred)


@dataclass(frozen=True, slots=True, eq=False)
class TallPathFit(PathFit):
    """Solutions whose held-out errors come from moments."""

    table: TallTable
    centred: Centred

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at some strengths of the grid: (L, rows, targets)."""
        return self.table.predict(rows, *self._about_the_shift(lams))

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        error = self.table.squared_error(test, *self._about_the_shift(lams))
        return summed_squares(self.training, self, test, lams) if error is None else error

    def _about_the_shift(self, lams: Float64Array) -> tuple[Float64Array, Float64Array]:
        V = self.coefs[self._positions(lams)]
        return V, self.centred.y_mean - np.einsum("j,ljt->lt", self.centred.x_mean, V)
