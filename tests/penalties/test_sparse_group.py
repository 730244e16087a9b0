"""The sparse-group lasso: strengths exact to rounding, and solutions known by construction."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tikhon.penalties import Group, SparseGroup, soft_threshold


def root_in_many_digits(v, l1_ratio, weight):
    """The mu with ``||soft(v, a mu)|| = b mu``, by bisection in 50 digits."""
    with mpmath.workdps(50):
        a, b = mpmath.mpf(l1_ratio), mpmath.mpf((1 - l1_ratio) * weight)
        sizes = [abs(mpmath.mpf(float(x))) for x in np.ravel(v)]
        low, high = mpmath.mpf(0), max(sizes) / a
        for _ in range(170):
            mu = (low + high) / 2
            norm = mpmath.sqrt(sum(max(size - a * mu, 0) ** 2 for size in sizes))
            low, high = (mu, high) if norm > b * mu else (low, mu)
        return float(high)


@given(
    seed=st.integers(0, 2**32 - 1),
    l1_ratio=st.sampled_from([1e-9, 0.05, 0.5, 0.95, 1 - 1e-9]),
    weight=st.sampled_from([1e-6, 1.0, 30.0]),
    spread=st.sampled_from([0.0, 1.0, 20.0]),
    scale=st.sampled_from([1e-200, 1.0, 1e200]),
)
@settings(deadline=None, max_examples=80)
def test_the_strength_that_kills_a_group_is_exact(seed, l1_ratio, weight, spread, scale):
    rng = np.random.default_rng(seed)
    v = scale * rng.choice([-1, 1], 6) * np.exp(-spread * rng.random(6))
    penalty = SparseGroup(np.zeros(6, int), l1_ratio, [weight])
    expected = root_in_many_digits(v, l1_ratio, weight)
    assert penalty.lam_max(v) == pytest.approx(expected, rel=8e-15)
    assert penalty.dual_scale(v) == pytest.approx(min(1.0, 1 / expected), rel=8e-15)


def test_the_strength_of_many_groups_is_the_largest_of_each_alone(rng):
    groups, v = rng.integers(0, 40, 500), rng.standard_normal((500, 2))
    weights = rng.uniform(0, 3, 40)
    alone = [root_in_many_digits(v[groups == g], 0.3, weights[g]) for g in range(40)]
    penalty = SparseGroup(groups, 0.3, weights)
    assert penalty.lam_max(v) == pytest.approx(max(alone), rel=1e-14)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_very_large_group_scales_into_the_domain(rng, dtype):
    v = rng.standard_normal(200_000).astype(dtype)
    for penalty in (SparseGroup(np.zeros(len(v), int)), Group(np.zeros(len(v), int), [3.0])):
        t = penalty.dual_scale(v)
        assert 0 < t < 1
        assert penalty.conjugate(t * v) == 0
        assert penalty.conjugate(t * (1 + 1e-5) * v) == np.inf


def test_orthogonal_columns_have_a_solution_in_closed_form(rng):
    """With ``X'X / n = I`` the solution is the prox of the least-squares coefficients."""
    n, d = 60, 6
    X = np.sqrt(n) * np.linalg.qr(rng.standard_normal((n, d)))[0]
    free = np.array([2.0, -1.5, 0.1, 0.3, 0.2, -0.25])
    y = X @ free
    penalty = SparseGroup([0, 0, 0, 1, 1, 1], 0.5, [1.0, 1.0])
    problem = tk.Problem(tk.losses.Squared(), penalty, lam=0.4, intercept=False)
    kept = soft_threshold(free[:3], 0.2)
    expected = np.r_[kept * (1 - 0.2 / np.linalg.norm(kept)), 0, 0, 0]
    solution = tk.solve(problem, X, y, tol=1e-14)
    np.testing.assert_allclose(solution.coef, expected, atol=1e-6)
    assert solution.certificate.gap < 1e-13
    assert np.count_nonzero(solution.coef) == 2


def test_columns_in_any_order_are_the_same_groups(rng):
    groups, w, g = np.repeat([4, 2, 9], 3), rng.standard_normal(9), rng.standard_normal(9)
    order = rng.permutation(9)
    sorted_, mixed = SparseGroup(groups, 0.3), SparseGroup(groups[order], 0.3)
    assert mixed.value(w[order]) == pytest.approx(sorted_.value(w), rel=1e-14)
    np.testing.assert_allclose(mixed.prox(w[order], 0.5), sorted_.prox(w, 0.5)[order], rtol=1e-14)
    assert mixed.lam_max(g[order]) == pytest.approx(sorted_.lam_max(g), rel=1e-14)


def test_no_column_is_free_unless_there_is_no_share_of_l1():
    groups, weights = [0, 0, 1], [0.0, 1.0]
    assert SparseGroup(groups, 0.5, weights).unpenalised(3).tolist() == [False, False, False]
    assert SparseGroup(groups, 0.0, weights).unpenalised(3).tolist() == [True, True, False]
    assert SparseGroup(groups, 0.5, weights).lam_max(np.array([1.0, 3.0, 0.0])) == 6.0
