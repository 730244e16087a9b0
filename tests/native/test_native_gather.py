"""`gather` against NumPy: every entry is rounded as the formula says, so equality is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_layouts import INSTRUCTION_SETS, LAYOUTS, THREADS, limited_to

from tikhon import _kernels


def expected(X, rows, shift, column_scale, scale):
    Z = X[rows].astype(np.float64)
    if shift is not None:
        Z = Z - shift
    if column_scale is not None:
        Z = Z * column_scale
    if scale is not None:
        Z = Z * scale[:, None]
    return Z


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(deadline=None)
@given(
    n=st.integers(1, 400),
    d=st.integers(1, 40),
    kind=st.sampled_from(["range", "sorted", "dense sorted", "random", "descending"]),
    shifted=st.booleans(),
    column_scaled=st.booleans(),
    scaled=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    threads=st.sampled_from(THREADS),
    highest=st.sampled_from(INSTRUCTION_SETS),
    seed=st.integers(0, 2**32 - 1),
)
def test_gather_is_the_formula(
    layout, n, d, kind, shifted, column_scaled, scaled, dtype, threads, highest, seed
):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(dtype)
    start = int(rng.integers(n)) if kind == "range" else 0
    rows = {
        "range": np.arange(start, n),
        "sorted": np.sort(rng.integers(n, size=n)),
        "dense sorted": np.flatnonzero(rng.random(n) < 0.9),
        "random": rng.integers(n, size=2 * n),
        "descending": np.arange(n)[::-1].copy(),
    }[kind]
    shift = rng.standard_normal(d) if shifted else None
    column_scale = rng.standard_normal(d) if column_scaled else None
    scale = rng.standard_normal(len(rows)) if scaled else None
    out = np.full((len(rows), d), np.nan)
    with limited_to(highest):
        _kernels.gather(
            LAYOUTS[layout](X),
            out,
            index=None if kind == "range" else rows,
            start=start,
            shift=shift,
            column_scale=column_scale,
            scale=scale,
            threads=threads,
        )
    np.testing.assert_array_equal(out, expected(X, rows, shift, column_scale, scale))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(20_000, 37), (3, 5000), (1, 1)])
def test_large_gathers_are_the_formula_too(shape, order):
    rng = np.random.default_rng(1)
    X = np.asarray(rng.standard_normal(shape), order=order)
    rows = rng.permutation(shape[0])
    shift, scale = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    out = np.empty(shape)
    _kernels.gather(X, out, index=rows, shift=shift, scale=scale)
    np.testing.assert_array_equal(out, expected(X, rows, shift, None, scale))


@pytest.mark.parametrize(("columns", "shape"), [(2, (0, 2)), (0, (3, 0))])
def test_a_gather_of_no_rows_or_no_columns_writes_nothing(columns, shape):
    memory = np.full(8, 7.0)
    _kernels.gather(np.ones((3, columns)), memory[:0].reshape(shape))
    assert (memory == 7.0).all()


@pytest.mark.parametrize("wrong", [[0, 3], [-1, 0]])
def test_rows_that_do_not_exist_are_named_and_nothing_is_written(wrong):
    out = np.full((2, 2), 7.0)
    with pytest.raises(IndexError, match=r"`index` must lie in \[0, 3\), got (3|-1) at position"):
        _kernels.gather(np.ones((3, 2)), out, index=np.array(wrong))
    assert (out == 7.0).all()


@pytest.mark.parametrize("start", [-1, 2, 2**62])
def test_ranges_that_leave_the_matrix_are_refused(start):
    with pytest.raises(IndexError):
        _kernels.gather(np.ones((3, 2)), np.empty((2, 2)), start=start)


def test_the_buffer_must_not_be_part_of_the_matrix():
    X = np.ones((4, 2))
    with pytest.raises(ValueError, match="`out` must not share memory with `X`"):
        _kernels.gather(X, X[:2])
