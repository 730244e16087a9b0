"""Groups that keep more columns than the table has rows: solved by rows, and certified."""

import numpy as np
import pytest
from scipy import sparse

import tikhon as tk
from tikhon.data import StandardizedDesign, as_design
from tikhon.penalties import Group, SparseGroup
from tikhon.problem.squared import Frame
from tikhon.solvers.degrees_of_freedom import _by_rows, _coupled
from tikhon.solvers.group_curvature import Curvature, RowInverse, solve_newton

SIZES = np.repeat(np.arange(40), 5)


@pytest.fixture
def wide():
    """Rows of which the weaker strengths keep several times as many columns."""
    rng = np.random.default_rng(20)
    X = rng.standard_normal((50, 200)) + 0.5
    return X, X @ (rng.standard_normal(200) * (SIZES < 8)) + rng.standard_normal(50)


def crowded(path):
    return np.count_nonzero(path.coefs[-1]) > len(path.coefs[-1]) // 4


def by_proximal_gradient(penalty, lam, X, y):
    problem = tk.Problem(tk.losses.Squared(), penalty, lam)
    return tk.solve(problem, X, y, solver="proximal_gradient", tol=1e-10)


@pytest.mark.parametrize(
    "penalty",
    [
        Group(SIZES),
        SparseGroup(SIZES, l1_ratio=0.3),
        Group(SIZES, weights=np.where(np.arange(40) < 2, 0.0, 2.0)),
    ],
    ids=["group", "sparse group", "two groups without a penalty"],
)
def test_every_strength_is_certified_and_as_plain_iteration_has_it(wide, penalty):
    X, y = wide
    path = tk.path(tk.losses.Squared(), penalty, X, y, lams=30)
    assert path.status.ok
    assert crowded(path)
    assert max(c.gap for c in path.certificates) <= 1e-8
    peer = by_proximal_gradient(penalty, path.lams[-1], X, y)
    assert path.certificates[-1].objective <= peer.objective * (1 + 1e-8)
    np.testing.assert_allclose(path.coefs[-1], peer.coef, atol=1e-3 * np.abs(peer.coef).max())


def test_targets_share_the_groups(wide):
    X, y = wide
    Y = np.column_stack([y, X[:, :10].sum(axis=1), -y + X[:, 30]])
    path = tk.path(tk.losses.Squared(), Group(np.arange(200)), X, Y, lams=30)
    assert path.status.ok
    assert np.count_nonzero(path.coefs[-1]) > 75
    assert max(c.gap for c in path.certificates) <= 1e-8


def test_sparse_tables_and_weights_give_the_same_path(wide):
    X, y = wide
    X = np.where(np.abs(X) > 0.7, X, 0.0)
    s = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    penalty, loss = Group(SIZES), tk.losses.Squared()
    path = tk.path(loss, penalty, sparse.csr_array(X), y, lams=20, sample_weight=s)
    rows = np.repeat(np.arange(len(y)), s.astype(int))
    again = tk.path(loss, penalty, X[rows], y[rows], lams=path.lams)
    assert path.status.ok
    assert again.status.ok
    assert crowded(path)
    ours = [c.objective for c in path.certificates]
    np.testing.assert_allclose(ours, [c.objective for c in again.certificates], rtol=1e-7)


def test_the_time_limit_is_kept_and_told():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((300, 6000))
    y = X[:, :20].sum(axis=1) + rng.standard_normal(300)
    penalty = Group(np.arange(6000) // 10)
    path = tk.path(tk.losses.Squared(), penalty, X, y, lams=100, max_seconds=0.3)
    assert path.seconds < 2.0
    assert path.status.ok or "in time" in path.status.message


@pytest.fixture
def curved():
    """A point where a third of the groups is 0."""
    rng = np.random.default_rng(5)
    A = rng.standard_normal((30, 80)).astype(np.float32)
    starts, sizes = np.arange(0, 80, 4), np.full(20, 4)
    w = rng.standard_normal((80, 1)) * (np.repeat(np.arange(20), 4) % 3 > 0)[:, None]
    return at_point(A, starts, sizes, w / np.linalg.norm(w), 0.7)


def at_point(A, starts, sizes, w, lam):
    norms = np.sqrt(np.add.reduceat((w * w)[:, 0], starts))
    inside = norms > 0
    unit = w / np.repeat(np.where(inside, norms, 1.0), sizes)[:, None]
    pull = np.divide(lam, norms, out=np.zeros_like(norms), where=inside)
    return Curvature(A, starts, sizes, unit, pull, w != 0)


def dense(at):
    """The curvature, column by column, on the entries that may move."""
    free = np.flatnonzero(at.free[:, 0])
    columns = [at.times(np.eye(len(at.unit))[:, [j]])[free, 0] for j in free]
    return np.column_stack(columns), free


def test_the_inverse_by_rows_is_the_inverse(curved):
    H, free = dense(curved)
    V = np.zeros(curved.unit.shape)
    V[free, 0] = np.random.default_rng(6).standard_normal(len(free))
    found = RowInverse(curved).times(curved, V, np.ones(20))
    np.testing.assert_allclose(found[free, 0], np.linalg.solve(H, V[free, 0]), atol=2e-3)


def test_an_inverse_that_follows_is_the_one_of_the_new_point(curved):
    inverse = RowInverse(curved)
    w = (
        curved.unit
        * np.repeat(np.where(curved.pull > 0, 1.0 / np.maximum(curved.pull, 1e-9), 0), 4)[:, None]
    )
    w[:4] = 0.3
    w[8:12] *= 7.0
    w[16:20] = 0.0
    there = at_point(curved.A, curved.starts, curved.sizes, 0.7 * w, 0.65)
    inverse.follow(there)
    assert inverse.updates == 1
    H, free = dense(there)
    V = np.zeros(w.shape)
    V[free, 0] = np.random.default_rng(7).standard_normal(len(free))
    found, steps = solve_newton(there, inverse, V, np.ones(20))
    assert steps <= 12
    error = H @ found[free, 0] - V[free, 0]
    assert np.linalg.norm(error) <= 0.2 * np.linalg.norm(V)


def test_degrees_of_freedom_by_rows_are_those_by_columns(wide):
    X, y = wide
    path = tk.path(tk.losses.Squared(), Group(SIZES), X, y, lams=10)
    view = StandardizedDesign(as_design(X), X.mean(axis=0), np.ones(200))
    frame = Frame(view, y[:, None], np.array([y.mean()]), None, 50.0, True)
    penalty, lam, w = Group(SIZES), float(path.lams[-1]), path.coefs[-1]
    fast = _by_rows(frame, penalty.group_form(200), lam, w)
    columns, H = penalty.support_curvature(w)
    A = (X - X.mean(axis=0))[:, columns] / np.sqrt(50)
    plain = np.trace(np.linalg.lstsq(A.T @ A + lam * H, A.T @ A, rcond=None)[0])
    assert fast == pytest.approx(plain, rel=1e-6)
    assert _coupled(frame, penalty, lam, w[:, None]) == fast
