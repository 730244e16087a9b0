"""Penalised least squares on working sets: for wide tables, and for long ones with many columns.

Each training set solves its small problem on the moments of a working set of columns; blocks of
strengths are checked against all columns together, see `tikhon.solvers.working_blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tikhon._kernels import Stop
from tikhon.engine import map_units
from tikhon.penalties.base import Penalty
from tikhon.problem.squared import Frame, NullModel
from tikhon.solvers.gram_solvers import within_bounds
from tikhon.solvers.group_path import FIRMER, GroupPath
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.penalised_columns import PenalisedColumns
from tikhon.solvers.squared_machine import SquaredMachine
from tikhon.solvers.training import Training
from tikhon.solvers.wide_table import WideTable
from tikhon.solvers.working_blocks import Blocks, approach
from tikhon.solvers.working_path import WorkingPath
from tikhon.solvers.working_sets import ColumnStore
from tikhon.typing import BoolArray, Float64Array

__all__ = ["PenalisedWide"]

LARGEST = 2500
"""Nonzero coefficients beyond which a path goes on column by column."""

CROWDED = 0.2
"""Columns in groups, over rows, beyond which a path goes on by rows."""


class PenalisedWide(SquaredMachine):
    """A table whose columns join small problems as they are needed."""

    name = "working sets and active sets"

    def __init__(self, table: WideTable, penalty: Penalty, tol: float, stop: Stop) -> None:
        self.table = table
        self.penalty = penalty
        self.tol = tol
        self.stop = stop
        self._store = ColumnStore(table.training.design, table.shift)

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        return self.table.training

    @property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        return self.table.frame

    def with_penalty(self, penalty: Penalty) -> PenalisedWide:
        """Return the same table under another penalty."""
        return PenalisedWide(self.table, penalty, self.tol, self.stop)

    def _set(self, train: BoolArray) -> WorkingPath:
        return WorkingPath(self.table, self._store, self.penalty, train, self.tol)

    @cached_property
    def _everything(self) -> WorkingPath:
        own = self._set(self.training.everything())
        Blocks(self.table, self.stop).look([own], [own.latest_residual()])
        return own

    def null(self) -> NullModel:
        """Return the null model's figures."""
        own = self._everything
        return NullModel(own.null_objective, own.null_gradient)

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        own = self._everything
        if own.fit_unpenalised():
            Blocks(self.table, self.stop).look([own], [own.latest_residual()])
        return own.lam_max()

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set, all of them together."""
        sets = [self._set(train) for train in trains]
        for own in sets:
            own.fit_unpenalised()
        Blocks(self.table, self.stop).look(sets, [own.latest_residual() for own in sets])
        ahead = approach(max(own.lam_max() for own in sets), lams[0])
        grid = np.concatenate([ahead, lams])
        done = Blocks(self.table, self.stop).solve(
            sets, grid, until=lambda: self._crowded(sets) or self._too_large(sets)
        )
        if self._crowded(sets):
            self._go_on_by_rows(sets, grid[done:])
        elif self._too_large(sets):
            return PenalisedColumns(self.table, self.penalty, self.tol, self.stop).fits(
                trains, lams
            )
        return [self._path_fit(own, lams, len(ahead)) for own in sets]

    def _too_large(self, sets: Sequence[WorkingPath]) -> bool:
        """Whether columns are so many that sweeps over them are cheaper than their moments."""
        d = self.training.design.shape[1]
        form = self.penalty.coordinates(d)
        if form is None:
            return False
        rows = len(self.training.used())
        most = min(LARGEST, 1.5 * rows) if form.l2.any() else LARGEST
        return max(own.support_size for own in sets) > most

    def _crowded(self, sets: Sequence[WorkingPath]) -> bool:
        """Whether groups keep so many columns that the rows are the smaller side."""
        return self._by_rows and any(self._is_crowded(own.support_size) for own in sets)

    @cached_property
    def _by_rows(self) -> bool:
        """Whether the penalty is one of groups that can be solved by rows."""
        form = self.penalty.group_form(self.training.design.shape[1])
        if form is None or form.l2.any():
            return False
        return self.training.y.shape[1] == 1 or not form.l1.any()

    def _is_crowded(self, support: int) -> bool:
        return bool(support > CROWDED * self.training.y.shape[1] * len(self.training.used()))

    def _group_path(self, own: WorkingPath, tol: float) -> GroupPath:
        form = own.penalty.group_form(self.training.design.shape[1])
        assert form is not None
        return GroupPath(self.table, own, form, tol, self.stop)

    def _go_on_by_rows(self, sets: Sequence[WorkingPath], lams: Float64Array) -> None:
        def follow(own: WorkingPath) -> None:
            path = self._group_path(own, self.tol)
            path.start(own.latest)
            path.follow(lams)

        if len(lams):
            map_units(follow, sets, stop=self.stop)

    def _path_fit(self, own: WorkingPath, lams: Float64Array, skipped: int) -> PathFit:
        coefs, solved = own.path(skipped, len(lams))
        d = self.training.design.shape[1]
        V = coefs / own.unit[own.columns, None]
        V = within_bounds(self.penalty, d, own.columns, V)
        mean = self.table.shift + own.mean if self.training.intercept else np.zeros(d)
        b = own.y_mean - np.einsum("j,ljt->lt", mean[own.columns], V)
        return PathFit(self.training, lams, own.columns, V, b, solved)

    def corrected(self, lam: float, V: Float64Array, correlation: Float64Array) -> Float64Array:
        """Solve one strength again from coefficients V and the correlation seen at them."""
        own = self._everything
        if self._by_rows and self._is_crowded(int(np.count_nonzero(V))):
            scaled = V * own.unit[:, None]
            found = self._group_path(own, FIRMER * self.tol).corrected(lam, scaled)
            return found / own.unit[:, None]
        coefs = own.corrected(lam, V * own.unit[:, None], correlation, self.stop)
        found = np.zeros_like(V)
        found[own.columns] = coefs / own.unit[own.columns, None]
        return within_bounds(self.penalty, len(found), np.arange(len(found)), found)
