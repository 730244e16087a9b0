"""Laws of the content hash of rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from native_layouts import INSTRUCTION_SETS, LAYOUTS, THREADS, limited_to
from scipy import sparse

from tikhon import _kernels

small_matrices = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=30),
    elements=st.sampled_from([0.0, -0.0, 1.0, 2.0, -1.5, np.nan, np.inf]),
)


def shuffled_csr(X, index_dtype, seed=0):
    """The same matrix with the entries of each row in random order, zeros stored here and there."""
    rng = np.random.default_rng(seed)
    data, indices, indptr = [], [], [0]
    for row in X:
        columns = rng.permutation(np.flatnonzero((row != 0) | (rng.random(len(row)) < 0.2)))
        data.extend(row[columns])
        indices.extend(columns)
        indptr.append(len(indices))
    return sparse.csr_array(
        (
            np.array(data, dtype=X.dtype),
            np.array(indices, dtype=index_dtype),
            np.array(indptr, dtype=index_dtype),
        ),
        shape=X.shape,
    )


@settings(deadline=None)
@given(
    X=small_matrices,
    layout=st.sampled_from(sorted(LAYOUTS)),
    dtype=st.sampled_from([np.float32, np.float64]),
    index_dtype=st.sampled_from([np.int32, np.int64]),
    threads=st.sampled_from(THREADS),
    highest=st.sampled_from(INSTRUCTION_SETS),
)
def test_equal_values_have_equal_hashes_however_they_are_stored(
    X, layout, dtype, index_dtype, threads, highest
):
    first = _kernels.hash_rows(X)
    with limited_to(highest):
        same = X.astype(dtype)
        dense = _kernels.hash_rows(LAYOUTS[layout](same), threads=threads)
        csr = shuffled_csr(same, index_dtype)
        np.testing.assert_array_equal(dense, first)
        np.testing.assert_array_equal(_kernels.hash_rows(csr, threads=threads), first)
        np.testing.assert_array_equal(_kernels.hash_rows(csr.tocsc(), threads=threads), first)


@settings(deadline=None)
@given(X=small_matrices)
def test_rows_have_equal_hashes_only_when_they_are_equal(X):
    hashes = _kernels.hash_rows(X)
    rows = [tuple("nan" if np.isnan(v) else float(v) + 0.0 for v in row) for row in X]
    assert len(set(hashes.tolist())) == len(set(rows))


def test_permuting_rows_permutes_hashes():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 7))
    order = rng.permutation(5000)
    np.testing.assert_array_equal(_kernels.hash_rows(X[order]), _kernels.hash_rows(X)[order])


def test_permuting_columns_changes_hashes():
    X = np.random.default_rng(0).standard_normal((1000, 3))
    assert (_kernels.hash_rows(X) != _kernels.hash_rows(X[:, [1, 0, 2]].copy())).all()


def test_columns_of_zeros_at_the_end_change_nothing():
    X = np.random.default_rng(0).standard_normal((100, 3))
    wide = np.hstack([X, np.zeros((100, 5))])
    np.testing.assert_array_equal(_kernels.hash_rows(wide), _kernels.hash_rows(X))


@pytest.mark.parametrize("kind", ["normal", "small integers", "bits", "one entry", "grid"])
def test_a_hundred_thousand_different_rows_do_not_collide(kind):
    rng = np.random.default_rng(1)
    n = 100_000
    numbers = np.arange(n)
    X = {
        "normal": lambda: rng.standard_normal((n, 3)),
        "small integers": lambda: np.stack([numbers % 10, numbers // 10 % 100, numbers // 1000], 1),
        "bits": lambda: numbers[:, None] >> np.arange(17) & 1,
        "one entry": lambda: numbers[:, None],
        "grid": lambda: np.stack([numbers % 317, numbers // 317, numbers % 317], 1) / 8.0,
    }[kind]().astype(np.float64)
    assert len(np.unique(_kernels.hash_rows(X))) == n


def test_every_bit_of_a_hash_is_set_for_about_half_of_the_rows():
    X = np.arange(40_000, dtype=np.float64)[:, None]
    bits = _kernels.hash_rows(X)[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)
    assert np.abs(bits.mean(axis=0) - 0.5).max() < 0.015  # six standard deviations


@settings(deadline=None)
@given(
    powers=st.lists(st.integers(-500, 500), min_size=1, max_size=6),
    seed=st.integers(0, 2**32 - 1),
)
def test_powers_of_two_cancel_against_exponents(powers, seed):
    exponent = np.array(powers, dtype=np.int32)
    X = np.random.default_rng(seed).standard_normal((20, len(powers)))
    scaled = X * np.ldexp(1.0, exponent)
    hashes = _kernels.hash_rows(X)
    np.testing.assert_array_equal(_kernels.hash_rows(scaled, exponent=exponent), hashes)
    rows = sparse.csr_array(scaled)
    np.testing.assert_array_equal(_kernels.hash_rows(rows, exponent=exponent), hashes)


@pytest.mark.parametrize("largest", [5e-324, 1e-310, 1e-170, 1.0, 1e160, 1.7e308])
def test_any_exponent_that_frexp_returns_is_taken(largest):
    exponent = np.array([np.frexp(largest)[1]], dtype=np.int32)
    X = np.array([[largest], [-largest], [largest / 2]])
    assert len(set(_kernels.hash_rows(X, exponent=exponent).tolist())) == 3


def test_entries_stored_twice_are_added_as_scipy_does():
    data = np.array([0.1, 0.2, 0.3, 5.0, -5.0, 1.0], dtype=np.float32)
    X = sparse.csr_array((data, [2, 0, 2, 1, 1, 2], [0, 3, 6]), shape=(2, 3))
    np.testing.assert_array_equal(_kernels.hash_rows(X), _kernels.hash_rows(X.toarray()))


def test_entries_stored_many_times_are_added_in_the_order_of_storage():
    rng = np.random.default_rng(3)
    data = (rng.standard_normal(300) * 10.0 ** rng.integers(-6, 6, 300)).astype(np.float32)
    X = sparse.csr_array((data, rng.integers(3, size=300), [0, 300]), shape=(1, 3))
    np.testing.assert_array_equal(_kernels.hash_rows(X), _kernels.hash_rows(X.toarray()))


def test_every_nan_is_the_same():
    bits = np.array([0x7FF8000000000000, 0xFFF8000000000001, 0x7FF0000000000003], dtype=np.uint64)
    hashes = _kernels.hash_rows(bits.view(np.float64)[:, None])
    assert len(set(hashes.tolist())) == 1


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (1, 5000), (70_000, 1)])
def test_matrices_of_any_shape_have_one_hash_a_row(shape):
    X = np.ones(shape)
    hashes = _kernels.hash_rows(X)
    assert hashes.shape == (shape[0],)
    assert len(set(hashes.tolist())) == min(shape[0], 1)
    np.testing.assert_array_equal(_kernels.hash_rows(sparse.csr_array(X)), hashes)


def corrupt(attribute, values):
    X = sparse.csr_array(np.eye(2))
    setattr(X, attribute, np.array(values, dtype=np.int32))
    return X


@pytest.mark.parametrize(
    ("attribute", "values", "message"),
    [
        ("indices", [0, 2], r"`indices` must lie in \[0, 2\), got 2 at position 1"),
        ("indices", [0, -1], r"`indices` must lie in \[0, 2\), got -1 at position 1"),
        ("indices", [0], r"`X.indices` must have shape \(2,\)"),
        ("indptr", [0, 3, 2], r"`indptr` must increase from 0 to 2, got 3 at position 1"),
        ("indptr", [0, 2, 1], r"`indptr` must increase from 0 to 2, got 1 at position 2"),
        ("indptr", [0, 2], r"`X.indptr` must have shape \(3,\)"),
    ],
)
def test_a_corrupt_sparse_matrix_is_refused(attribute, values, message):
    with pytest.raises(ValueError, match=message):
        _kernels.hash_rows(corrupt(attribute, values))


def test_an_exponent_out_of_range_is_named():
    with pytest.raises(ValueError, match=r"got 2000 for column 1"):
        _kernels.hash_rows(np.ones((2, 2)), exponent=np.array([0, 2000], dtype=np.int32))
