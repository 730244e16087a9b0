"""What single penalties promise beyond the laws: identities, sizes, messages."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tikhon.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    Group,
    Nonnegative,
    NoPenalty,
    NormBall,
    Scaled,
    SparseGroup,
    Sum,
    Weighted,
    hard_threshold,
    l0,
    l1,
    l2,
    soft_threshold,
)
from tikhon.testing import example_penalties

D = 5
every_penalty = pytest.mark.parametrize("penalty", example_penalties(D), ids=repr)
seeds = st.integers(0, 2**32 - 1)


def assert_same_everywhere(a, b, rng, columns=None):
    """The same value, prox, conjugate, distance and strength at a random point."""
    d = D if columns is None else len(columns)
    w, g, v = (2 * rng.normal(size=d) for _ in range(3))
    assert a.value(a.prox(w, 0.3)) == pytest.approx(b.value(b.prox(w, 0.3)), rel=1e-12)
    np.testing.assert_allclose(a.prox(w, 0.3), b.prox(w, 0.3), rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(a.subgradient_distance(w, g), b.subgradient_distance(w, g), 1e-10)
    assert a.lam_max(g) == pytest.approx(b.lam_max(g), rel=1e-12)
    assert a.dual_scale(v) == pytest.approx(b.dual_scale(v), rel=1e-12)
    t = (1 - 1e-9) * a.dual_scale(v)
    assert a.conjugate(t * v) == pytest.approx(b.conjugate(t * v), rel=1e-9)
    assert a.conjugate(3 * v) == pytest.approx(b.conjugate(3 * v), rel=1e-9)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ElasticNet(1.0), L1()),
        (ElasticNet(0.0), L2()),
        (Box(0.0, np.inf), Nonnegative()),
        (Box(-np.inf, np.inf), NoPenalty()),
        (Scaled(L1(), 2.0), Weighted(L1(), np.full(D, 2.0))),
        (Scaled(Scaled(L2(), 2.0), 0.25), Weighted(L2(), np.full(D, 0.5))),
        (Weighted(L1(), np.zeros(D)), NoPenalty()),
        (Weighted(L1(), np.ones(D)), Group(np.arange(D))),
        (Group(np.zeros(D, int), [2.0]), Scaled(Group(np.zeros(D, int)), 2 / np.sqrt(D))),
        (SparseGroup(np.arange(D) // 2, 0.0), Group(np.arange(D) // 2)),
        (SparseGroup(np.arange(D) // 2, 1.0), L1()),
        (SparseGroup(np.arange(D), 0.3), L1()),
        (SparseGroup(np.zeros(D, int), 0.25, [0.0]), Scaled(L1(), 0.25)),
        (Sum(L1(), Box(-np.inf, np.inf)), L1()),
        (Sum(NoPenalty(), Nonnegative()), Nonnegative()),
        (Sum(Weighted(L1(), np.full(D, 2.0)), Nonnegative()), Scaled(Sum(L1(), Nonnegative()), 2)),
        (Weighted(Weighted(L1(), np.arange(D)), np.full(D, 2.0)), Weighted(L1(), 2 * np.arange(D))),
    ],
    ids=lambda penalty: type(penalty).__name__,
)
@given(seed=seeds)
@settings(deadline=None, max_examples=10)
def test_two_ways_to_write_a_penalty_agree(a, b, seed):
    assert_same_everywhere(a, b, np.random.default_rng(seed))


@given(seed=seeds)
@settings(deadline=None, max_examples=20)
def test_weighting_the_lasso_is_scaling_the_columns(seed):
    """With ``w = w' / c`` the weighted penalty of w is the plain one of w'."""
    rng = np.random.default_rng(seed)
    c = rng.uniform(0.1, 3.0, D)
    weighted, plain = Weighted(L1(), c), L1()
    w = np.where(rng.random(D) < 0.4, 0.0, rng.normal(size=D))
    g = rng.normal(size=D)
    assert weighted.value(w) == pytest.approx(plain.value(c * w))
    assert weighted.lam_max(g) == pytest.approx(plain.lam_max(g / c))
    assert weighted.dual_scale(g) == pytest.approx(plain.dual_scale(g / c))
    np.testing.assert_allclose(
        weighted.subgradient_distance(w, g), c * plain.subgradient_distance(c * w, g / c)
    )
    np.testing.assert_allclose(weighted.prox(w, 0.5), plain.prox(w / c, 0.5) * c, rtol=1e-12)


@every_penalty
@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e160, 1e300])
def test_coefficients_of_any_size_raise_no_warning_and_no_nan(penalty, size):
    w = size * np.array([1.0, -2.0, 0.0, 4.0, -5.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        p = penalty.prox(w, 0.5)
        numbers = [
            p,
            penalty.value(p),
            penalty.conjugate(w),
            penalty.subgradient_distance(p, w),
            penalty.lam_max(w),
            penalty.dual_scale(w),
        ]
    assert not any(np.isnan(number).any() for number in numbers)
    assert np.isfinite(p).all()


def test_norms_of_any_size_are_exact():
    for size in (1e-300, 1e-170, 1.0, 1e160, 1e300):
        w = size * np.array([3.0, 0.0, -4.0])
        assert l2(w) == pytest.approx(5 * size, rel=1e-15)
        assert Group([0, 0, 0], [1.0]).value(w) == pytest.approx(5 * size, rel=1e-15)
        short = NormBall(size).prox(w, 1.0)
        assert l2(short) == pytest.approx(size, rel=1e-15)
    assert (l0(w), l1(np.array([3.0, 0.0, -4.0]))) == (2, 7.0)
    assert l2(np.zeros(0)) == 0
    assert l2(np.array([np.inf, 1.0])) == np.inf


def test_thresholds_solve_their_problems():
    x = np.linspace(-3, 3, 61)
    grid = np.linspace(-4, 4, 8001)
    t = 0.85
    soft_cost = t * np.abs(grid) + 0.5 * (grid - x[:, None]) ** 2
    hard_cost = 0.5 * t**2 * (grid != 0) + 0.5 * (grid - x[:, None]) ** 2
    np.testing.assert_allclose(soft_threshold(x, t), grid[soft_cost.argmin(axis=1)], atol=1e-3)
    np.testing.assert_allclose(hard_threshold(x, t), grid[hard_cost.argmin(axis=1)], atol=1e-3)
    assert soft_threshold(np.ones(2, np.float32), np.float64(0.5)).dtype == np.float32
    assert hard_threshold(np.ones(2, np.float32), np.float64(0.5)).dtype == np.float32
    assert np.isnan(soft_threshold(np.array([np.nan]), 1.0)).all()


@every_penalty
def test_a_step_of_double_precision_keeps_float32(penalty):
    w = np.linspace(-2, 2, D).astype(np.float32)
    assert penalty.prox(w, np.float64(0.5)).dtype == np.float32


def test_strengths_that_no_lam_reaches_are_infinite():
    g = np.array([1.0, -2.0])
    assert L2().lam_max(g) == np.inf
    assert L2().lam_max(np.zeros(2)) == 0
    assert Nonnegative().lam_max(g) == np.inf
    assert Nonnegative().lam_max(np.abs(g)) == 0
    assert Sum(L1(), Nonnegative()).lam_max(np.array([5.0, -2.0])) == 2
    assert Box(1.0, 2.0).lam_max(g) == np.inf
    assert NoPenalty().lam_max(g) == 0
    assert Weighted(L2(), [1.0, 0.0]).lam_max(np.array([0.0, 7.0])) == 0
    assert Weighted(L1(), [2.0, 0.0]).lam_max(np.array([5.0, 7.0])) == 2.5


def test_outside_the_domain_the_distance_is_infinite():
    for penalty in (Nonnegative(), NormBall(1.0), Sum(L1(), Box(0.0, 1.0))):
        w = np.array([-3.0, 0.0])
        assert penalty.value(w) == np.inf
        assert penalty.subgradient_distance(w, np.zeros(2))[0] == np.inf


def test_groups_share_their_distance_and_follow_their_columns():
    penalty = Group([3, 1, 3, 1, 3])
    g = np.array([3.0, 0.0, 4.0, 0.0, 0.0])
    distance = penalty.subgradient_distance(np.zeros(5), g)
    assert np.linalg.norm(distance) == pytest.approx(5 - np.sqrt(3))
    assert penalty.restrict(np.array([4, 1])) == Group([3, 1], [np.sqrt(2), np.sqrt(3)])
    assert penalty.restrict(np.array([0])).lam_max(np.ones(1)) == pytest.approx(1 / np.sqrt(3))


def test_several_targets_of_a_group_enter_together():
    w = np.array([[3.0, 4.0], [0.1, 0.1]])
    penalty = Group([0, 1], [1.0, 1.0])
    assert penalty.value(w) == pytest.approx(5 + np.sqrt(0.02))
    np.testing.assert_allclose(penalty.prox(w, 1.0), [[2.4, 3.2], [0, 0]])


def test_a_constraint_is_free_where_its_bounds_are_infinite():
    box = Box([-np.inf, 0.0], np.inf)
    assert box.unpenalised(2).tolist() == [True, False]
    assert Sum(Weighted(L1(), [0.0, 1.0]), box).unpenalised(2).tolist() == [True, False]
    assert Weighted(Nonnegative(), [0.0, 1.0]).prox(-np.ones(2), 1.0).tolist() == [-1, 0]


def test_strong_convexity_is_that_of_the_weakest_column():
    assert Weighted(L2(), [0.5, 2.0]).strong_convexity == 0.5
    assert Scaled(ElasticNet(0.75), 2.0).strong_convexity == 0.5
    assert Sum(L2(), Nonnegative()).strong_convexity == 1
    assert Weighted(L2(), np.zeros(0)).strong_convexity == 0
    assert Scaled(L1(), 2.0).separable
    assert not Group([0]).separable
    assert not SparseGroup([0]).separable


def test_no_columns_are_no_penalty():
    none = np.zeros(0, int)
    for penalty in (
        L1(), L2(), Weighted(L1(), []), Group(none), SparseGroup(none), NormBall(1.0)
    ):  # fmt: skip
        empty = np.zeros(0)
        assert penalty.value(empty) == penalty.conjugate(empty) == penalty.lam_max(empty) == 0
        assert penalty.dual_scale(empty) == 1
        assert penalty.prox(empty, 1.0).shape == (0,)
