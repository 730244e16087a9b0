"""Plain cyclic coordinate descent, and its compiled sweep against the formula."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tikhon import _kernels
from tikhon.solvers import CyclicCoordinateDescent


def plain_sweep(X, p, penalty, lam, w, r):
    """The formula, column by column, on centred columns."""
    l1, l2, lower, upper = penalty
    w, r = w.copy(), r.copy()
    for j in range(X.shape[1]):
        a = np.sum(p * X[:, j] ** 2)
        if a + lam * l2[j] == 0:
            continue
        u = np.sum(p * X[:, j] * r) + a * w[j]
        shrunk = np.sign(u) * max(abs(u) - lam * l1[j], 0.0) / (a + lam * l2[j])
        moved = np.clip(shrunk, lower[j], upper[j]) - w[j]
        r -= moved * X[:, j]
        w[j] += moved
    return w, r


@settings(deadline=None, max_examples=60)
@given(
    n=st.integers(1, 60),
    d=st.integers(1, 12),
    sparse=st.booleans(),
    wide=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_compiled_sweep_is_the_formula(n, d, sparse, wide, dtype, seed):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)).astype(dtype)
    p = rng.random(n) + 0.1
    p /= p.sum()
    mean = p @ X.astype(float)
    centred = X - mean
    y = rng.standard_normal(n)
    y -= p @ y
    penalty = (
        rng.random(d),
        rng.random(d) * (rng.random(d) < 0.5),
        np.full(d, -0.4),
        np.full(d, 0.5),
    )
    curvature = p @ centred**2
    nothing = np.zeros(d)
    if sparse:
        table = sp.csc_array(X)
        if wide:
            table.indices, table.indptr = (
                a.astype(np.int64) for a in (table.indices, table.indptr)
            )
        columns = _kernels.SweepColumns(p, nothing, mean, curvature)
    else:
        table = np.asfortranarray(X)
        columns = _kernels.SweepColumns(p, mean, nothing, curvature)
    w, q, k = np.zeros(d), p * y, 0.0
    want, r = np.zeros(d), y
    for _ in range(3):
        half = d // 2
        k = _kernels.cyclic_sweep(table, columns, penalty, 0.2, (0, half), w, q, k)
        k = _kernels.cyclic_sweep(table, columns, penalty, 0.2, (half, d), w, q, k)
        want, r = plain_sweep(centred, p, penalty, 0.2, want, r)
    np.testing.assert_allclose(w, want, atol=1e-10)
    np.testing.assert_allclose(q + k * p, p * r, atol=1e-10)


def test_every_sweep_descends(rng):
    data = tk.datasets.linear(60, 20, correlation=0.9, seed=1)
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 0.01)
    solver = CyclicCoordinateDescent(measure_every=1)
    found = tk.solve(problem, data.X, data.y, solver=solver, tol=1e-12)
    assert found.status == "converged"
    assert np.all(np.diff(found.history.objective) <= 1e-14)


def test_bounds_that_exclude_zero_are_kept_from_the_start(rng):
    data = tk.datasets.linear(60, 5, seed=1)
    penalty = tk.penalties.Sum(tk.penalties.L2(), tk.penalties.Box(0.1, 0.6))
    problem = tk.Problem(tk.losses.Squared(), penalty, 0.1)
    best = tk.solve(problem, data.X, data.y, tol=1e-12)
    found = tk.solve(problem, data.X, data.y, solver=CyclicCoordinateDescent(), tol=1e-10)
    np.testing.assert_allclose(found.coef, best.coef, atol=1e-6)


def test_several_targets_and_large_means(rng):
    data = tk.datasets.linear(60, 5, seed=2)
    X, Y = data.X + 1e6, np.column_stack([data.y, -2.0 * data.y])
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 0.1)
    one = tk.solve(problem, X, Y[:, 0], solver=CyclicCoordinateDescent(), tol=1e-9)
    both = tk.solve(problem, X, Y, solver=CyclicCoordinateDescent(), tol=1e-9)
    assert both.status == one.status == "converged"
    np.testing.assert_allclose(both.coef[:, 0], one.coef, atol=1e-6)


def test_it_is_for_least_squares_and_separable_penalties(rng):
    for loss, penalty in (
        (tk.losses.Huber(), tk.penalties.L1()),
        (tk.losses.Squared(), tk.penalties.Group([0, 0, 1])),
    ):
        with pytest.raises(tk.UnsupportedError, match="ProximalGradient"):
            tk.solve(
                tk.Problem(loss, penalty, 0.1),
                rng.standard_normal((9, 3)),
                rng.standard_normal(9),
                solver=CyclicCoordinateDescent(),
            )


def test_the_door_refuses_what_the_kernel_cannot_walk():
    X = np.asfortranarray(np.ones((3, 2)))
    ones, d2 = np.full(3, 1 / 3), np.zeros(2)
    columns = _kernels.SweepColumns(ones, d2, d2, d2 + 1)
    penalty = (d2, d2, d2, d2)
    with pytest.raises(IndexError, match="`span`"):
        _kernels.cyclic_sweep(X, columns, penalty, 0.1, (0, 3), d2.copy(), ones.copy(), 0.0)
    with pytest.raises(ValueError, match="Fortran"):
        _kernels.cyclic_sweep(
            np.ones((3, 2)), columns, penalty, 0.1, (0, 2), d2.copy(), ones.copy(), 0.0
        )
    with pytest.raises(ValueError, match="`q`"):
        _kernels.cyclic_sweep(X, columns, penalty, 0.1, (0, 2), d2.copy(), np.ones(2), 0.0)
