"""The double-double products against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from native_layouts import INSTRUCTION_SETS, LAYOUTS, THREADS, limited_to

from tikhon import _kernels

UNIT = Fraction(1, 2**106)


def pairs(values):
    """Random pairs near `values` that do not overlap, as two arrays."""
    rng = np.random.default_rng(len(values))
    return values, values * rng.uniform(-(2.0**-54), 2.0**-54, len(values))


def exact(hi, lo):
    return [Fraction(float(a)) + Fraction(float(b)) for a, b in zip(hi, lo, strict=True)]


def fractions(values):
    return [Fraction(float(v)) for v in values]


def non_overlapping(hi, lo):
    return bool((hi + lo == hi).all())


def make_data(seed, n, d, mean, dtype):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) + mean).astype(dtype)
    shift = X.mean(axis=0, dtype=np.float64)
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-8, 8)
    return rng, X, shift, y


cases = {
    "seed": st.integers(0, 2**32 - 1),
    "n": st.integers(1, 90),
    "d": st.integers(1, 20),
    "mean": st.sampled_from([0.0, 1e6, -1e12]),
    "shifted": st.booleans(),
    "dtype": st.sampled_from([np.float32, np.float64]),
    "threads": st.sampled_from(THREADS),
    "highest": st.sampled_from(INSTRUCTION_SETS),
}


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@settings(max_examples=30, deadline=None)
@given(**cases)
def test_residuals_have_thirty_digits(layout, seed, n, d, mean, shifted, dtype, threads, highest):
    rng, X, shift, y = make_data(seed, n, d, mean, dtype)
    w_hi, w_lo = pairs(rng.standard_normal(d))
    r_hi, r_lo = np.empty(n), np.empty(n)
    with limited_to(highest):
        _kernels.residual_dd(
            LAYOUTS[layout](X),
            y,
            w_hi,
            w_lo,
            0.1,
            1e-18,
            r_hi,
            r_lo,
            shift=shift if shifted else None,
            threads=threads,
        )
    assert non_overlapping(r_hi, r_lo)
    w = exact(w_hi, w_lo)
    b = Fraction(0.1) + Fraction(1e-18)
    c = fractions(shift) if shifted else [Fraction(0)] * d
    for i, got in enumerate(exact(r_hi, r_lo)):
        terms = [(x - m) * v for x, m, v in zip(fractions(X[i]), c, w, strict=True)]
        truth = Fraction(float(y[i])) - sum(terms) - b
        size = abs(Fraction(float(y[i]))) + sum(abs(t) for t in terms) + b
        assert abs(got - truth) <= 4 * (d + 2) * UNIT * size


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@settings(max_examples=30, deadline=None)
@given(weighted=st.booleans(), **cases)
def test_correlations_have_thirty_digits(
    layout, weighted, seed, n, d, mean, shifted, dtype, threads, highest
):
    rng, X, shift, _ = make_data(seed, n, d, mean, dtype)
    s = rng.random(n) if weighted else None
    r_hi, r_lo = pairs(rng.standard_normal(n))
    g_hi, g_lo = pairs(rng.standard_normal(d))
    before = exact(g_hi, g_lo)
    with limited_to(highest):
        total = _kernels.correlate_dd(
            LAYOUTS[layout](X),
            s,
            r_hi,
            r_lo,
            g_hi,
            g_lo,
            shift=shift if shifted else None,
            threads=threads,
        )
    assert non_overlapping(g_hi, g_lo)
    q = exact(r_hi, r_lo)
    if s is not None:
        q = [a * b for a, b in zip(fractions(s), q, strict=True)]
    bound = 4 * (n + 4) * UNIT
    assert abs(sum(fractions(total)) - sum(q)) <= bound * sum(abs(v) for v in q)
    c = fractions(shift) if shifted else [Fraction(0)] * d
    for j, got in enumerate(exact(g_hi, g_lo)):
        terms = [(x - c[j]) * v for x, v in zip(fractions(X[:, j]), q, strict=True)]
        size = abs(before[j]) + sum(abs(t) for t in terms)
        assert abs(got - before[j] - sum(terms)) <= bound * size


@pytest.mark.parametrize("shape", [(1, 1), (5000, 7), (1300, 140), (257, 600)])
@pytest.mark.parametrize("shifted", [False, True])
def test_results_are_bitwise_the_same_for_any_layout_threads_and_instruction_set(shape, shifted):
    n, d = shape
    rng = np.random.default_rng(n)
    X = rng.standard_normal(shape).astype(np.float32)
    shift = rng.standard_normal(d) if shifted else None
    y, s = rng.standard_normal(n), rng.random(n)
    w_hi, w_lo = pairs(rng.standard_normal(d))

    def run(matrix, threads):
        r_hi, r_lo, g_hi, g_lo = np.empty(n), np.empty(n), np.zeros(d), np.zeros(d)
        _kernels.residual_dd(
            matrix, y, w_hi, w_lo, 0.3, 0.0, r_hi, r_lo, shift=shift, threads=threads
        )
        total = _kernels.correlate_dd(
            matrix, s, r_hi, r_lo, g_hi, g_lo, shift=shift, threads=threads
        )
        return [a.tobytes() for a in (r_hi, r_lo, g_hi, g_lo, np.array(total))]

    first = run(X, 1)
    for dtype in (np.float32, np.float64):
        for layout in LAYOUTS.values():
            matrix = layout(X.astype(dtype))
            for highest in INSTRUCTION_SETS:
                with limited_to(highest):
                    assert all(run(matrix, threads) == first for threads in THREADS)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(70_000, 3), (1100, 1100), (3000, 60)])
def test_products_of_whole_numbers_are_exact_over_many_blocks(shape, order):
    n, d = shape
    rng = np.random.default_rng(d)
    X, r = rng.integers(-(2**24), 2**24, shape), rng.integers(-(2**20), 2**20, n)
    w, y = rng.integers(-(2**20), 2**20, d), rng.integers(-(2**20), 2**20, n)
    g_hi, g_lo, r_hi, r_lo = np.zeros(d), np.zeros(d), np.empty(n), np.empty(n)
    floats = X.astype(np.float64, order=order)
    total = _kernels.correlate_dd(floats, None, r.astype(float), np.zeros(n), g_hi, g_lo)
    _kernels.residual_dd(
        floats, y.astype(float), w.astype(float), np.zeros(d), 0.0, 0.0, r_hi, r_lo
    )
    np.testing.assert_array_equal(g_hi.astype(int) + g_lo.astype(int), X.T @ r)
    np.testing.assert_array_equal(r_hi.astype(int) + r_lo.astype(int), y - X @ w)
    assert total == (r.sum(), 0.0)


@pytest.mark.parametrize("highest", INSTRUCTION_SETS)
@pytest.mark.parametrize("size", [1e-130, 1e-100, 1e100, 1e140])
def test_large_and_small_columns_keep_their_digits(highest, size):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((50, 3)) * size
    w, zero = rng.standard_normal(3) / size * 1e8, np.zeros(3)
    y, r_hi, r_lo = np.zeros(50), np.empty(50), np.empty(50)
    with limited_to(highest):
        _kernels.residual_dd(X, y, w, zero, 0.0, 0.0, r_hi, r_lo)
    for i, got in enumerate(exact(r_hi, r_lo)):
        terms = [a * b for a, b in zip(fractions(X[i]), fractions(w), strict=True)]
        assert abs(got + sum(terms)) <= 20 * UNIT * sum(abs(t) for t in terms)


def test_a_matrix_without_columns_leaves_the_target_less_the_intercept():
    r_hi, r_lo = np.empty(2), np.empty(2)
    none = np.empty(0)
    _kernels.residual_dd(np.empty((2, 0)), np.array([1.0, 2.0]), none, none, 1.0, 0.0, r_hi, r_lo)
    np.testing.assert_array_equal(r_hi, [0.0, 1.0])
    assert _kernels.correlate_dd(np.empty((2, 0)), None, r_hi, r_lo, none, none.copy()) == (1.0, 0)


def test_a_matrix_without_rows_changes_no_sum():
    g_hi, g_lo = np.array([3.0]), np.array([1e-20])
    none = np.empty(0)
    assert _kernels.correlate_dd(np.empty((0, 1)), None, none, none, g_hi, g_lo) == (0.0, 0.0)
    assert (g_hi[0], g_lo[0]) == (3.0, 1e-20)


def test_sums_over_row_blocks_add_up_in_place():
    rng = np.random.default_rng(4)
    X, s = rng.standard_normal((600, 5)), rng.random(600)
    r_hi, r_lo = pairs(rng.standard_normal(600))
    whole, parts = (np.zeros(5), np.zeros(5)), (np.zeros(5), np.zeros(5))
    _kernels.correlate_dd(X, s, r_hi, r_lo, *whole)
    for rows in (slice(0, 200), slice(200, 600)):
        _kernels.correlate_dd(X[rows], s[rows], r_hi[rows], r_lo[rows], *parts)
    for a, b in zip(exact(*whole), exact(*parts), strict=True):
        assert abs(a - b) <= 2500 * UNIT * 600


def test_outputs_must_not_overlap_inputs():
    X, v = np.ones((2, 2)), np.ones(2)
    with pytest.raises(ValueError, match="`r_hi` must not share memory with `y`"):
        _kernels.residual_dd(X, v, v.copy(), v.copy(), 0.0, 0.0, v, v.copy())
    with pytest.raises(ValueError, match="`g_lo` must not share memory with `g_hi`"):
        _kernels.correlate_dd(X, None, v.copy(), v.copy(), v, v)
