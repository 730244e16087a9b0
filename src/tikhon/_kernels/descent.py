"""Whole paths of strengths in one call: coordinate-wise penalties on least squares."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tikhon import _native
from tikhon._kernels.checks import REAL, check_array, compressed
from tikhon._kernels.processor import resolve_threads
from tikhon.typing import Float64Array, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse

__all__ = [
    "CONVERGED",
    "STALLED",
    "STOPPED",
    "ColumnPath",
    "ColumnProblem",
    "GramPath",
    "GroupBlocks",
    "Stop",
    "TurnedGroups",
    "column_path",
    "gram_path",
    "group_columns",
    "group_descent",
]

CONVERGED, STALLED, STOPPED = 0, 1, 2
"""How the solution of one strength ended."""


class Stop(_native.Stop):
    """A request to end early, by another thread (`request`) or by the clock.

    Parameters
    ----------
    seconds : float, default infinity
        From now on, after which the time is up.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        super().__init__(seconds)
        self._deadline = time.perf_counter() + seconds

    @classmethod
    def after(cls, max_seconds: float | None) -> Stop:
        """Return a stop after a user's `max_seconds`; None is never."""
        if max_seconds is None:
            return cls()
        if not max_seconds > 0:
            raise ValueError(f"`max_seconds` must be > 0 or None, got {max_seconds}.")
        return cls(float(max_seconds))

    @property
    def now(self) -> bool:
        """Whether to end: it was asked for, or the time is up."""
        return self.requested or self.late

    @property
    def remaining(self) -> float:
        """Seconds until the time is up, 0 once it is."""
        return max(0.0, self._deadline - time.perf_counter())


@dataclass(frozen=True, slots=True, eq=False)
class GramPath:
    """Solutions of a path, (L, m), how each ended, and how many were solved before the stop."""

    coefs: Float64Array
    status: NDArray[np.intc]
    solved: int


def gram_path(
    K: Float64Array,
    c: Float64Array,
    penalty: tuple[Float64Array, Float64Array, Float64Array, Float64Array],
    lams: Float64Array,
    *,
    relative: float,
    absolute: float,
    start: Float64Array | None = None,
    stop: Stop | None = None,
) -> GramPath:
    """Minimise ``w'Kw / 2 - c'w`` plus a coordinate penalty at each strength, in order.

    Parameters
    ----------
    K
        Symmetric, shape (m, m), rows contiguous.
    c
        Shape (m,).
    penalty
        Sizes, squares, lower and upper bounds: four arrays of shape (m,).
    lams
        Strengths, shape (L,).
    relative, absolute
        A coordinate is at rest when its slope exceeds what the penalty allows by at most
        ``relative * lam * l1 + absolute``.
    start
        Where the first strength starts, shape (m,); zeros when None.
    stop
        Ends the work early; rows of `coefs` from `solved` on then hold the last iterate.
    """
    m = len(c)
    if m == 0:
        return GramPath(np.empty((len(lams), 0)), np.zeros(len(lams), np.intc), len(lams))
    if not (K.dtype == np.float64 and K.shape == (m, m) and K.strides[1] == K.itemsize):
        raise ValueError(f"`K` must be a float64 matrix of shape {(m, m)} with contiguous rows.")
    check_array("c", c, np.float64, (m,))
    for name, part in zip(("l1", "l2", "lower", "upper"), penalty, strict=True):
        check_array(name, part, np.float64, (m,))
    check_array("lams", lams, np.float64, (None,))
    w = np.zeros(m) if start is None else np.array(start, dtype=np.float64)
    check_array("start", w, np.float64, (m,), written=True)
    out = np.empty((len(lams), m))
    status = np.empty(len(lams), dtype=np.intc)
    solved = _native.gram_path(
        K,
        c,
        *penalty,
        lams,
        relative,
        absolute,
        w,
        out,
        status,
        stop or Stop(),
    )
    return GramPath(out, status, solved)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnPath:
    """Solutions of a path in compressed rows, how each ended, and how many were solved.

    Attributes
    ----------
    starts : ndarray of shape (L + 1,)
    columns, values : ndarray of shape (nonzero,)
        Those of strength k are entries ``starts[k]`` to ``starts[k + 1]``.
    status : ndarray of shape (L,)
    solved : int
    """

    starts: IntArray
    columns: IntArray
    values: Float64Array
    status: NDArray[np.intc]
    solved: int


@dataclass(frozen=True, slots=True, eq=False)
class ColumnProblem:
    """Rows and scales of one training set, for `column_path`.

    Attributes
    ----------
    p, y : ndarray of shape (n,)
        Row weights summing to 1, and targets about their weighted mean.
    mean, unit : ndarray of shape (d,)
        What columns are centred by and divided by.
    """

    p: Float64Array
    y: Float64Array
    mean: Float64Array
    unit: Float64Array


def column_path(
    X: sparse.csc_array | FloatArray,
    problem: ColumnProblem,
    penalty: tuple[Float64Array, Float64Array, Float64Array, Float64Array],
    lams: Float64Array,
    *,
    gap: float,
    shift: Float64Array | None = None,
    start: Float64Array | None = None,
    stop: Stop | None = None,
    threads: int | None = None,
) -> ColumnPath:
    """Minimise ``sum p (y - x~ w)^2 / 2`` plus a coordinate penalty at each strength, in order.

    Parameters
    ----------
    X
        Columns: compressed sparse, or dense in Fortran order; shape (n, d).
    problem
        ``x~ = (x - mean) / unit`` with row weights p; for a dense X, after `shift` is subtracted.
    penalty
        Sizes, squares, lower and upper bounds: four arrays of shape (d,).
    lams
        Strengths, shape (L,).
    gap
        Duality gap to reach, relative to the objective of zero coefficients.
    shift
        For a dense X, shape (d,); zeros when None.
    start
        Where the first strength starts, shape (d,); zeros when None.
    """
    n, d = X.shape
    for name, wanted in (("p", n), ("y", n), ("mean", d), ("unit", d)):
        check_array(name, getattr(problem, name), np.float64, (wanted,))
    for name, part in zip(("l1", "l2", "lower", "upper"), penalty, strict=True):
        check_array(name, part, np.float64, (d,))
    check_array("lams", lams, np.float64, (None,))
    w = np.zeros(d) if start is None else np.array(start, dtype=np.float64)
    check_array("start", w, np.float64, (d,), written=True)
    table = (problem.p, problem.y, problem.mean, problem.unit)
    rest = (*table, *penalty, lams, gap, w, resolve_threads(threads), stop or Stop())
    if isinstance(X, np.ndarray):
        if X.dtype not in REAL or not X.flags.f_contiguous:
            raise ValueError("`X` must be a float32 or float64 matrix in Fortran order.")
        shift = np.zeros(d) if shift is None else shift
        check_array("shift", shift, np.float64, (d,))
        return ColumnPath(*_native.dense_column_path(X, shift, *rest))
    values, rows, starts = compressed(X)
    return ColumnPath(*_native.sparse_column_path(values, rows, starts, *rest))


@dataclass(frozen=True, slots=True, eq=False)
class GroupBlocks:
    """Columns in groups, for `group_descent`.

    Attributes
    ----------
    members : ndarray of int64, shape (m,)
        Columns, group after group.
    starts : ndarray of int64, shape (groups + 1,)
        Places in `members`.
    weight, curvature : ndarray of shape (groups,)
        The penalty's weight, and a bound on the eigenvalues of the group's block of K.
    l1 : ndarray of shape (m,)
        Sizes, column by column.
    """

    members: IntArray
    starts: IntArray
    weight: Float64Array
    curvature: Float64Array
    l1: Float64Array


def group_descent(
    K: Float64Array,
    blocks: GroupBlocks,
    chosen: IntArray,
    lam: float,
    W: Float64Array,
    G: Float64Array,
    *,
    sweeps: int,
    stop: Stop,
) -> float:
    """Sweep over some groups, each to the minimum of its own problem; W and G change in place.

    Parameters
    ----------
    K
        Symmetric, shape (m, m), rows contiguous.
    blocks
        The groups of the m columns.
    chosen
        Numbers of the groups to visit.
    W, G
        Coefficients and correlations ``C - K W``, shape (targets, m).

    Returns
    -------
    float
        How far the last sweep moved: the largest ``curvature ||change||`` of a group.
    """
    m = len(K)
    if m == 0:
        return 0.0
    if not (K.dtype == np.float64 and K.shape == (m, m) and K.strides[1] == K.itemsize):
        raise ValueError("`K` must be a square float64 matrix with contiguous rows.")
    groups = len(blocks.weight)
    check_array("members", blocks.members, np.int64, (m,))
    check_array("starts", blocks.starts, np.int64, (groups + 1,))
    check_array("weight", blocks.weight, np.float64, (groups,))
    check_array("curvature", blocks.curvature, np.float64, (groups,))
    check_array("l1", blocks.l1, np.float64, (m,))
    check_array("chosen", chosen, np.int64, (None,))
    check_array("W", W, np.float64, (None, m), written=True)
    check_array("G", G, np.float64, W.shape, written=True)
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < groups):
        raise IndexError(f"`chosen` must name groups below {groups}, got {chosen.max()}.")
    return _native.group_descent(
        K,
        blocks.members,
        blocks.starts,
        blocks.weight,
        blocks.curvature,
        blocks.l1,
        chosen,
        lam,
        sweeps,
        W,
        G,
        stop,
    )


@dataclass(frozen=True, slots=True, eq=False)
class TurnedGroups:
    """Groups of columns, orthogonal to each other within a group, for `group_columns`.

    Attributes
    ----------
    A : ndarray of float32 or float64, shape (n, m)
        Columns are contiguous.
    starts : ndarray of int64, shape (groups + 1,)
        First column of each group, and the end of the last.
    weight : ndarray of shape (groups,)
    square : ndarray of shape (m,)
        Squared length of each column.
    """

    A: FloatArray
    starts: IntArray
    weight: Float64Array
    square: Float64Array


def group_columns(
    groups: TurnedGroups,
    chosen: IntArray,
    lam: float,
    W: Float64Array,
    R: Float64Array,
    *,
    sweeps: int,
    enough: float,
    stop: Stop,
) -> float:
    """Sweep over some groups on the rows, each to its minimum; W and R change in place.

    Parameters
    ----------
    groups
        The groups of the m columns.
    chosen
        Numbers of the groups to visit.
    W, R
        Coefficients, shape (targets, m), and residuals, shape (targets, n).
    sweeps
        How many at most.
    enough
        End once a sweep's sum of ``||A_g change||^2 / 2`` is no larger.

    Returns
    -------
    float
        That sum of the last sweep.
    """
    n, m = groups.A.shape
    count = len(groups.weight)
    if groups.A.dtype not in REAL or (m > 1 and groups.A.strides[0] != groups.A.itemsize):
        raise ValueError("`A` must be a float32 or float64 matrix with contiguous columns.")
    check_array("starts", groups.starts, np.int64, (count + 1,))
    check_array("weight", groups.weight, np.float64, (count,))
    check_array("square", groups.square, np.float64, (m,))
    check_array("chosen", chosen, np.int64, (None,))
    check_array("W", W, np.float64, (None, m), written=True)
    check_array("R", R, np.float64, (len(W), n), written=True)
    if len(chosen) and not (chosen.min() >= 0 and chosen.max() < count):
        raise IndexError(f"`chosen` must name groups below {count}, got {chosen.max()}.")
    return _native.group_columns(
        groups.A,
        groups.starts,
        groups.weight,
        groups.square,
        chosen,
        lam,
        sweeps,
        enough,
        W,
        R,
        stop,
    )
