"""Smooth losses on working sets: proximal Newton steps, all training sets side by side.

For penalties that set coefficients to 0, and for any of coordinate or group form where columns are
few. Blocks of strengths are checked against all columns together, see
`tikhon.solvers.working_blocks`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tikhon._kernels import Stop
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.solvers.gram_solvers import within_bounds
from tikhon.solvers.multiclass_set import MulticlassSet
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.smooth import SmoothMachine
from tikhon.solvers.smooth_set import Rows, SmoothSet
from tikhon.solvers.wide_table import WideTable
from tikhon.solvers.working_blocks import Blocks, approach
from tikhon.solvers.working_sets import ColumnStore
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["SmoothWide", "side_by_side"]


class SmoothWide(SmoothMachine):
    """A table whose columns join small problems as they are needed."""

    name = "proximal Newton on working sets"

    def __init__(
        self, table: WideTable, loss: Loss, penalty: Penalty, tol: float, stop: Stop
    ) -> None:
        super().__init__(table, loss, penalty, tol, stop)
        self._store = ColumnStore(table.training.design, table.shift)

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set, all of them together."""
        starts = [self.start_of(train, -1 if k == 0 else k - 1) for k, train in enumerate(trains)]
        groups = 1 if self.loss.per_class else self.training.y.shape[1]
        solved = [self._target(t, trains, starts, lams) for t in range(groups)]
        return [side_by_side([target[k] for target in solved]) for k in range(len(trains))]

    def _target(
        self,
        target: int,
        trains: Sequence[BoolArray],
        starts: Sequence[Float64Array],
        lams: Float64Array,
    ) -> list[PathFit]:
        """Solve one target, or all classes of one."""
        sets = [
            self._set(target, train, start) for train, start in zip(trains, starts, strict=True)
        ]
        always = self._always()
        for own in sets:
            own.extend(always)
        blocks = Blocks(self.table, self.stop)
        blocks.look(sets, [own.latest_residual() for own in sets])
        ahead = approach(max(own.lam_max() for own in sets), float(lams[0]))
        if len(always):
            ahead = np.empty(0)
        blocks.solve(sets, np.concatenate([ahead, lams]))
        return [self._path_fit(own, lams, len(ahead)) for own in sets]

    def _set(self, target: int, train: BoolArray, start: Float64Array) -> SmoothSet:
        training, offset = self.training, self.training.offset
        if not self.loss.per_class:
            start = start[[target]]
            if offset is not None:
                offset = offset[:, [min(target, offset.shape[1] - 1)]]
        y = np.ascontiguousarray(training.y[:, target])
        rows = Rows(self.loss, y, offset, training.intercept, start)
        kind = MulticlassSet if self.loss.per_class else SmoothSet
        return kind(self._store, self.table.columns(train), rows, self.penalty, self.tol)

    def _always(self) -> IntArray:
        """Columns that nothing holds at 0."""
        d = self.training.design.shape[1]
        form = self.penalty.coordinates(d)
        return np.flatnonzero(self.penalty.unpenalised(d) if form is None else form.l1 == 0)

    def _path_fit(self, own: SmoothSet, lams: Float64Array, skipped: int) -> PathFit:
        coefs, solved = own.path(skipped, len(lams))
        intercepts = own.intercepts(skipped, len(lams))
        d = self.training.design.shape[1]
        V = within_bounds(self.penalty, d, own.columns, coefs / own.unit[own.columns, None])
        if self.training.intercept:
            mean = (self.table.shift + own.mean)[own.columns]
            intercepts = intercepts - np.einsum("j,ljt->lt", mean, V)
        return PathFit(self.training, lams, own.columns, V, intercepts, solved)


def side_by_side(fits: Sequence[PathFit]) -> PathFit:
    """One fit of several targets, from the fit of each."""
    if len(fits) == 1:
        return fits[0]
    first = fits[0]
    columns = np.unique(np.concatenate([fit.columns for fit in fits]))
    coefs = np.zeros((len(first.lams), len(columns), len(fits)))
    for t, fit in enumerate(fits):
        coefs[:, np.searchsorted(columns, fit.columns), t] = fit.coefs[:, :, 0]
    intercepts = np.column_stack([fit.intercepts[:, 0] for fit in fits])
    solved = min(fit.solved for fit in fits)
    return PathFit(first.training, first.lams, columns, coefs, intercepts, solved)
