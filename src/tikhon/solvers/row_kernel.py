"""The matrix of inner products between rows, ``(X - 1 c') F^2 (X - 1 c')'``, F = diag(factor).

For wide tables this is the whole cost of ridge: one symmetric product, block of columns by block
of columns, so that no second copy of the table exists.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from tikhon.data.dense import DenseDesign
from tikhon.data.design import Design
from tikhon.data.moments import Cells
from tikhon.data.sparse import SparseDesign
from tikhon.typing import Float64Array

SAFE_TRACE = 30.0
"""Raw over centred trace up to which a matrix of inner products may be centred afterwards."""

__all__ = ["cell_column_sums", "row_kernel"]


def row_kernel(
    design: Design, shift: Float64Array, factor: Float64Array | None = None
) -> Float64Array:
    """Return the (n, n) matrix of inner products of shifted, scaled rows.

    A shift may be left out where the means are small beside the spread: whoever centres the
    matrix afterwards gets the same, and the table needs no copy.
    """
    if isinstance(design, SparseDesign):
        return _sparse_row_kernel(design, shift, factor)
    if factor is None:
        whole = _unshifted(design)
        if whole is not None:
            return whole
    n = design.shape[0]
    K = np.zeros((n, n), order="F")
    for _, Z in design.column_blocks(shift, factor):
        K = blas.dsyrk(1.0, Z.T, beta=1.0, c=K, trans=1, overwrite_c=1)
    return symmetrize(K)


def _unshifted(design: Design) -> Float64Array | None:
    """Inner products of the rows as they are, straight from the caller's array, if that is safe.

    Centring afterwards loses the digits by which the raw trace exceeds the centred one.
    """
    if not isinstance(design, DenseDesign) or design.X.dtype != np.float64:
        return None
    X = design.X
    if X.flags.c_contiguous:
        K = symmetrize(blas.dsyrk(1.0, X.T, trans=1))
    elif X.flags.f_contiguous:
        K = symmetrize(blas.dsyrk(1.0, X))
    else:
        return None
    raw = float(np.trace(K))
    centred = raw - float(K.sum()) / len(K)
    return K if raw <= SAFE_TRACE * centred else None


def _sparse_row_kernel(
    design: SparseDesign, shift: Float64Array, factor: Float64Array | None
) -> Float64Array:
    squares = np.ones_like(shift) if factor is None else factor**2
    X = design.X.tocsr()
    cross = np.asarray(X @ (squares * shift))
    K = np.asfortranarray(((X * squares) @ X.T).toarray(), dtype=np.float64)
    K -= cross[:, None]
    K -= cross
    K += float(shift @ (squares * shift))
    return K


def symmetrize(K: Float64Array) -> Float64Array:
    """Fill the lower triangle from the upper one, in place, row by row."""
    for i in range(1, len(K)):
        K[i, :i] = K[:i, i]
    return K


def cell_column_sums(
    design: Design, s: Float64Array | None, cells: Cells, shift: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return ``sum s (x - shift)`` and ``sum s (x - shift)^2`` by cell and column: (C, d)."""
    if isinstance(design, SparseDesign):
        return _sparse_column_sums(design, s, cells, shift)
    first = np.zeros((len(cells), design.shape[1]))
    second = np.zeros_like(first)
    for start, Z in design.column_blocks(shift, None):
        columns = slice(start, start + Z.shape[1])
        for cell in range(len(cells)):
            rows = cells.rows(cell)
            part = Z[rows]
            if s is None:
                first[cell, columns] = part.sum(axis=0)
                second[cell, columns] = np.einsum("ij,ij->j", part, part)
            else:
                first[cell, columns] = s[rows] @ part
                second[cell, columns] = np.einsum("i,ij,ij->j", s[rows], part, part)
    return first, second


def _sparse_column_sums(
    design: SparseDesign, s: Float64Array | None, cells: Cells, shift: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """The same from stored entries, and from how much weight is not stored."""
    X = design.columns
    rows = cells.order[cells.bounds[0] :]
    cell = np.repeat(np.arange(len(cells)), np.diff(cells.bounds))
    weights = np.ones(len(rows)) if s is None else s[rows]
    members = sparse.csr_array((weights, (cell, rows)), shape=(len(cells), X.shape[0]))
    about = np.repeat(shift, np.diff(X.indptr))
    squares = (np.asarray(X.data, dtype=np.float64) - about) ** 2
    total: Float64Array = members.sum(axis=1)[:, None]

    def summed(values: Float64Array) -> Float64Array:
        entries = sparse.csc_array((values, X.indices, X.indptr), shape=X.shape)
        return np.asarray((members @ entries).toarray(), dtype=np.float64)

    implied = np.maximum(total - summed(np.ones(len(squares))), 0.0)
    first = summed(np.asarray(X.data, dtype=np.float64)) - total * shift
    return first, summed(squares) + implied * shift**2
