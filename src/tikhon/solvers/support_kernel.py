"""Kernel support vector machines along a path of strengths, by SMO on rows within a budget.

A `KernelTable` is a kernel bound to rows: columns scaled and, where the kernel or the free offset
does not see it, centred, so that large means cost no digits. It hands rows of the matrix to the
solver and values between its rows and new ones to predictions. Where the whole matrix fits half of
the budget its rows are shared by folds and strengths, else each solver keeps those used lately.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tikhon._kernels import (
    CONVERGED,
    STALLED,
    KernelRows,
    SharedRows,
    Stop,
    called_kernel_rows,
    kernel_rows,
    smo_path,
    stored_kernel_rows,
)
from tikhon.data.design import Design
from tikhon.data.sparse import SparseDesign
from tikhon.errors import UnsupportedError
from tikhon.kernel import Kernel, Precomputed, check_kernel_matrix
from tikhon.problem.support import SupportProblem
from tikhon.solvers.support_path import SupportPath, SupportSolution, support_status
from tikhon.typing import Float64Array, IntArray

__all__ = ["SMALL", "Expansion", "KernelTable", "kernel_path", "polished"]

BLOCK = 2**22
"""Values of a kernel at a time, when predictions are made."""

SMALL = 100
"""Rows up to which solutions are polished, with at most so many steps:"""

POLISH = 3000

LARGEST_SINGLE = 1e30
"""Diagonals up to which rows are kept in single precision."""


@dataclass(frozen=True, slots=True, eq=False)
class KernelTable:
    """A kernel bound to training rows.

    Attributes
    ----------
    kernel : Kernel
        With its parameters as numbers.
    X : ndarray or sparse array of shape (n, d)
        Rows as the kernel sees them; the matrix itself for a precomputed kernel.
    shift, scale : ndarray of shape (d,)
        What columns were shifted by and divided by.
    plus : float
        Added to every value: 1 where the offset is penalised.
    rows : KernelRows
    budget : int
        Bytes for rows of the matrix.
    """

    kernel: Kernel
    X: Any
    shift: Float64Array
    scale: Float64Array
    plus: float
    rows: KernelRows
    budget: int

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        design: Design,
        s: Float64Array | None,
        *,
        standardize: bool,
        offset: str,
        budget: int,
    ) -> KernelTable:
        """Bind a kernel to rows: scale the columns if asked to, and compile it."""
        d = design.shape[1]
        shift, scale = np.zeros(d), np.ones(d)
        if kernel.scales:
            stats = design.stats(s)
            if standardize:
                scale = stats.scale
            harmless = kernel.shifts or (kernel.centres and offset == "constraint")
            if standardize and kernel.moves:
                _refuse_sparse(kernel, design)
                shift = stats.mean
            elif harmless and not design.is_sparse:
                shift = stats.mean
            kernel = kernel.resolved(float(((stats.sd / scale) ** 2).sum()))
        X = seen_rows(design, shift, scale, plain=not kernel.scales)
        plus = 1.0 if offset == "augmented" else 0.0
        rows = _compiled(kernel, X, plus, budget, design.eps)
        return cls(kernel, X, shift, scale, plus, rows, budget)

    @property
    def size(self) -> int:
        """How many training rows there are."""
        return self.rows.size

    def shared(self, *, single: bool = True) -> SharedRows | None:
        """Return rows for several solvers, None where the matrix does not fit half the budget."""
        if SharedRows.bytes(self.size, single=single) > self.budget // 2:
            return None
        return SharedRows(self.rows, single=single)

    def expansion(self, index: IntArray, beta: Float64Array) -> Expansion:
        """Return ``f = sum_i beta_i k(x_i, .)`` over some of the rows, to be kept."""
        precomputed = isinstance(self.kernel, Precomputed)
        rows = None if precomputed else self.X[index]
        return Expansion(
            self.kernel, rows, index, beta, self.shift, self.scale, self.plus, self.size
        )


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A function ``f(z) = sum_i beta_i k(x_i, z)``, for one or several machines.

    Attributes
    ----------
    kernel : Kernel
    rows : ndarray or sparse array of shape (m, d) or None
        The support vectors as the kernel sees them; None for a precomputed kernel.
    index : ndarray of shape (m,)
        Which training rows they are.
    beta : ndarray of shape (m,) or (m, machines)
    shift, scale : ndarray of shape (d,)
    plus : float
    size : int
        How many training rows there were.
    """

    kernel: Kernel
    rows: Any
    index: IntArray
    beta: Float64Array
    shift: Float64Array
    scale: Float64Array
    plus: float
    size: int

    def values(self, design: Design) -> Float64Array:
        """Return f at the rows of a table, (n,) or (n, machines)."""
        n = design.shape[0]
        out = np.empty((n, *self.beta.shape[1:]))
        step = max(16, BLOCK // max(1, len(self.index)))
        for start in range(0, n, step):
            index = np.arange(start, min(start + step, n))
            part = seen_rows(
                design.rows(index) if len(index) < n else design,
                self.shift,
                self.scale,
                plain=not self.kernel.scales,
            )
            out[index] = (self._kernel(part) + self.plus) @ self.beta
        return out

    def _kernel(self, part: Any) -> Float64Array:
        if not isinstance(self.kernel, Precomputed):
            return self.kernel.matrix(part, self.rows)
        if part.shape[1] != self.size:
            raise ValueError(
                f"a precomputed kernel needs {self.size} values for each row, one for each "
                f"training row, got {part.shape[1]}."
            )
        return self.kernel.matrix(part[:, self.index])


def _refuse_sparse(kernel: Kernel, design: Design) -> None:
    if design.is_sparse:
        raise UnsupportedError(
            f"standardize=True centres the columns for {kernel!r}, which would fill a sparse "
            "table; use standardize=False, or another kernel."
        )


def seen_rows(design: Design, shift: Float64Array, scale: Float64Array, *, plain: bool) -> Any:
    """Return rows as a kernel sees them: float64, C order or compressed rows."""
    if isinstance(design, SparseDesign):
        X: Any = design.X.tocsr().astype(np.float64)
        X.sort_indices()
        if plain or np.all(scale == 1.0):
            return X
        return sparse.csr_array((X.data / scale[X.indices], X.indices, X.indptr), shape=X.shape)
    if plain or (not shift.any() and np.all(scale == 1.0)):
        blocks = [block.rows.copy() for block in design.blocks()]
    else:
        blocks = [block.rows / scale for block in design.blocks(shift)]
    return np.ascontiguousarray(np.concatenate(blocks))


def _compiled(kernel: Kernel, X: Any, plus: float, budget: int, eps: float) -> KernelRows:
    function = kernel.compiled
    if function is not None:
        return kernel_rows(X, function, plus=plus)
    n = X.shape[0]
    if isinstance(kernel, Precomputed) or 8 * n * n <= budget // 2:
        K = np.ascontiguousarray(kernel.matrix(X))
        check_kernel_matrix(K, eps)
        return stored_kernel_rows(K, plus=plus)
    sample = np.arange(0, n, max(1, n // 1000))
    check_kernel_matrix(kernel.matrix(X[sample]))

    def row(i: int) -> Float64Array:
        return np.ascontiguousarray(kernel.matrix(X[i : i + 1], X)[0])

    return called_kernel_rows(row, kernel.diagonal(X), plus=plus)


def kernel_path(
    table: KernelTable,
    problem: SupportProblem,
    lams: Float64Array,
    *,
    tol: float,
    budget: int | None = None,
    shared: SharedRows | None = None,
    exact: bool = True,
    stop: Stop | None = None,
) -> SupportPath:
    """Solve a support vector problem for each strength, strongest first.

    Parameters
    ----------
    table : KernelTable
    problem : SupportProblem
    lams : ndarray of shape (L,), descending
    tol : float
        Duality gap to reach, relative to the null model's objective.
    budget : int, optional
        Bytes for rows that are not shared; by default what the table's budget leaves.
    shared : SharedRows, optional
        Rows kept for several solvers.
    exact : bool, default True
        Certify in double precision, from the rows of the table. For folds, whose solutions are
        scored and forgotten, the precision of the kept rows will do.

    Returns
    -------
    SupportPath
        As many strengths as were solved before `stop`.
    """
    stop = stop or Stop()
    started = time.perf_counter()
    wanted = 0.9 * tol * problem.null()[1]  # the rest is for rounding in the certificate
    budget = table.budget // 2 if budget is None else budget
    single = float(table.kernel.diagonal(table.X[:1])[0]) < LARGEST_SINGLE
    solved: list[SupportSolution] = []
    start: Float64Array | None = None
    while len(solved) < len(lams):
        at = len(solved)
        path = smo_path(
            table.rows,
            problem.target,
            problem.lower,
            problem.upper,
            1.0 / lams[at:],
            tube=problem.tube,
            constrained=problem.free,
            gap=wanted,
            cache_bytes=budget,
            shared=shared if single else None,
            single=single,
            exact=exact,
            start=start,
            stop=stop,
        )
        for k, status in enumerate(path.status):
            if status == STALLED and single and exact:
                single, start = False, path.beta[k]  # single precision is too coarse from here on
                break
            note = support_status(
                path.gaps[k] * lams[at + k], wanted, stop, finished=status == CONVERGED
            )
            f = problem.target - path.residual[k]
            steps = path.steps[k] / max(1, table.size)
            solved.append(
                _solution(
                    problem, float(lams[at + k]), path.beta[k], f, path.offsets[k], note, steps
                )
            )
        else:
            break
    if table.size <= SMALL:
        solved = [
            _solution(
                problem, each.lam, *polished(table.rows, problem, each), each.status, each.passes
            )
            for each in solved
        ]
    return SupportPath.of(solved, "SMO", started)


def polished(
    rows: KernelRows, problem: SupportProblem, solution: SupportSolution
) -> tuple[Float64Array, Float64Array, float]:
    """Return coefficients, f and offset of a small problem, solved on until rounding is all.

    On so few rows it costs next to nothing, and results then depend on the data alone: not on
    whether a row came twice or with the weight 2, nor on where the solver started.
    """
    path = smo_path(
        rows,
        problem.target,
        problem.lower,
        problem.upper,
        np.array([1.0 / solution.lam]),
        tube=problem.tube,
        constrained=problem.free,
        gap=1e-15 * problem.null()[1],
        cache_bytes=2**24,
        single=False,
        max_steps=POLISH,
        start=np.clip(solution.beta, problem.lower / solution.lam, problem.upper / solution.lam),
    )
    if path.gaps[0] * solution.lam > solution.certificate.gap * solution.certificate.null_objective:
        return solution.beta, solution.f, solution.offset_centred
    return path.beta[0], problem.target - path.residual[0], float(path.offsets[0])


def _solution(
    problem: SupportProblem,
    lam: float,
    beta: Float64Array,
    f: Float64Array,
    offset: float,
    status: Any,
    passes: float,
) -> SupportSolution:
    u = np.clip(lam * beta, problem.lower, problem.upper)
    if problem.offset == "augmented":
        offset = float(beta.sum())
    free = offset if problem.free else 0.0
    certificate, slack = problem.certificate(lam, u, f, free)
    return SupportSolution(
        lam=lam,
        beta=u / lam,
        coef=None,
        offset=offset if problem.free else 0.0,
        offset_centred=free,
        f=f,
        slack=slack,
        certificate=certificate,
        status=status,
        passes=float(passes),
    )
