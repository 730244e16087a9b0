"""Compiled paths against plain NumPy coordinate descent, on problems of any shape."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from tikhon import _kernels
from tikhon._kernels import descent

seeds = st.integers(0, 2**32 - 1)


def minimiser(K, c, penalty, lam, sweeps=4000):
    """Cyclic coordinate descent: each coordinate to its minimum, soft-thresholded and clipped."""
    l1, l2, lower, upper = penalty
    w = np.clip(np.zeros(len(c)), lower, upper)
    for _ in range(sweeps):
        before = w.copy()
        for j in range(len(c)):
            slope = c[j] - K[j] @ w + K[j, j] * w[j]
            shrunk = np.sign(slope) * max(abs(slope) - lam * l1[j], 0.0)
            w[j] = np.clip(shrunk / (K[j, j] + lam * l2[j]), lower[j], upper[j])
        if np.abs(w - before).max(initial=0.0) < 1e-13:
            break
    return w


def objective(K, c, penalty, lam, w):
    l1, l2, _, _ = penalty
    return w @ K @ w / 2 - c @ w + lam * (l1 @ np.abs(w) + l2 @ w**2 / 2)


def problem_of(rng, n, d):
    X = rng.standard_normal((n, d)) + 0.5 * rng.standard_normal((n, 1))
    y = X @ (rng.standard_normal(d) * (rng.random(d) < 0.5)) + rng.standard_normal(n)
    penalty = (
        rng.choice([0.0, 0.5, 1.0, 2.0], d),
        rng.choice([0.0, 0.3], d) + (0.05 if n <= d else 0.0),
        rng.choice([-np.inf, -0.2, 0.0], d),
        rng.choice([np.inf, 0.3], d),
    )
    return X, y, penalty


@given(seed=seeds, n=st.integers(3, 30), d=st.integers(1, 12))
@settings(deadline=None, max_examples=40)
def test_paths_from_moments_are_those_of_plain_coordinate_descent(seed, n, d):
    rng = np.random.default_rng(seed)
    X, y, penalty = problem_of(rng, n + d, d)
    K, c = X.T @ X / len(X), X.T @ y / len(X)
    lams = np.sort(rng.random(3))[::-1] + 0.01
    found = descent.gram_path(K, c, penalty, lams, relative=1e-10, absolute=1e-14)
    assert found.solved == 3
    for lam, w in zip(lams, found.coefs, strict=True):
        slow = minimiser(K, c, penalty, lam)
        np.testing.assert_allclose(w, slow, atol=1e-7)
        assert np.all((w >= penalty[2]) & (w <= penalty[3]))
        ours, theirs = (objective(K, c, penalty, lam, v) for v in (w, slow))
        assert ours <= theirs + 1e-12 * (1 + abs(theirs))


@pytest.mark.parametrize("kind", ["dense", "float32", "sparse", "sparse, 64-bit"])
@given(seed=seeds, n=st.integers(3, 30), d=st.integers(1, 12), threads=st.integers(1, 3))
@settings(deadline=None, max_examples=15)
def test_paths_on_columns_are_those_of_plain_coordinate_descent(kind, seed, n, d, threads):
    rng = np.random.default_rng(seed)
    X, y, penalty = problem_of(rng, n + d, d)
    X = np.asfortranarray(X.astype(np.float32).astype(np.float64))
    X[rng.random(X.shape) < 0.4] = 0.0
    p = rng.random(len(X))
    p[: len(X) // 4] = 0.0
    p /= p.sum()
    mean = p @ X
    centred = X - mean
    unit = np.sqrt(np.maximum(p @ centred**2, 1e-30))
    unit[unit < 1e-12] = 1.0
    y = y - p @ y
    Z = centred / unit
    K, c = Z.T @ (Z * p[:, None]), Z.T @ (p * y)
    columns = {
        "dense": lambda: X,
        "float32": lambda: np.asfortranarray(X.astype(np.float32)),
        "sparse": lambda: sp.csc_array(X),
        "sparse, 64-bit": lambda: _wide_indices(sp.csc_array(X)),
    }[kind]()
    lams = np.array([0.3, 0.05])
    found = descent.column_path(
        columns,
        descent.ColumnProblem(p, y, mean, unit),
        penalty,
        lams,
        gap=1e-13,
        threads=threads,
    )
    assert found.solved == 2
    varying = np.diagonal(K) > 0.5
    for k, lam in enumerate(lams):
        w = np.zeros(d)
        part = slice(found.starts[k], found.starts[k + 1])
        w[found.columns[part]] = found.values[part]
        slow = minimiser(K + np.diag(~varying * 1.0), c, penalty, lam)
        ours, theirs = (objective(K, c, penalty, lam, v) for v in (w, slow))
        assert ours <= theirs + 1e-9 * (1 + abs(theirs))
        assert np.all((w >= penalty[2]) & (w <= penalty[3]))


def _wide_indices(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def group_minimiser(K, C, codes, weight, l1, lam, sweeps=3000):
    """Proximal gradient on W (m, targets): soft thresholding, then each group shortened."""
    W = np.zeros_like(C)
    step = 1.0 / np.linalg.eigvalsh(K)[-1]
    for _ in range(sweeps):
        V = W + step * (C - K @ W)
        V = np.sign(V) * np.maximum(np.abs(V) - step * lam * l1[:, None], 0.0)
        norms = np.sqrt(np.bincount(codes, (V**2).sum(axis=1)))
        room = np.maximum(norms - step * lam * weight, 0.0)
        share = np.divide(room, norms, out=np.zeros_like(norms), where=norms > 0)
        W = V * share[codes, None]
    return W


@given(seed=seeds, groups=st.integers(1, 4), targets=st.integers(1, 3))
@settings(deadline=None, max_examples=15)
def test_block_sweeps_reach_the_minimum_of_proximal_gradient(seed, groups, targets):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 4, groups)
    codes = np.repeat(np.arange(groups), sizes)
    m = len(codes)
    X = rng.standard_normal((3 * m + 5, m))
    K, C = X.T @ X / len(X), rng.standard_normal((m, targets))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    curvature = np.array(
        [np.linalg.eigvalsh(K[a:b, a:b])[-1] for a, b in itertools.pairwise(starts)]
    )
    weight, l1, lam = rng.random(groups) + 0.2, 0.3 * rng.random(m), 0.4
    blocks = descent.GroupBlocks(np.arange(m), starts, weight, curvature, l1)
    W, G = np.zeros((targets, m)), C.T.copy()
    everything = np.arange(groups)
    for _ in range(3000):
        moved = descent.group_descent(
            K, blocks, everything, lam, W, G, sweeps=1, stop=_kernels.Stop()
        )
        if moved < 1e-13:
            break
    np.testing.assert_allclose(G, (C - K @ W.T).T, atol=1e-10)
    slow = group_minimiser(K, C, codes, weight, l1, lam)
    np.testing.assert_allclose(W.T, slow, atol=1e-6)


def test_a_requested_stop_ends_a_path_at_once(rng):
    X, y, penalty = problem_of(rng, 40, 6)
    stop = _kernels.Stop()
    stop.request()
    found = descent.gram_path(
        X.T @ X, X.T @ y, penalty, np.array([1.0, 0.1]), relative=1e-9, absolute=0.0, stop=stop
    )
    assert (found.solved, found.coefs.shape) == (0, (2, 6))


def test_rounding_ends_what_no_sweep_can_improve(rng):
    """A gap below rounding is never reached: the sweeps end, and say that they stalled."""
    X = np.asfortranarray(rng.standard_normal((40, 6)))
    y = X[:, 0] + rng.standard_normal(40)
    p = np.full(40, 1 / 40)
    free = (np.ones(6), np.zeros(6), np.full(6, -np.inf), np.full(6, np.inf))
    found = descent.column_path(
        X, descent.ColumnProblem(p, y, np.zeros(6), np.ones(6)), free, np.array([0.1]), gap=1e-30
    )
    assert found.status[0] in (descent.CONVERGED, descent.STALLED)
    assert found.solved == 1


def test_a_stop_knows_its_clock():
    assert not _kernels.Stop().now
    assert _kernels.Stop().remaining == np.inf
    late = _kernels.Stop(1e-9)
    assert late.now
    assert late.remaining == 0.0
    with pytest.raises(ValueError, match="`max_seconds` must be > 0 or None, got -1"):
        _kernels.Stop.after(-1)
