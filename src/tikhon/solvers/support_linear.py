"""Linear support vector machines along a path of strengths: dual descent, Newton where it crawls.

Sparse rows go to dual coordinate descent, warm from strength to strength; where it stops halving
the gap, and for dense rows from the start, the augmented Lagrangian with Newton steps takes over.
Columns are centred where the offset is free (which changes the offset alone) and divided by their
unit; centring is implicit.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tikhon._kernels import (
    CONVERGED,
    STOPPED,
    DualProblem,
    KernelFunction,
    Stop,
    dual_descent,
    kernel_rows,
)
from tikhon.data.dense import DenseDesign
from tikhon.data.design import Design
from tikhon.data.sparse import SparseDesign
from tikhon.data.standardized import StandardizedDesign
from tikhon.errors import UnsupportedError
from tikhon.problem.support import SupportProblem
from tikhon.results import Status
from tikhon.solvers.support_kernel import SMALL, polished
from tikhon.solvers.support_newton import newton_machine
from tikhon.solvers.support_path import SupportPath, SupportSolution, support_status
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = ["LINEAR_SOLVERS", "LinearTable", "linear_path"]

LINEAR_SOLVERS = ("auto", "dual_descent", "newton")

LARGEST_COPY = 2**27
"""Entries of a dense table up to which a copy of its scaled rows is made."""

DESCENT, NEWTON = "dual coordinate descent", "augmented Lagrangian, Newton steps"

WORTH_FILLING = 2**17
"""Entries of a sparse table up to which zeros are written out: its own overhead costs more."""

PATIENCE = 60
"""Sweeps of dual descent that do not halve the gap before Newton steps take over; but at least as
many as visit so many entries:"""

CHEAP = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class LinearTable:
    """Rows as they enter the penalty.

    Attributes
    ----------
    design : Design
    mean, scale : ndarray of shape (d,)
        What columns are centred by (0 unless the offset is free) and divided by.
    """

    design: Design
    mean: Float64Array
    scale: Float64Array

    @classmethod
    def of(
        cls, design: Design, s: Float64Array | None, *, standardize: bool, offset: str
    ) -> LinearTable:
        """Centre where that changes the offset alone, and scale if asked to."""
        n, d = design.shape
        if isinstance(design, SparseDesign) and n * d <= WORTH_FILLING:
            design = DenseDesign.of(np.asarray(design.X.toarray()))
        stats = design.stats(s) if standardize or offset == "constraint" else None
        mean = stats.mean if stats is not None and offset == "constraint" else np.zeros(d)
        scale = stats.scale if stats is not None and standardize else np.ones(d)
        return cls(design, mean, scale)

    @property
    def view(self) -> StandardizedDesign:
        """The centred, scaled table, lazily."""
        return StandardizedDesign(self.design, self.mean, self.scale)

    @property
    def patience(self) -> int:
        """For how many sweeps dual descent may fail to halve the gap."""
        n, d = self.shape
        entries = self.design.X.nnz if isinstance(self.design, SparseDesign) else n * d
        return int(max(PATIENCE, CHEAP // max(1, entries)))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.design.shape

    def predict(self, w: Float64Array) -> Float64Array:
        """Return ``x_i . w`` for scaled coefficients, (n,)."""
        return self.view.predict(w)

    def correlate(self, r: Float64Array) -> Float64Array:
        """Return ``sum_i r_i x_i``, (d,)."""
        return self.view.correlate(r)

    def rows(self, index: IntArray) -> Float64Array:
        """Return some rows, dense, centred and scaled."""
        parts = [block.rows / self.scale for block in self.design.blocks(self.mean, index)]
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]))

    def mean_square(self) -> float:
        """Return about the mean of ``||x_i||^2``, from some rows."""
        n = self.shape[0]
        sample = self.rows(np.arange(0, n, max(1, n // 256)))
        return float(np.mean(np.einsum("ij,ij->i", sample, sample)))

    def column_products(self, index: IntArray, weight: Float64Array) -> Float64Array:
        """Return ``A' diag(weight) A`` for the rows ``[x_i, 1]`` of the index, (d + 1, d + 1)."""
        d = self.shape[1]
        out = np.empty((d + 1, d + 1))
        if isinstance(self.design, SparseDesign):
            X = self.design.X.tocsr()[index].astype(np.float64)
            mean, sums = self.mean / self.scale, np.asarray(X.T @ weight) / self.scale
            inner: Any = X.T @ X.multiply(weight[:, None]).tocsr()
            out[:d, :d] = inner.toarray() / np.outer(self.scale, self.scale)
            cross, total = np.outer(mean, sums), float(weight.sum())
            out[:d, :d] += total * np.outer(mean, mean) - cross - cross.T
            out[d, :d] = out[:d, d] = sums - total * mean
        else:
            rows = self.rows(index)
            weighted = rows * weight[:, None]
            out[:d, :d] = weighted.T @ rows
            out[d, :d] = out[:d, d] = weighted.sum(axis=0)
        out[d, d] = weight.sum()
        return out

    def row_products(self, index: IntArray) -> Float64Array:
        """Return ``x_i . x_j`` for the rows of the index."""
        if not isinstance(self.design, SparseDesign):
            rows = self.rows(index)
            return np.asarray(rows @ rows.T)
        X = self.design.X.tocsr()[index].astype(np.float64)
        scaled = sparse.csr_array(
            (X.data / self.scale[X.indices], X.indices, X.indptr), shape=X.shape
        )
        mean = self.mean / self.scale
        along = np.asarray(scaled @ mean)
        product: Any = scaled @ scaled.T
        inner = product.toarray() - along[:, None] - along + float(mean @ mean)
        return np.asarray(inner, dtype=np.float64)

    def stored_rows(self) -> tuple[FloatArray | sparse.csr_array, Float64Array, Float64Array]:
        """Return scaled rows for dual descent, their shift (dense) and their mean (sparse)."""
        d = self.shape[1]
        if isinstance(self.design, SparseDesign):
            X: Any = self.design.X.tocsr()
            if np.any(self.scale != 1.0):
                X = sparse.csr_array(
                    (X.data / self.scale[X.indices], X.indices, X.indptr), shape=X.shape
                )
            return X, np.zeros(d), self.mean / self.scale
        assert isinstance(self.design, DenseDesign)
        if np.any(self.scale != 1.0):
            return self.rows(np.arange(self.shape[0])), np.zeros(d), np.zeros(d)
        return np.ascontiguousarray(self.design.X), self.mean, np.zeros(d)


def linear_path(
    table: LinearTable,
    problem: SupportProblem,
    lams: Float64Array,
    *,
    tol: float,
    solver: str = "auto",
    stop: Stop | None = None,
) -> SupportPath:
    """Solve a linear support vector problem for each strength, strongest first.

    Parameters
    ----------
    table : LinearTable
    problem : SupportProblem
    lams : ndarray of shape (L,), descending
    tol : float
        Duality gap to reach, relative to the null model's objective.
    solver : {"auto", "dual_descent", "newton"}

    Returns
    -------
    SupportPath
        As many strengths as were solved before `stop`.
    """
    if solver not in LINEAR_SOLVERS:
        raise UnsupportedError(
            f"`solver` must be one of {', '.join(map(repr, LINEAR_SOLVERS))}, got {solver!r}."
        )
    stop = stop or Stop()
    started = time.perf_counter()
    wanted = 0.9 * tol * problem.null()[1]  # the rest is for rounding in the certificate
    solved: list[SupportSolution] = []
    beta: Float64Array | None = None
    at = 0
    if solver == "dual_descent" or (solver == "auto" and _descends(table)):
        patience = 2**40 if solver == "dual_descent" else table.patience
        found = _descend(table, problem, lams, wanted, patience, stop)
        for k, lam in enumerate(lams[: len(found.status)]):
            beta = found.beta[k]
            finished = found.status[k] == CONVERGED
            if not finished and found.status[k] != STOPPED and solver == "auto":
                break
            note = support_status(found.gaps[k] * lam, wanted, stop, finished=finished)
            made = _solution(table, problem, lam, beta, found.offsets[k], found.sweeps[k], note)
            if finished and made.certificate.gap > tol and solver == "auto":
                break  # its sums cancel: columns are of too unequal size for this method
            solved.append(made)
            at = k + 1
        if solver == "dual_descent":
            return SupportPath.of(solved, DESCENT, started)
    for k in range(at, len(lams)):
        if k > at and (stop.requested or stop.late):
            break
        lam = float(lams[k])
        start = None if beta is None else _moved(beta, problem, lams, k, at)
        offset = solved[-1].offset_centred if solved else 0.0
        end = newton_machine(
            table, problem, 1.0 / lam, gap=wanted, beta=start, offset=offset, stop=stop
        )
        beta = end.beta
        note = support_status(end.gap, wanted, stop, finished=end.gap <= wanted)
        solved.append(_solution(table, problem, lam, beta, end.offset, end.passes, note, end.w))
    if table.shape[0] <= SMALL:
        solved = _polish(table, problem, solved)
    return SupportPath.of(solved, DESCENT if at == len(lams) else NEWTON, started)


def _polish(
    table: LinearTable, problem: SupportProblem, solved: list[SupportSolution]
) -> list[SupportSolution]:
    """Solve small problems on until rounding is all; see `polished`."""
    rows = np.ascontiguousarray(table.rows(np.arange(table.shape[0])))
    plus = 1.0 if problem.offset == "augmented" else 0.0
    kernel = kernel_rows(rows, KernelFunction("linear"), plus=plus)
    better = []
    for each in solved:
        w: Float64Array | None = None
        if problem.squared:
            goal = 1e-16 * problem.null()[1]
            start = each.offset_centred
            end = newton_machine(
                table, problem, 1.0 / each.lam, gap=goal, beta=each.beta, offset=start
            )
            beta, offset, w = end.beta, end.offset, end.w
        else:
            beta, _, offset = polished(kernel, problem, each)
        found = _solution(table, problem, each.lam, beta, offset, each.passes, each.status, w)
        better.append(found if found.certificate.gap <= each.certificate.gap else each)
    return better


def _descends(table: LinearTable) -> bool:
    """Whether dual descent is tried first: unless its copy of scaled dense rows were too large."""
    return table.design.is_sparse or table.shape[0] * table.shape[1] <= LARGEST_COPY


def _moved(
    beta: Float64Array, problem: SupportProblem, lams: Float64Array, k: int, at: int
) -> Float64Array:
    """The last coefficients for the next strength: those at a bound stay at the bound."""
    if k == at:
        return beta
    ratio = float(lams[k - 1] / lams[k])
    u = beta * lams[k - 1]
    bound = (u >= problem.upper) & (problem.upper > 0) | (u <= problem.lower) & (problem.lower < 0)
    return np.where(bound, ratio * beta, beta)


def _descend(
    table: LinearTable,
    problem: SupportProblem,
    lams: Float64Array,
    wanted: float,
    patience: int,
    stop: Stop,
) -> Any:
    X, shift, mean = table.stored_rows()
    rho = 0.0
    if problem.offset == "augmented":
        rho = 1.0
    elif problem.free:
        rho = 0.1 * table.mean_square()
    dual = DualProblem(
        problem.target,
        problem.lower,
        problem.upper,
        problem.quadratic,
        mean,
        problem.tube,
        rho,
        problem.free,
    )
    return dual_descent(X, dual, 1.0 / lams, gap=wanted, patience=patience, shift=shift, stop=stop)


def _solution(
    table: LinearTable,
    problem: SupportProblem,
    lam: float,
    beta: Float64Array,
    offset: float,
    passes: float,
    status: Status,
    w: Float64Array | None = None,
) -> SupportSolution:
    """Coefficients, those of the dual ones by default, on the raw data, with their certificate."""
    lam = float(lam)
    u = problem.balanced(lam * beta)
    of_u = table.correlate(u) / lam
    w = of_u if w is None else w
    coef = w / table.scale
    f = table.predict(w)
    free = float(offset)
    if problem.free:
        better = problem.best_offset(problem.target - f)
        gaps = [float(problem.slack(problem.target - f - b, u).sum()) for b in (free, better)]
        free = free if gaps[0] <= gaps[1] else better
    penalised = problem.offset == "augmented"
    if penalised and w is of_u:
        free = float(u.sum()) / lam
    intercept = free - float(table.mean @ coef)
    apart = 0.5 * lam * float((w - of_u) @ (w - of_u))
    square = lam * float(w @ w)
    if penalised:
        apart += 0.5 * lam * (free - float(u.sum()) / lam) ** 2
        square += lam * free**2
    z = _raw_values(table, coef, intercept)
    b = intercept + float(table.mean @ coef) if problem.free else 0.0
    certificate, slack = problem.certificate(lam, u, z - b, b, square=square, apart=apart)
    return SupportSolution(
        lam=lam,
        beta=u / lam,
        coef=coef,
        offset=intercept,
        offset_centred=free,
        f=f,
        slack=slack,
        certificate=certificate,
        status=status,
        passes=float(passes),
    )


def _raw_values(table: LinearTable, coef: Float64Array, intercept: float) -> Float64Array:
    """Predictions from the raw table and the coefficients that are handed out."""
    early = table.view.early_shift
    if early is None:
        return np.asarray(table.design.predict(coef)) + intercept
    return np.asarray(table.design.predict(coef, early)) + (intercept + float(early @ coef))
