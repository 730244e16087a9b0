"""Blocks of strengths on working sets, all training sets side by side.

For a block of strengths each training set solves its small problem, on a working set of columns.
One product of the table with all residuals, of all strengths and training sets of the block, then
shows which other columns want to enter. They join, and the block is solved again from the first
strength they concern. When none is left the block is solved for all columns.

The next block starts with the columns whose correlations are largest where the last one ended: a
good guess, which the check makes exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tikhon._kernels import Stop
from tikhon.solvers.wide_table import WideTable
from tikhon.solvers.working_path import BlockPath
from tikhon.typing import Float64Array

__all__ = ["Blocks", "approach"]

BLOCK = 10
"""Strengths solved between two checks."""

RESIDUAL_BYTES = 2**27
"""Residuals held at once: fewer strengths to a block where the table is long."""

NEXT = 0.8
"""Ratio of strengths on the way from the null model to a first strength far below it."""


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """A table whose columns join small problems as they are needed."""

    table: WideTable
    stop: Stop

    def solve(
        self,
        sets: Sequence[BlockPath],
        grid: Float64Array,
        *,
        until: Callable[[], bool] = lambda: False,
    ) -> int:
        """Solve a grid of strengths, strongest first, until told to end; how many were solved."""
        done = 0
        while done < len(grid) and not self.stop.now:
            done += self._block(sets, grid[done : done + self._size(sets)])
            if until():
                break
        return done

    def _size(self, sets: Sequence[BlockPath]) -> int:
        n = self.table.training.design.shape[0]
        columns = sum(own.outputs for own in sets)
        return max(1, min(BLOCK, RESIDUAL_BYTES // (8 * n * columns)))

    def _block(self, sets: Sequence[BlockPath], lams: Float64Array) -> int:
        """Solve a block of strengths for all columns; return its length."""
        for own in sets:
            own.begin(lams)
        open_sets = list(sets)
        while open_sets:
            open_sets[0].solve_all(open_sets, self.stop)
            if self.stop.now:
                break
            self.look(open_sets, [own.open_residuals() for own in open_sets])
            open_sets = [own for own in open_sets if own.admit()]
        for own in sets:
            own.end()
        return len(lams)

    def look(self, sets: Sequence[BlockPath], residuals: Sequence[Float64Array]) -> None:
        """Show each set the correlations of all columns with its residuals (n, k), in one go."""
        weighted = [R * own.p[:, None] for own, R in zip(sets, residuals, strict=True)]
        G, shift = self.table.correlate(np.hstack(weighted))
        start = 0
        for own, R in zip(sets, weighted, strict=True):
            stop = start + R.shape[1]
            own.see(G[:, start:stop], R.sum(axis=0), shift)
            start = stop


def approach(top: float, first: float) -> Float64Array:
    """Strengths on the way from the null model to the first one asked for."""
    if not 0 < first < NEXT * top or not np.isfinite(top):
        return np.empty(0)
    count = int(np.ceil(np.log(first / top) / np.log(NEXT)))
    return np.geomspace(top, first, count, endpoint=False)
