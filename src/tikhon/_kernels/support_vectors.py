"""Support vector machines: rows of kernel matrices, and the two dual solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tikhon import _native
from tikhon._kernels.checks import REAL, check_array, compressed
from tikhon._kernels.descent import Stop
from tikhon._kernels.processor import resolve_threads
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = [
    "KERNEL_KINDS",
    "OUT_OF_STEPS",
    "DualPath",
    "DualProblem",
    "KernelFunction",
    "KernelRows",
    "SharedRows",
    "SmoPath",
    "called_kernel_rows",
    "dual_descent",
    "kernel_rows",
    "smo_path",
    "stored_kernel_rows",
]

OUT_OF_STEPS = 3
"""How the solution of one strength ended, besides CONVERGED, STALLED and STOPPED."""

LEAST_STEPS = 10_000_000
"""Steps of SMO for one strength, at most: so many, or 100 for each row."""

KERNEL_KINDS = ("linear", "polynomial", "rbf", "laplacian")


@dataclass(frozen=True, slots=True)
class KernelFunction:
    """A kernel that is compiled: one of `KERNEL_KINDS` and its parameters."""

    kind: str
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 1


@dataclass(frozen=True, slots=True, eq=False)
class KernelRows:
    """Rows of a kernel matrix, computed when a solver asks for them.

    Attributes
    ----------
    table : object
        The compiled table; it keeps the data alive.
    size : int
    threads : int
        How many may ask at once.
    """

    table: _native.KernelTable
    size: int
    threads: int

    def block(self, rows: IntArray, columns: IntArray) -> Float64Array:
        """Return some rows of the matrix against some others, (rows, columns)."""
        for name, index in (("rows", rows), ("columns", columns)):
            check_array(name, index, np.int64, (None,))
            if len(index) and not (index.min() >= 0 and index.max() < self.size):
                raise IndexError(f"`{name}` must be within {self.size}, got {index.max()}.")
        out = np.empty((len(rows), len(columns)))
        _native.kernel_block(self.table, rows, columns, out, self.threads)
        return out


def kernel_rows(
    X: Float64Array | sparse.csr_array,
    function: KernelFunction,
    *,
    plus: float = 0.0,
    threads: int | None = None,
) -> KernelRows:
    """Return the rows of a compiled kernel between the rows of X, plus a constant.

    Parameters
    ----------
    X
        float64: dense in C order, or compressed sparse rows; shape (n, d).
    """
    kind = KERNEL_KINDS.index(function.kind)
    rest = (kind, function.gamma, function.coef0, function.degree, plus)
    n, d = X.shape
    if isinstance(X, np.ndarray):
        check_array("X", X, np.float64, (n, d))
        table = _native.dense_kernel(X, *rest)
    else:
        if X.data.dtype != np.float64:
            raise TypeError(f"`X` must be float64, got {X.data.dtype}.")
        values, columns, starts = compressed(X)
        table = _native.sparse_kernel(values, columns, starts, d, *rest)
    return KernelRows(table, n, resolve_threads(threads))


def stored_kernel_rows(
    K: FloatArray, *, plus: float = 0.0, threads: int | None = None
) -> KernelRows:
    """Return the rows of a matrix that is already there, (n, n) with contiguous rows."""
    if K.dtype not in REAL or K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"`K` must be a square matrix of floats, got {K.dtype} {K.shape}.")
    if K.shape[0] and K.strides[1] != K.itemsize:
        raise ValueError("`K` must have contiguous rows. Pass `np.ascontiguousarray(K)`.")
    return KernelRows(_native.stored_kernel(K, plus), len(K), resolve_threads(threads))


def called_kernel_rows(
    rows: Callable[[int], Float64Array], diagonal: Float64Array, *, plus: float = 0.0
) -> KernelRows:
    """Return rows that a Python function computes: ``rows(i)`` is (n,), contiguous float64."""
    check_array("diagonal", diagonal, np.float64, (None,))
    return KernelRows(_native.called_kernel(rows, diagonal, plus), len(diagonal), 1)


class SharedRows:
    """Whole rows of a kernel matrix, kept for good and shared by several solvers on threads.

    Parameters
    ----------
    rows : KernelRows
    single : bool
        Keep them in single precision.
    """

    __slots__ = ("native", "single")

    def __init__(self, rows: KernelRows, *, single: bool) -> None:
        kind = _native.SharedRows32 if single else _native.SharedRows64
        self.native: Any = kind(rows.table)
        self.single = single

    @staticmethod
    def bytes(n: int, *, single: bool) -> int:
        """Memory once every row has been asked for."""
        kind = _native.SharedRows32 if single else _native.SharedRows64
        return int(kind.bytes(n))


@dataclass(frozen=True, slots=True, eq=False)
class SmoPath:
    """Dual coefficients along a path of strengths C.

    Attributes
    ----------
    beta, residual : ndarray of shape (solved, n)
        Coefficients, and ``t - K beta``.
    offsets, gaps : ndarray of shape (solved,)
        The gap is absolute, in the units of the dual objective.
    steps, status : ndarray of int, shape (solved,)
    """

    beta: Float64Array
    residual: Float64Array
    offsets: Float64Array
    gaps: Float64Array
    steps: IntArray
    status: IntArray


def smo_path(
    rows: KernelRows,
    target: Float64Array,
    lower: Float64Array,
    upper: Float64Array,
    strengths: Float64Array,
    *,
    tube: float,
    constrained: bool,
    gap: float,
    cache_bytes: int,
    shared: SharedRows | None = None,
    single: bool = True,
    exact: bool = True,
    max_steps: int | None = None,
    start: Float64Array | None = None,
    stop: Stop | None = None,
) -> SmoPath:
    """Maximise ``t'b - tube ||b||_1 - b'Kb / 2`` over ``C lower <= b <= C upper``, by SMO.

    Parameters
    ----------
    rows
        K, positive semidefinite.
    target, lower, upper
        t and the box, shape (n,); ``lower <= 0 <= upper``.
    strengths
        C, in the order in which they are solved, each from the one before.
    tube
        >= 0.
    constrained
        Whether the coefficients sum to zero.
    gap
        To reach for C = 1, in proportion for others.
    cache_bytes
        For rows that are not shared.
    shared
        Rows kept for several solvers; `single` is then theirs.
    single
        Keep rows in single precision.
    exact
        Recompute residuals in double precision at the end of each strength, and go on if need be.
    start
        Coefficients to start from, within the first box.
    max_steps
        For one strength; by default as many as `LEAST_STEPS` says.
    """
    n = rows.size
    for name, value in (("target", target), ("lower", lower), ("upper", upper)):
        check_array(name, value, np.float64, (n,))
    check_array("strengths", strengths, np.float64, (None,))
    if not (np.all(lower <= 0) and np.all(upper >= 0)):
        raise ValueError("the box must contain zero: lower <= 0 <= upper.")
    if start is not None:
        check_array("start", start, np.float64, (n,))
    count = len(strengths)
    beta, residual = np.empty((count, n)), np.empty((count, n))
    offsets, gaps = np.empty(count), np.empty(count)
    steps, status = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    if shared is not None:
        single = shared.single
    solve = _native.smo_path32 if single else _native.smo_path64
    solved = solve(
        rows.table,
        None if shared is None else shared.native,
        target,
        lower,
        upper,
        tube,
        constrained,
        strengths,
        gap,
        max(LEAST_STEPS, 100 * n) if max_steps is None else max_steps,
        cache_bytes,
        rows.threads,
        exact,
        start,
        beta,
        residual,
        offsets,
        gaps,
        steps,
        status,
        stop or Stop(),
    )
    whole = (beta, residual, offsets, gaps, steps, status)
    return SmoPath(*(part[:solved] for part in whole))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class DualProblem:
    """Rows of one linear problem, for `dual_descent`.

    Attributes
    ----------
    target, lower, upper : ndarray of shape (n,)
        t and the box for C = 1.
    quadratic : ndarray of shape (n,)
        0 for the hinge and the tube; 1 / weight for the squared hinge, whose box has no end.
    mean : ndarray of shape (d,)
        What rows are centred by, implicitly; 0 for dense rows, which are shifted instead.
    tube : float
    rho : float
        Square of the extra column that carries the offset; 0 without an offset.
    free : bool
        Whether the offset is free; else its column is penalised like the others.
    """

    target: Float64Array
    lower: Float64Array
    upper: Float64Array
    quadratic: Float64Array
    mean: Float64Array
    tube: float
    rho: float
    free: bool


@dataclass(frozen=True, slots=True, eq=False)
class DualPath:
    """Coefficients along a path of strengths C: dual (solved, n) and primal (solved, d)."""

    beta: Float64Array
    coefs: Float64Array
    offsets: Float64Array
    gaps: Float64Array
    sweeps: Float64Array
    status: IntArray


def dual_descent(
    X: FloatArray | sparse.csr_array,
    problem: DualProblem,
    strengths: Float64Array,
    *,
    gap: float,
    max_sweeps: int = 2**40,
    patience: int = 100,
    shift: Float64Array | None = None,
    start: Float64Array | None = None,
    stop: Stop | None = None,
) -> DualPath:
    """Solve linear support vector machines by descent on one dual coefficient at a time.

    Parameters
    ----------
    X
        Rows: compressed sparse, or dense with contiguous rows; shape (n, d).
    problem
        Targets, box and offset.
    strengths
        C, in the order in which they are solved, each from the one before.
    gap
        To reach for C = 1, in proportion for others.
    patience
        Give up after so many sweeps that do not halve the gap.
    shift
        For a dense X, what rows are shifted by, shape (d,); zeros when None.

    Returns
    -------
    DualPath
        It ends with the first strength that did not converge.
    """
    n, d = X.shape
    for name in ("target", "lower", "upper", "quadratic"):
        check_array(name, getattr(problem, name), np.float64, (n,))
    check_array("mean", problem.mean, np.float64, (d,))
    check_array("strengths", strengths, np.float64, (None,))
    if start is not None:
        check_array("start", start, np.float64, (n,))
    count = len(strengths)
    beta, w, outcomes = np.empty((count, n)), np.empty((count, d)), np.empty((count, 4))
    rest = (
        problem.target,
        problem.lower,
        problem.upper,
        problem.quadratic,
        problem.mean,
        problem.tube,
        problem.rho,
        problem.free,
        strengths,
        gap,
        max_sweeps,
        patience,
        start,
        beta,
        w,
        outcomes,
        stop or Stop(),
    )
    if isinstance(X, np.ndarray):
        if X.dtype not in REAL or X.strides[1] != X.itemsize:
            raise ValueError("`X` must be a float matrix with contiguous rows.")
        shift = np.zeros(d) if shift is None else shift
        check_array("shift", shift, np.float64, (d,))
        solved = _native.dense_dual_descent(X, shift, *rest)
    else:
        values, columns, starts = compressed(X)
        solved = _native.sparse_dual_descent(values, columns, starts, *rest)
    offsets, gaps, sweeps, status = outcomes[:solved].T
    return DualPath(
        beta[:solved],
        w[:solved],
        offsets.copy(),
        gaps.copy(),
        sweeps.copy(),
        status.astype(np.int64),
    )
