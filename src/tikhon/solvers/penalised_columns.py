"""Penalised least squares column by column: for long sparse tables, where a column is short.

Coordinate descent on the columns themselves, in compiled code, one training set to a thread. Means
are carried beside the residual, so that a sparse table stays sparse. Dense tables are taken in
Fortran order.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from scipy import sparse

from tikhon import _kernels
from tikhon._kernels import Stop
from tikhon.data.dense import DenseDesign
from tikhon.data.sparse import SparseDesign
from tikhon.engine import map_units
from tikhon.errors import UnsupportedError
from tikhon.penalties.base import Penalty
from tikhon.problem.squared import Frame, NullModel
from tikhon.solvers.gram_solvers import within_bounds
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.squared_machine import SquaredMachine
from tikhon.solvers.training import Training
from tikhon.solvers.wide_table import TrainingColumns, WideTable
from tikhon.typing import BoolArray, Float64Array, FloatArray, IntArray

__all__ = ["PenalisedColumns"]

MARGIN = 0.5
"""Share of the tolerance asked of the compiled code: what is certified is rounded once more."""

FIRMER = 1e-3
"""Further share, where a certificate has found a solution wanting."""


class PenalisedColumns(SquaredMachine):
    """A table taken column by column."""

    name = "coordinate descent on columns"

    def __init__(self, table: WideTable, penalty: Penalty, tol: float, stop: Stop) -> None:
        self.table = table
        self.penalty = penalty
        self.tol = tol
        self.stop = stop
        if penalty.coordinates(table.training.design.shape[1]) is None:
            raise UnsupportedError(
                f"{type(penalty).__name__} couples columns; use solver='working_set'."
            )

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        return self.table.training

    @property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        return self.table.frame

    def with_penalty(self, penalty: Penalty) -> PenalisedColumns:
        """Return the same table under another penalty."""
        return PenalisedColumns(self.table, penalty, self.tol, self.stop)

    @cached_property
    def _columns(self) -> sparse.csc_array | FloatArray:
        design = self.training.design
        if isinstance(design, SparseDesign):
            return design.columns
        assert isinstance(design, DenseDesign)
        return np.asfortranarray(design.X)

    def _correlation(self, free: IntArray) -> Float64Array:
        """Correlations (d, targets) of the targets, off some columns, with the frame's columns."""
        own = self.table.everything
        R = self.training.y - own.y_mean
        if len(free):
            root = np.sqrt(own.p)[:, None]
            A = self.training.design.rows_of_columns(None, free)
            A -= self.table.shift[free] + own.mean[free]
            R = R - A @ np.linalg.lstsq(A * root, R * root, rcond=None)[0]
        R = R * own.p[:, None]
        G, shift = self.table.correlate(R)
        G -= np.multiply.outer(shift + own.mean, R.sum(axis=0))
        return np.asarray(G / own.scale[:, None])

    def null(self) -> NullModel:
        """Return the null model's figures."""
        own = self.table.everything
        y = self.training.y - own.y_mean
        spread = float(np.einsum("i,it,it->", own.p, y, y))
        slope = np.linalg.norm(self._correlation(np.empty(0, dtype=np.int64)))
        return NullModel(spread / 2.0, float(slope))

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        penalty = self.penalty.on_scaled(self.table.everything.scale)
        free = np.flatnonzero(penalty.unpenalised(self.training.design.shape[1]))
        g = self._correlation(free)
        return penalty.lam_max(-(g[:, 0] if g.shape[1] == 1 else g))

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set."""
        _ = self._columns, self.table.frame  # once, before threads ask for them
        alone = len(trains) == 1
        sets = [self.table.columns(train) for train in trains]
        return map_units(
            lambda own: self._solved(own, lams, threads=None if alone else 1),
            sets,
            stop=self.stop,
        )

    def corrected(
        self,
        lam: float,
        V: Float64Array,
        correlation: Float64Array,  # noqa: ARG002
    ) -> Float64Array:
        """Solve one strength again from coefficients V, to a smaller gap."""
        own = self.table.everything
        found = self._solved(own, np.array([lam]), start=V, firmer=FIRMER)
        return np.asarray(found.dense()[0])

    def _solved(
        self,
        own: TrainingColumns,
        lams: Float64Array,
        *,
        start: Float64Array | None = None,
        firmer: float = 1.0,
        threads: int | None = None,
    ) -> PathFit:
        """Solve one training set, target by target."""
        training = self.training
        d, targets = training.design.shape[1], training.y.shape[1]
        form = self.penalty.on_scaled(own.scale).coordinates(d)
        assert form is not None
        inner = own.scale / own.spread
        penalty = (form.l1 * inner, form.l2 * inner**2, form.lower / inner, form.upper / inner)
        y = training.y - own.y_mean
        paths = [
            _kernels.column_path(
                self._columns,
                self._problem(own, np.ascontiguousarray(y[:, t])),
                penalty,
                lams,
                gap=MARGIN * firmer * self.tol,
                shift=None if training.design.is_sparse else self.table.shift,
                start=None if start is None else start[:, t] * own.spread,
                stop=self.stop,
                threads=threads,
            )
            for t in range(targets)
        ]
        columns = np.unique(np.concatenate([path.columns for path in paths]))
        coefs = np.zeros((len(lams), len(columns), targets))
        for t, path in enumerate(paths):
            strength = np.repeat(np.arange(len(lams)), np.diff(path.starts))
            coefs[strength, np.searchsorted(columns, path.columns), t] = path.values
        V = within_bounds(self.penalty, d, columns, coefs / own.spread[columns, None])
        mean = (self.table.shift + own.mean)[columns]
        b = own.y_mean - np.einsum("j,ljt->lt", mean, V) * training.intercept
        return PathFit(training, lams, columns, V, b, min(path.solved for path in paths))

    def _problem(self, own: TrainingColumns, y: Float64Array) -> _kernels.ColumnProblem:
        mean = self.table.shift + own.mean if self.training.design.is_sparse else own.mean
        return _kernels.ColumnProblem(own.p, y, mean, own.spread)
