"""`scan` against NumPy, and its laws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from native_layouts import INSTRUCTION_SETS, LAYOUTS, THREADS, limited_to

from tikhon import _kernels

SHAPES = [(1, 1), (1, 900), (5000, 1), (70_001, 2), (301, 40), (2049, 33), (40, 1300), (1100, 700)]


def random_matrix(shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def same(a, b):
    return all(
        getattr(a, name).tobytes() == getattr(b, name).tobytes()
        for name in ("sums", "minimum", "maximum", "nonfinite")
    )


def plain_scan(X):
    """The same by NumPy."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = X.sum(axis=0, dtype=np.float64)
    low = np.where(np.isnan(X), np.inf, X).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(X), -np.inf, X).max(axis=0, initial=-np.inf)
    return sums, low, high, (~np.isfinite(X)).sum(axis=0)


@pytest.mark.parametrize("layout", LAYOUTS)
@settings(deadline=None)
@given(
    X=hnp.arrays(
        st.sampled_from([np.float32, np.float64]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=90),
        elements=st.sampled_from([0.0, -0.0, 1.5, -3.0, 1e30, np.nan, np.inf, -np.inf])
        | st.floats(-1e6, 1e6, width=32),
        fill=st.just(0.25),
    ),
    threads=st.sampled_from(THREADS),
    highest=st.sampled_from(INSTRUCTION_SETS),
)
def test_scan_agrees_with_numpy(layout, X, threads, highest):
    with limited_to(highest):
        got = _kernels.scan(LAYOUTS[layout](X), threads=threads)
    sums, low, high, nonfinite = plain_scan(X)
    with np.errstate(invalid="ignore"):
        scale = np.abs(X.astype(np.float64)).sum(axis=0)
        close = np.abs(got.sums - sums) <= 1e-14 * scale
    finite = np.isfinite(scale)
    assert close[finite].all()
    np.testing.assert_array_equal(got.sums[~finite], sums[~finite])
    np.testing.assert_array_equal(got.minimum, low)
    np.testing.assert_array_equal(got.maximum, high)
    np.testing.assert_array_equal(got.nonfinite, nonfinite)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_sums_lose_no_more_than_a_blocked_sum_may(shape, order, dtype):
    X = random_matrix(shape, dtype).astype(dtype, order=order)
    sums = _kernels.scan(X).sums
    for j in range(0, shape[1], 97):
        column = X[:, j].astype(np.float64)
        assert abs(sums[j] - math.fsum(column)) <= 1e-14 * np.abs(column).sum()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scan_is_bitwise_the_same_for_any_threads_and_instruction_set(shape, layout):
    X = LAYOUTS[layout](random_matrix(shape))
    first = _kernels.scan(X, threads=1)
    for highest in INSTRUCTION_SETS:
        with limited_to(highest):
            assert all(same(_kernels.scan(X, threads=threads), first) for threads in THREADS)


@pytest.mark.parametrize("d", [2, 7, 31])
@pytest.mark.parametrize("extra", [0, 1, 3, 200])
def test_no_row_of_a_narrow_matrix_is_left_out_or_counted_twice(d, extra):
    X = np.arange((4096 + extra) * d, dtype=np.float64).reshape(-1, d)
    got = _kernels.scan(X)
    np.testing.assert_array_equal(got.sums, X.sum(axis=0))
    np.testing.assert_array_equal(got.minimum, X[0])
    np.testing.assert_array_equal(got.maximum, X[-1])


def test_scaling_a_column_by_a_power_of_two_scales_its_scan_exactly():
    X = random_matrix((3000, 20))
    one, two = _kernels.scan(X), _kernels.scan(X * 2.0**-7)
    np.testing.assert_array_equal(two.sums, one.sums * 2.0**-7)
    np.testing.assert_array_equal(two.minimum, one.minimum * 2.0**-7)
    np.testing.assert_array_equal(two.maximum, one.maximum * 2.0**-7)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("position", [0, 511, 512, 40_000, 99_999])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_one_wrong_entry_is_counted_wherever_it_is(order, position, value):
    X = np.zeros((100_000, 3), order=order)
    X[position, 1] = value
    np.testing.assert_array_equal(_kernels.scan(X).nonfinite, [0, 1, 0])


def test_finite_entries_whose_sum_overflows_are_not_counted():
    got = _kernels.scan(np.full((10, 1), 1e308))
    assert got.sums[0] == np.inf
    assert got.nonfinite[0] == 0


def test_a_matrix_without_rows_has_empty_sums_and_an_empty_range():
    got = _kernels.scan(np.empty((0, 2)))
    np.testing.assert_array_equal(got.sums, [0.0, 0.0])
    np.testing.assert_array_equal(got.minimum, [np.inf, np.inf])
    np.testing.assert_array_equal(got.maximum, [-np.inf, -np.inf])
    np.testing.assert_array_equal(got.nonfinite, [0, 0])
