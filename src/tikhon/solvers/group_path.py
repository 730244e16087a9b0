"""The rest of a group path, once its supports are too large for second moments.

One strength after the other is solved among the columns that have joined; one product of the table
with the residual then shows which groups are missing.
"""

from __future__ import annotations

import numpy as np

from tikhon._kernels import Stop
from tikhon.penalties.group_form import GroupForm
from tikhon.solvers.group_rows import GroupRows
from tikhon.solvers.wide_table import WideTable
from tikhon.solvers.working_path import WorkingPath
from tikhon.typing import Float64Array, IntArray

__all__ = ["FIRMER", "GroupPath"]

FIRMER = 1e-2
"""Share of the tolerance asked for, where a certificate has found a solution wanting."""


class GroupPath:
    """One training set, on its rows, from where a working path stands."""

    def __init__(
        self, table: WideTable, own: WorkingPath, form: GroupForm, tol: float, stop: Stop
    ) -> None:
        self.table, self.own, self.stop = table, own, stop
        self.used = np.flatnonzero(own.p > 0)
        self.root = np.sqrt(own.p[self.used])[:, None]
        self.joined = np.zeros(len(own.holds), dtype=np.bool_)
        self.rows = GroupRows(own.y[self.used] * self.root, form, tol, stop)

    def start(self, W: Float64Array) -> None:
        """Begin at coefficients W (k, targets) of the first columns of the working path."""
        used = np.flatnonzero(W.any(axis=1))
        if not len(used):
            return
        columns = self._whole_groups(self.own.columns[used])
        self._admit(columns)
        known = np.zeros((len(self.own.holds), W.shape[1]))
        known[self.own.columns[: len(W)]] = W
        self.rows.place(known[self.rows.columns])

    def follow(self, lams: Float64Array) -> None:
        """Solve strengths in turn, and hand them to the working path."""
        before = lams[0]
        for lam in lams:
            self._admit(self.own.wanting(2.0 * lam - before))
            if not self._solve(float(lam)):
                self.own.leave(self._coefs())
                return
            self.own.keep(self._coefs())
            before = lam

    def corrected(self, lam: float, W: Float64Array) -> Float64Array:
        """Solve one strength again from coefficients W (d, targets), to a smaller gap."""
        columns = self._whole_groups(np.flatnonzero(W.any(axis=1)))
        self._admit(columns)
        self.rows.place(W[self.rows.columns].copy())
        self._solve(lam)
        found = np.zeros_like(W)
        found[self.rows.columns] = self.rows.coefs
        return found

    def _solve(self, lam: float) -> bool:
        while self.rows.solve(lam):
            self._look()
            missing = self.own.wanting(lam * (1.0 + self.own.slack))
            if not self._admit(missing):
                return True
        return False

    def _look(self) -> None:
        """Show the working path the correlations of all columns with the residual."""
        R = np.zeros_like(self.own.y)
        R[self.used] = self.rows.R * self.root
        G, shift = self.table.correlate(R)
        self.own.see(G, R.sum(axis=0), shift)

    def _admit(self, columns: IntArray) -> bool:
        fresh = columns[~self.joined[columns]]
        if not len(fresh):
            return False
        self.joined[fresh] = True
        design = self.table.training.design
        rows = None if len(self.used) == len(self.own.p) else self.used
        A = design.rows_of_columns(rows, fresh).astype(np.float64, copy=False)
        A = np.array(A, order="F")
        A -= (self.table.shift + self.own.mean)[fresh]
        A /= self.own.unit[fresh]
        A *= self.root
        self.rows.admit(fresh, A)
        self.own.join(fresh)
        return True

    def _whole_groups(self, columns: IntArray) -> IntArray:
        codes = self.rows.form.codes
        wanted = np.zeros(int(codes.max()) + 1, dtype=np.bool_)
        wanted[codes[columns]] = True
        return np.flatnonzero(wanted[codes])

    def _coefs(self) -> Float64Array:
        """The coefficients, in the order of the working path's columns."""
        whole = np.zeros((len(self.own.holds), self.rows.W.shape[1]))
        whole[self.rows.columns] = self.rows.coefs
        return whole[self.own.columns]
