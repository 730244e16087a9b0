"""Block descent on the rows, against the same sweeps written out in NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tikhon import _kernels


def turned(rng, n, sizes):
    """Columns in groups, each group turned so that its columns are orthogonal."""
    blocks = [rng.standard_normal((n, size)) for size in sizes]
    blocks = [block @ np.linalg.eigh(block.T @ block)[1] for block in blocks]
    return np.asfortranarray(np.concatenate(blocks, axis=1))


def group_minimum(U, square, price):
    """Return the minimum ``U_i / (d_i + price / h)`` of one group, its norm h by bisection."""
    if price == 0:
        return U / square[:, None]
    if np.linalg.norm(U) <= price:
        return np.zeros_like(U)
    low, high = 0.0, np.linalg.norm(U) / square.min()
    for _ in range(200):
        h = (low + high) / 2
        longer = np.linalg.norm(U / (square * h + price)[:, None]) > 1
        low, high = (h, high) if longer else (low, h)
    return U * (high / (square * high + price))[:, None]


def sweep(A, starts, weight, lam, W, R):
    """One sweep over all groups; W (m, targets) and R (n, targets) change in place."""
    for g, price in enumerate(lam * weight):
        own = slice(starts[g], starts[g + 1])
        square = np.einsum("ij,ij->j", A[:, own], A[:, own])
        found = group_minimum(A[:, own].T @ R + square[:, None] * W[own], square, price)
        R -= A[:, own] @ (found - W[own])
        W[own] = found


def descend(A, starts, weight, lam, W, R, **limits):
    groups = _kernels.TurnedGroups(A, starts, weight, np.einsum("ij,ij->j", A, A).astype(float))
    chosen = np.arange(len(weight))
    return _kernels.group_columns(
        groups, chosen, lam, W, R, stop=_kernels.Stop(), **{"enough": 0.0, **limits}
    )


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 7), min_size=1, max_size=6),
    targets=st.integers(1, 3),
    n=st.integers(8, 40),
    share=st.floats(0.01, 1.2),
    seed=st.integers(0, 2**16),
)
def test_sweeps_are_those_of_the_twin(sizes, targets, n, share, seed):
    rng = np.random.default_rng(seed)
    A, Y = turned(rng, n, sizes), rng.standard_normal((n, targets))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    weight = rng.integers(0, 3, len(sizes)).astype(float)
    lam = share * np.abs(A.T @ Y).max()
    W, R = np.zeros((A.shape[1], targets)), Y.copy()
    mine, left = W.T.copy(), R.T.copy()
    for _ in range(3):
        sweep(A, starts, weight, lam, W, R)
    descend(A, starts, weight, lam, mine, left, sweeps=3)
    scale = max(1.0, np.abs(W).max())
    np.testing.assert_allclose(mine.T, W, atol=1e-8 * scale)
    np.testing.assert_allclose(left.T, Y - A @ mine.T, atol=1e-10 * scale)


def test_single_precision_columns_give_nearly_the_same():
    rng = np.random.default_rng(1)
    A, y = turned(rng, 30, [4, 4, 3]), rng.standard_normal((1, 30))
    starts, weight = np.array([0, 4, 8, 11]), np.ones(3)
    both = []
    for table in (A, A.astype(np.float32)):
        W = np.zeros((1, 11))
        descend(table, starts, weight, 2.0, W, y.copy(), sweeps=20)
        both.append(W)
    assert np.abs(both[0]).max() > 0
    np.testing.assert_allclose(both[1], both[0], atol=1e-5)


def test_sweeps_end_where_they_bring_little():
    rng = np.random.default_rng(2)
    A, y = turned(rng, 30, [5, 5]), rng.standard_normal((1, 30))
    starts, weight, W = np.array([0, 5, 10]), np.ones(2), np.zeros((1, 10))
    assert descend(A, starts, weight, 0.1, W, y, sweeps=1) > 1e-3
    assert descend(A, starts, weight, 0.1, W, y, sweeps=1000, enough=1e-12) <= 1e-12


def test_a_request_to_stop_is_heard():
    rng = np.random.default_rng(3)
    A = turned(rng, 10, [1] * 200)
    groups = _kernels.TurnedGroups(A, np.arange(201), np.ones(200), np.einsum("ij,ij->j", A, A))
    stop = _kernels.Stop()
    stop.request()
    W, R = np.zeros((1, 200)), rng.standard_normal((1, 10))
    _kernels.group_columns(groups, np.arange(200), 1e-3, W, R, sweeps=10, enough=0.0, stop=stop)
    assert W[0, :64].any()
    assert not W[0, 64:].any()


@pytest.mark.parametrize("layout", ["rows", "integers"])
def test_columns_must_be_contiguous_floats(layout):
    A = np.ones((4, 3)) if layout == "rows" else np.ones((4, 3), dtype=np.int64, order="F")
    groups = _kernels.TurnedGroups(A, np.array([0, 3]), np.ones(1), np.ones(3))
    with pytest.raises(ValueError, match="`A` must be a float32 or float64"):
        _kernels.group_columns(
            groups,
            np.array([0]),
            1.0,
            np.zeros((1, 3)),
            np.zeros((1, 4)),
            sweeps=1,
            enough=0.0,
            stop=_kernels.Stop(),
        )
