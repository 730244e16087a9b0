"""One pass over a table: scan its columns, gather rows, compensated products, hashes of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from tikhon import _native
from tikhon._kernels.checks import (
    check_apart,
    check_array,
    check_matrix,
    check_optional,
    compressed,
)
from tikhon._kernels.processor import resolve_threads
from tikhon.typing import Float64Array, FloatArray, IntArray

if TYPE_CHECKING:
    from scipy import sparse


@dataclass(frozen=True, slots=True, eq=False)
class ColumnScan:
    """What one pass over a matrix says of each column; arrays of shape (n_features,).

    Attributes
    ----------
    sums
        Sums in float64; not finite when an entry is not, or when the sum overflows.
    minimum, maximum
        Over entries that are not NaN; +inf and -inf for a column without any.
    nonfinite
        Number of NaN and infinite entries.
    """

    sums: Float64Array
    minimum: Float64Array
    maximum: Float64Array
    nonfinite: IntArray


def scan(X: FloatArray, *, threads: int | None = None) -> ColumnScan:
    """Sum, minimum, maximum and number of non-finite entries of every column, in one pass.

    Parameters
    ----------
    X
        Matrix of shape (n_samples, n_features).
    threads
        Number of threads; `thread_count()` when None.

    Raises
    ------
    TypeError, ValueError
        When `X` or `threads` is not as described.
    """
    check_matrix("X", X)
    d = X.shape[1]
    sums, minimum, maximum = np.empty(d), np.empty(d), np.empty(d)
    nonfinite = np.empty(d, dtype=np.int64)
    _native.scan(X, sums, minimum, maximum, nonfinite, resolve_threads(threads))
    return ColumnScan(sums, minimum, maximum, nonfinite)


def gather(
    X: FloatArray,
    out: Float64Array,
    *,
    index: IntArray | None = None,
    start: int = 0,
    shift: Float64Array | None = None,
    column_scale: Float64Array | None = None,
    scale: Float64Array | None = None,
    threads: int | None = None,
) -> None:
    """Copy chosen rows into `out`, shifted and scaled.

    `out[i, j] = (X[index[i], j] - shift[j]) * column_scale[j] * scale[i]` in float64, from left
    to right.

    Parameters
    ----------
    X
        Matrix of shape (n_samples, n_features).
    out
        Buffer of shape (m, n_features) in C order, which shares no memory with `X`.
    index
        The rows, shape (m,), in any order and with repetitions; None for the m rows from `start`.
    start
        The first row, when `index` is None.
    shift, column_scale
        Shape (n_features,); None for 0 and 1.
    scale
        Shape (m,); None for 1.
    threads
        Number of threads; `thread_count()` when None.

    Raises
    ------
    IndexError
        When a row does not exist; nothing is written then.
    TypeError, ValueError
        When an argument is not as described.
    """
    check_matrix("X", X)
    d = X.shape[1]
    check_array("out", out, np.float64, (None, d), written=True)
    if np.may_share_memory(X, out):
        raise ValueError("`out` must not share memory with `X`. Pass a buffer of its own.")
    m = out.shape[0]
    if index is not None:
        check_array("index", index, np.int64, (m,))
        if start != 0:
            raise ValueError(f"`start` must be 0 when `index` is given, got {start!r}.")
    check_optional("shift", shift, np.float64, (d,))
    check_optional("column_scale", column_scale, np.float64, (d,))
    check_optional("scale", scale, np.float64, (m,))
    _native.gather(X, index, start, shift, column_scale, scale, out, resolve_threads(threads))


def residual_dd(
    X: FloatArray,
    y: Float64Array,
    w_hi: Float64Array,
    w_lo: Float64Array,
    b_hi: float,
    b_lo: float,
    r_hi: Float64Array,
    r_lo: Float64Array,
    *,
    shift: Float64Array | None = None,
    threads: int | None = None,
) -> None:
    """Write the residual `r = y - (X - 1 shift') w - b`, computed with 32 digits.

    Numbers with `_hi` and `_lo` are the sum of the two; the pairs written do not overlap: `r_hi`
    is `r` rounded to float64. The error is a few n_features 2^-106 times the sum of the absolute
    values of the terms. Products are exact between 1e-290 and 1e300 in absolute value, factors
    up to 6e299.

    Parameters
    ----------
    X
        Matrix of shape (n_samples, n_features).
    y
        Shape (n_samples,).
    w_hi, w_lo
        Shape (n_features,).
    b_hi, b_lo
        The intercept.
    r_hi, r_lo
        Written; shape (n_samples,).
    shift
        Subtracted from every row, without rounding; shape (n_features,), None for 0.
    threads
        Number of threads; `thread_count()` when None.

    Raises
    ------
    TypeError, ValueError
        When an argument is not as described.
    """
    check_matrix("X", X)
    n, d = X.shape
    check_array("y", y, np.float64, (n,))
    check_array("w_hi", w_hi, np.float64, (d,))
    check_array("w_lo", w_lo, np.float64, (d,))
    check_array("r_hi", r_hi, np.float64, (n,), written=True)
    check_array("r_lo", r_lo, np.float64, (n,), written=True)
    check_optional("shift", shift, np.float64, (d,))
    inputs = {"X": X, "y": y, "w_hi": w_hi, "w_lo": w_lo, "shift": shift}
    check_apart({"r_hi": r_hi, "r_lo": r_lo}, inputs)
    _native.residual_dd(
        X, shift, y, w_hi, w_lo, float(b_hi), float(b_lo), r_hi, r_lo, resolve_threads(threads)
    )


def correlate_dd(
    X: FloatArray,
    s: Float64Array | None,
    r_hi: Float64Array,
    r_lo: Float64Array,
    g_hi: Float64Array,
    g_lo: Float64Array,
    *,
    shift: Float64Array | None = None,
    threads: int | None = None,
) -> tuple[float, float]:
    """Add `(X - 1 shift')' diag(s) r` to `g`, computed with 32 digits; return the sum of `s r`.

    Accuracy and range are those of `residual_dd`, with n_samples in place of n_features.

    Parameters
    ----------
    X
        Matrix of shape (n_samples, n_features).
    s
        Weights, shape (n_samples,); None for 1.
    r_hi, r_lo
        Shape (n_samples,).
    g_hi, g_lo
        Changed in place; shape (n_features,).
    shift
        Subtracted from every row, without rounding; shape (n_features,), None for 0.
    threads
        Number of threads; `thread_count()` when None.

    Returns
    -------
    tuple
        The sum of `s r` as a pair, high part first.

    Raises
    ------
    TypeError, ValueError
        When an argument is not as described.
    """
    check_matrix("X", X)
    n, d = X.shape
    check_optional("s", s, np.float64, (n,))
    check_array("r_hi", r_hi, np.float64, (n,))
    check_array("r_lo", r_lo, np.float64, (n,))
    check_array("g_hi", g_hi, np.float64, (d,), written=True)
    check_array("g_lo", g_lo, np.float64, (d,), written=True)
    check_optional("shift", shift, np.float64, (d,))
    inputs = {"X": X, "s": s, "r_hi": r_hi, "r_lo": r_lo, "shift": shift}
    check_apart({"g_hi": g_hi, "g_lo": g_lo}, inputs)
    return _native.correlate_dd(X, shift, s, r_hi, r_lo, g_hi, g_lo, resolve_threads(threads))


def hash_rows(
    X: FloatArray | sparse.csr_array | sparse.csc_array,
    *,
    exponent: NDArray[np.int32] | None = None,
    threads: int | None = None,
) -> NDArray[np.uint64]:
    """Hash the content of every row to 64 bits.

    Rows of equal values have equal hashes, dense or sparse, in any memory order and either
    precision; 0 and -0 are equal, and so are all NaN. Entries that a sparse matrix stores twice
    are added.

    Parameters
    ----------
    X
        Matrix of shape (n_samples, n_features), dense or scipy.sparse; sparse matrices other than
        CSR are converted.
    exponent
        Powers of two, shape (n_features,), from -1074 to 1074: entries of column j are divided by
        `2 ** exponent[j]` first; what is below -1023 counts as -1023. None for 0.
    threads
        Number of threads; `thread_count()` when None.

    Returns
    -------
    ndarray
        Hashes, shape (n_samples,).

    Raises
    ------
    TypeError, ValueError
        When an argument is not as described.
    """
    if not isinstance(X, np.ndarray) and hasattr(X, "tocsr"):
        return _hash_csr_rows(X.tocsr(), exponent, resolve_threads(threads))
    dense = cast("FloatArray", X)
    check_matrix("X", dense)
    check_optional("exponent", exponent, np.int32, (dense.shape[1],))
    hashes = np.empty(dense.shape[0], dtype=np.uint64)
    _native.hash_rows(dense, exponent, hashes, resolve_threads(threads))
    return hashes


def _hash_csr_rows(
    X: sparse.csr_array, exponent: NDArray[np.int32] | None, threads: int
) -> NDArray[np.uint64]:
    values, columns, starts = compressed(X)
    n, d = X.shape
    check_optional("exponent", exponent, np.int32, (d,))
    hashes = np.empty(n, dtype=np.uint64)
    _native.hash_compressed_rows(values, columns, starts, d, exponent, hashes, threads)
    return hashes
