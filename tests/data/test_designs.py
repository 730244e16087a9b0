"""The five verbs mean the same for every kind of table."""

import numpy as np
import pytest
import scipy.sparse as sp

from tests.designs import DESIGNS
from tikhon.data import DenseDesign, SparseDesign, StandardizedDesign, as_design
from tikhon.data.moments import Cells

N, D = 41, 7


@pytest.fixture
def X(rng):
    table = rng.standard_normal((N, D)) + 2.0
    table[rng.random((N, D)) < 0.4] = 0.0
    table[:, 3] = 2.5  # a constant column, not representable as a sum / n without rounding
    return table


@pytest.fixture(params=DESIGNS)
def design(request, X):
    return DESIGNS[request.param](X)


@pytest.mark.parametrize("shifted", [False, True])
@pytest.mark.parametrize("columns", [(), (1,), (5,)])
def test_predict_and_correlate_are_products(design, X, rng, shifted, columns):
    c = rng.standard_normal(D) if shifted else np.zeros(D)
    W, R = rng.standard_normal((D, *columns)), rng.standard_normal((N, *columns))
    shift = c if shifted else None
    np.testing.assert_allclose(design.predict(W, shift), (X - c) @ W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(design.correlate(R, shift), (X - c).T @ R, rtol=0, atol=1e-12)


def test_statistics_are_weighted_and_exact_for_constants(design, X, rng):
    s = rng.random(N)
    p = s / s.sum()
    stats = design.stats(s)
    np.testing.assert_allclose(stats.mean, p @ X, atol=1e-14)
    np.testing.assert_allclose(stats.sd, np.sqrt(p @ (X - p @ X) ** 2), atol=1e-14)
    assert stats.sd[3] == 0.0
    assert stats.constant.tolist() == [j == 3 for j in range(D)]
    assert stats.minimum.tolist() == X.min(axis=0).tolist()
    assert stats.maximum.tolist() == X.max(axis=0).tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_gram_gives_the_moments_of_each_cell(design, X, rng, weighted):
    labels = rng.integers(-1, 3, N)
    s = rng.random(N) if weighted else None
    y, c = rng.standard_normal((N, 2)), rng.standard_normal(D)
    moments = design.gram(y, s, Cells.of(labels), c)
    for cell in range(3):
        rows = labels == cell
        p = s[rows] if weighted else np.ones(rows.sum())
        Z, v = X[rows] - c, y[rows]
        found = moments[cell]
        assert found.weight == pytest.approx(p.sum(), rel=1e-14)
        np.testing.assert_allclose(found.x, p @ Z, atol=1e-12)
        np.testing.assert_allclose(found.y, p @ v, atol=1e-12)
        np.testing.assert_allclose(np.triu(found.xx), np.triu(Z.T @ (Z * p[:, None])), atol=1e-11)
        np.testing.assert_allclose(found.xy, Z.T @ (v * p[:, None]), atol=1e-11)
        np.testing.assert_allclose(found.yy, p @ v**2, atol=1e-11)


def test_blocks_hand_out_every_row_once(design, X, rng, monkeypatch):
    monkeypatch.setattr("tikhon.data.dense.block_rows", lambda d, n: 7)
    monkeypatch.setattr("tikhon.data.sparse.block_rows", lambda d, n: 7)
    index, c = rng.integers(0, N, 23), rng.standard_normal(D)
    whole = np.vstack([block.rows.copy() for block in design.blocks()])
    chosen = np.vstack([block.rows.copy() for block in design.blocks(c, index)])
    np.testing.assert_array_equal(whole, X)
    np.testing.assert_allclose(chosen, X[index] - c, atol=1e-15)


def test_column_blocks_hand_out_every_column_once(design, X, rng, monkeypatch):
    monkeypatch.setattr("tikhon.data.dense.BLOCK_BYTES", 8)
    monkeypatch.setattr("tikhon.data.sparse.BLOCK_BYTES", 8)
    wide = (
        as_design(np.tile(X, 5))
        if isinstance(design, DenseDesign)
        else as_design(sp.csr_array(np.tile(X, 5)))
    )
    c, f = rng.standard_normal(5 * D), rng.random(5 * D)
    parts = [(start, Z.copy()) for start, Z in wide.column_blocks(c, f)]
    assert len(parts) > 1
    np.testing.assert_allclose(
        np.hstack([Z for _, Z in parts]), (np.tile(X, 5) - c) * f, atol=1e-14
    )


def test_take_and_rows_are_subsets(design, X):
    columns, rows = np.array([5, 0]), np.array([3, 3, 40])
    identity = np.eye(2)
    np.testing.assert_array_equal(design.take(columns).predict(identity), X[:, columns])
    np.testing.assert_array_equal(design.rows(rows).predict(np.eye(D)), X[rows])
    assert design.take(columns).scan.maximum.tolist() == X[:, columns].max(axis=0).tolist()


def test_standardized_view_equals_the_explicit_matrix(design, X, rng):
    mean, scale = rng.standard_normal(D), rng.uniform(0.5, 2.0, D)
    Z = (X - mean) / scale
    view = StandardizedDesign(design, mean, scale)
    W, R = rng.standard_normal((D, 3)), rng.standard_normal((N, 3))
    np.testing.assert_allclose(view.predict(W), Z @ W, atol=1e-12)
    np.testing.assert_allclose(view.correlate(R), Z.T @ R, atol=1e-12)
    V, b = view.to_base(W, np.zeros(3))
    np.testing.assert_allclose(X @ V + b, Z @ W, atol=1e-12)
    back, offset = view.from_base(V, b)
    np.testing.assert_allclose(back, W, atol=1e-14)
    np.testing.assert_allclose(offset, 0.0, atol=1e-13)


def test_a_view_keeps_its_digits_at_a_large_mean(rng):
    X = rng.standard_normal((50, 3)) + 1e8
    mean, scale = X.mean(axis=0), X.std(axis=0)
    view = StandardizedDesign(as_design(X), mean, scale)
    exact = ((X - mean) / scale) @ np.ones(3)
    np.testing.assert_allclose(view.predict(np.ones(3)), exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_good_arrays_are_not_copied(rng, order, dtype):
    X = np.asarray(rng.standard_normal((20, 4)), dtype=dtype, order=order)
    design = as_design(X)
    assert isinstance(design, DenseDesign)
    assert np.shares_memory(design.X, X)
    S = sp.csr_array(X)
    sparse = as_design(S)
    assert isinstance(sparse, SparseDesign)
    assert np.shares_memory(sparse.X.data, S.data)


def test_float32_is_accumulated_in_float64(rng):
    X = rng.standard_normal((5000, 3)).astype(np.float32)
    exact = X.astype(np.float64).T @ np.ones(5000)
    np.testing.assert_allclose(as_design(X).correlate(np.ones(5000)), exact, rtol=1e-12)


def test_duplicate_entries_of_a_sparse_matrix_add_up_without_touching_the_callers():
    X = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), (2, 2))
    design = as_design(X)
    np.testing.assert_array_equal(design.predict(np.eye(2)), [[3.0, 0.0], [0.0, 5.0]])
    assert len(X.data) == 3


@pytest.mark.parametrize("values", [np.int8, np.uint16, np.int64, np.bool_, np.float16])
def test_integers_and_booleans_are_numbers(values):
    X = np.array([[0, 1], [1, 1], [1, 0]]).astype(values)
    np.testing.assert_array_equal(as_design(X).predict(np.eye(2)), X.astype(float))
