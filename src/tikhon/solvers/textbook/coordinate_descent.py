"""Plain cyclic coordinate descent on least squares: every column in turn, none left out.

    w_j <- argmin over w_j of  sum_i p_i (r_i + x~_ij w_j_old - x~_ij w_j)^2 / 2 + lam R_j(w_j)
         = soft(x~_j' P r + a_j w_j, lam l1_j) / (a_j + lam l2_j),   within the bounds,

with ``a_j = sum_i p_i x~_ij^2`` and r the residual, carried along. Columns are centred where there
is an intercept, ``b = mean y - mean x . w`` (lecture 000); a sparse table stays sparse. What the
fast solver does besides (working sets, moments, extrapolation) is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from tikhon import _kernels
from tikhon._kernels import SweepColumns
from tikhon.data.dense import DenseDesign
from tikhon.data.sparse import SparseDesign
from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.penalties.coordinates import Coordinates
from tikhon.results import Solution
from tikhon.solvers.task import Task
from tikhon.solvers.textbook.options import at_least
from tikhon.typing import Float64Array, FloatArray

__all__ = ["CyclicCoordinateDescent"]

ENTRIES_AT_ONCE = 2**22
"""Entries of the table between two looks at the keyboard: some milliseconds."""


@dataclass(frozen=True, slots=True)
class CyclicCoordinateDescent:
    """Plain cyclic coordinate descent: least squares, penalties column by column.

    ``w_j <- soft(x_j' r / n + a_j w_j, lam) / a_j`` for the lasso, j = 1, ..., d, again and again.

    Parameters
    ----------
    max_iter : int, default 10000
        Sweeps over all columns.
    measure_every : int, default 5
        Objective and gap are computed and recorded this often: that costs as much as a sweep or
        two.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> lasso = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 1.0)
    >>> plain = tk.solve(lasso, X, y, solver=tk.solvers.CyclicCoordinateDescent())
    >>> fast = tk.solve(lasso, X, y)
    >>> bool(abs(plain.objective - fast.objective) < 1e-6 * fast.objective)
    True
    """

    max_iter: int = 10_000
    measure_every: int = 5

    def __post_init__(self) -> None:
        at_least("max_iter", self.max_iter, 0)
        at_least("measure_every", self.measure_every, 1)

    @property
    def title(self) -> str:
        """Return "cyclic coordinate descent"."""
        return "cyclic coordinate descent"

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task.

        Raises
        ------
        UnsupportedError
            For another loss than the squared one, or a penalty that couples columns.
        """
        form = task.problem.penalty.coordinates(task.design.shape[1])
        if form is None or not isinstance(task.problem.loss, Squared):
            raise UnsupportedError(
                "cyclic coordinate descent is for Squared() with a penalty column by column, got "
                f"{task.problem.loss!r} with {task.problem.penalty!r}; use "
                "tk.solvers.ProximalGradient()."
            )
        columns = _Columns(task, form)
        loop = task.iterate(
            0,
            columns.sweep,
            lambda _: task.measure(task.design, *columns.point()),
            lambda sweeps: 1.0 + 2.0 * sweeps,
            max_iter=self.max_iter,
            measure_every=self.measure_every,
        )
        passes = 1.0 + 2.0 * loop.iterations
        return task.solution(loop, *columns.point(), self.title, passes)


class _Columns:
    """The columns of a task, its coefficients (targets, d) and residuals (targets, n)."""

    def __init__(self, task: Task, form: Coordinates) -> None:
        self.task = task
        self.form = form
        self.stats = task.design.stats(task.s)
        centred = task.problem.intercept
        self.mean = self.stats.mean if centred else np.zeros_like(self.stats.mean)
        Y = task.y.reshape(len(task.y), -1)
        self.y_mean = task.shares @ Y if centred else np.zeros(Y.shape[1])
        start = np.minimum(np.maximum(np.zeros(len(self.mean)), form.lower), form.upper)
        self.W = np.tile(start, (Y.shape[1], 1))
        residual = Y - self.y_mean
        if start.any():
            residual = residual - (task.design.predict(start) - self.mean @ start)[:, None]
        self.Q = np.ascontiguousarray((residual * task.shares[:, None]).T)
        self.k = np.zeros(len(self.W))

    @cached_property
    def table(self) -> sparse.csc_array | FloatArray:
        """The columns, as the compiled sweep takes them."""
        design = self.task.design
        if isinstance(design, SparseDesign):
            return design.columns
        if isinstance(design, DenseDesign) and design.X.dtype in (np.float32, np.float64):
            return np.asfortranarray(design.X)
        n = design.shape[0]
        every = np.arange(design.shape[1], dtype=np.int64)
        return np.asfortranarray(design.rows_of_columns(np.arange(n, dtype=np.int64), every))

    @cached_property
    def moments(self) -> SweepColumns:
        """Means and curvatures: a dense table is shifted entry by entry, a sparse one is not."""
        curvature = self.stats.sd**2
        if not self.task.problem.intercept:
            curvature = curvature + self.stats.mean**2
        nothing = np.zeros_like(self.mean)
        if sparse.issparse(self.table):
            return SweepColumns(self.task.shares, nothing, self.mean, curvature)
        return SweepColumns(self.task.shares, self.mean, nothing, curvature)

    def sweep(self, done: int) -> int:
        """Move every coefficient once; return the number of sweeps."""
        n, d = self.task.design.shape
        many = max(1, ENTRIES_AT_ONCE // n)
        for target in range(len(self.W)):
            for first in range(0, d, many):
                self.k[target] = _kernels.cyclic_sweep(
                    self.table,
                    self.moments,
                    self.form.arrays,
                    self.task.problem.lam,
                    (first, min(first + many, d)),
                    self.W[target],
                    self.Q[target],
                    float(self.k[target]),
                )
        return done + 1

    def point(self) -> tuple[Float64Array, Float64Array]:
        """Coefficients and intercept, as the user has them."""
        b = self.y_mean - self.W @ self.mean
        return (self.W[0].copy(), b[0]) if self.task.y.ndim == 1 else (self.W.T.copy(), b)
