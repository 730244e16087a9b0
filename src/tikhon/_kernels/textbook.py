"""The loops of the textbook solvers: sweeps over columns, passes over mini-batches of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tikhon import _native
from tikhon._kernels.checks import REAL, check_array, check_optional, compressed
from tikhon.typing import Float64Array, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse

__all__ = ["Batches", "SweepColumns", "cyclic_sweep", "stochastic_pass"]


@dataclass(frozen=True, slots=True, eq=False)
class SweepColumns:
    """Row weights and columns' moments, for `cyclic_sweep`.

    Attributes
    ----------
    p : ndarray of shape (n,)
        Row weights summing to 1.
    shift : ndarray of shape (d,)
        Subtracted from the entries of a dense table.
    mean : ndarray of shape (d,)
        Of the columns after the shift.
    curvature : ndarray of shape (d,)
        ``sum_i p_i x~_ij^2`` about the mean.
    """

    p: Float64Array
    shift: Float64Array
    mean: Float64Array
    curvature: Float64Array


def cyclic_sweep(
    X: sparse.csc_array | FloatArray,
    columns: SweepColumns,
    penalty: tuple[Float64Array, Float64Array, Float64Array, Float64Array],
    lam: float,
    span: tuple[int, int],
    w: Float64Array,
    q: Float64Array,
    k: float,
) -> float:
    """Move each column of a span to the minimum of its own problem; w and q change in place.

    Parameters
    ----------
    X
        Columns: compressed sparse, or dense in Fortran order; shape (n, d).
    penalty
        Sizes, squares, lower and upper bounds: four arrays of shape (d,).
    span
        First column and the one after the last.
    w
        Coefficients, shape (d,).
    q, k
        The weighted residual is ``q + k p``.

    Returns
    -------
    float
        The new k.
    """
    n, d = X.shape
    check_array("p", columns.p, np.float64, (n,))
    for name in ("shift", "mean", "curvature"):
        check_array(name, getattr(columns, name), np.float64, (d,))
    for name, part in zip(("l1", "l2", "lower", "upper"), penalty, strict=True):
        check_array(name, part, np.float64, (d,))
    check_array("w", w, np.float64, (d,), written=True)
    check_array("q", q, np.float64, (n,), written=True)
    first, last = span
    if not 0 <= first <= last <= d:
        raise IndexError(f"`span` must lie within (0, {d}), got {span}.")
    rest = (columns.p, columns.mean, columns.curvature, *penalty, lam, first, last, w, q, k)
    if isinstance(X, np.ndarray):
        if X.dtype not in REAL or not X.flags.f_contiguous:
            raise ValueError("`X` must be a float32 or float64 matrix in Fortran order.")
        return _native.dense_cyclic_sweep(X, columns.shift, *rest)
    values, rows, starts = compressed(X)
    return _native.sparse_cyclic_sweep(values, rows, starts, *rest)


@dataclass(frozen=True, slots=True, eq=False)
class Batches:
    """Rows in the order of their batches, and the step of each batch, for `stochastic_pass`.

    Attributes
    ----------
    y : ndarray of shape (m,)
    weight : ndarray of shape (m,) or None
    size : int
        Rows in a batch; the last may have fewer.
    shrink, gain : ndarray of shape (batches,)
        ``w <- shrink w - gain g``.
    threshold : ndarray of shape (batches,) or None
        Of soft thresholding after the step.
    radius : float
        Of the ball that w is projected to; infinity for none.
    intercept : bool
    """

    y: Float64Array
    weight: Float64Array | None
    size: int
    shrink: Float64Array
    gain: Float64Array
    threshold: Float64Array | None
    radius: float
    intercept: bool


def stochastic_pass(
    X: Float64Array | sparse.csr_array,
    index: IntArray | None,
    batches: Batches,
    loss: tuple[str, float],
    w: Float64Array,
    total: Float64Array | None,
    offset: Float64Array,
    slopes: Float64Array | None = None,
) -> None:
    """Take one step for each batch; w, the sum of iterates and the offset change in place.

    Parameters
    ----------
    X
        Dense rows in the order of the batches, shape (m, d), or all rows, compressed.
    index
        For compressed rows: which of them, in the order of the batches, shape (m,).
    loss
        Name in `tikhon.losses`, and its parameter (0 if it has none).
    w, total
        Shape (d,); `total` gains every w before its step, None for no sum.
    offset
        b and the sum of its iterates, shape (2,).
    slopes
        Filled with the derivative of the loss found for each row, shape (m,); None for not.
    """
    m, d = len(batches.y), X.shape[1]
    count = -(-m // batches.size) if batches.size > 0 else 0
    if count == 0:
        raise ValueError(f"`batches` needs rows and a positive size, got {m} and {batches.size}.")
    check_array("y", batches.y, np.float64, (m,))
    check_optional("weight", batches.weight, np.float64, (m,))
    check_array("shrink", batches.shrink, np.float64, (count,))
    check_array("gain", batches.gain, np.float64, (count,))
    check_optional("threshold", batches.threshold, np.float64, (count,))
    check_array("w", w, np.float64, (d,), written=True)
    if total is not None:
        check_array("total", total, np.float64, (d,), written=True)
    check_array("offset", offset, np.float64, (2,), written=True)
    if slopes is not None:
        check_array("slopes", slopes, np.float64, (m,), written=True)
    rest = (
        batches.y,
        batches.weight,
        batches.size,
        batches.shrink,
        batches.gain,
        batches.threshold,
        batches.radius,
        batches.intercept,
        *loss,
        w,
        total,
        offset,
        slopes,
    )
    if isinstance(X, np.ndarray):
        check_array("X", X, np.float64, (m, d))
        _native.dense_stochastic_pass(X, *rest)
        return
    assert index is not None
    check_array("index", index, np.int64, (m,))
    if m and not (index.min() >= 0 and index.max() < X.shape[0]):
        raise IndexError(f"`index` must name rows below {X.shape[0]}, got {index.max()}.")
    values, columns, starts = compressed(X)
    _native.sparse_stochastic_pass(values, columns, starts, index, *rest)
