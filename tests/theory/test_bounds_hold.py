"""Bounds hold at their level, by simulation; and where they are tight, less would not.

`failures` counts how often a bound is broken. Most tests also count for the bound cut to a part,
and want that to break more often than allowed, so that a bound too small by that factor fails.
"""

import math

import numpy as np
import pytest
from scipy import stats

from tikhon.theory import bounds

DRAWS = 2000
DELTA = 0.05
ALLOWED = DELTA + 3 * math.sqrt(DELTA * (1 - DELTA) / DRAWS)

CHANCES = {"fair": 0.5, "rare": 0.1, "likely": 0.8}


def failures(deviations, bound):
    return float(np.mean(np.asarray(deviations) > bound))


@pytest.mark.parametrize("size", [1, 8])
@pytest.mark.parametrize("p", CHANCES.values(), ids=CHANCES)
def test_finitely_many_hypotheses_stay_within_their_bound(rng, p, size):
    m = 200
    rates = rng.binomial(m, p, (DRAWS, size)) / m
    deviation = np.abs(rates - p).max(axis=1)
    bound = bounds.finite_class(size, m, DELTA).value
    assert failures(deviation, bound) <= ALLOWED
    if p == 0.5:
        assert failures(deviation, bound / 2) > ALLOWED


@pytest.mark.parametrize("noise", [0.0, 0.1, 0.4])
def test_half_lines_stay_within_the_bound_of_dimension_one(rng, noise):
    """h_t(x) = sign(x - t) on uniform x, labels sign(x - 1/2) flipped with probability `noise`."""
    m = 400
    grid = np.linspace(0, 1, 201)
    truth = noise + (1 - 2 * noise) * np.abs(grid - 0.5)
    deviation = np.empty(DRAWS // 4)
    for k in range(len(deviation)):
        x = rng.random(m)
        y = np.where((x > 0.5) ^ (rng.random(m) < noise), 1, -1)
        order = np.searchsorted(grid, x)
        wrong_above = np.cumsum(np.bincount(order, y == 1, len(grid) + 1))[:-1]
        wrong_below = (y == -1).sum() - np.cumsum(np.bincount(order, y == -1, len(grid) + 1))[:-1]
        deviation[k] = np.abs((wrong_above + wrong_below) / m - truth).max()
    bound = bounds.vc(1, m, DELTA).value
    assert failures(deviation, bound) <= ALLOWED
    assert failures(deviation, bound / 10) > ALLOWED


def _sphere(rng, shape):
    x = rng.standard_normal(shape)
    return x / np.linalg.norm(x, axis=-1, keepdims=True), 0.0


def _corners(rng, shape):
    x = np.zeros(shape)
    np.put_along_axis(x, rng.integers(shape[-1], size=(*shape[:-1], 1)), 1.0, axis=-1)
    return x * rng.choice([-1.0, 1.0], (*shape[:-1], 1)), 0.0


def _lopsided(rng, shape):
    x = np.zeros(shape)
    x[..., 0] = np.where(rng.random(shape[:-1]) < 0.7, 1.0, -1.0)
    return x, 0.4


@pytest.mark.parametrize("draw", [_sphere, _corners, _lopsided])
def test_the_unit_ball_stays_within_its_bound(rng, draw):
    """With the loss (1 - <w, yx>) / 2 in [0, 1] the supremum over the ball is known exactly.

    It is half the distance of the sample's mean of yx from its expectation.
    """
    m, d = 50, 5
    v, first = draw(rng, (DRAWS, m, d))
    centre = v.mean(axis=1)
    centre[:, 0] -= first
    deviation = np.linalg.norm(centre, axis=1) / 2
    bound = bounds.norm_ball(0.5, 1.0, m, DELTA).value
    assert failures(deviation, bound) <= ALLOWED
    assert failures(deviation, bound / 8) > ALLOWED


@pytest.mark.parametrize("tight", [False, True])
@pytest.mark.parametrize("p", CHANCES.values(), ids=CHANCES)
def test_all_described_hypotheses_stay_within_their_own_bounds(rng, p, tight):
    """Hypothesis k has the length of Elias' gamma code of k, 2 floor(log2 k) + 1 bits."""
    m, count = 200, 15
    bits = 2 * np.floor(np.log2(np.arange(1, count + 1))) + 1
    assert np.sum(2.0**-bits) <= 1
    each = np.array([bounds.mdl(b, m, DELTA, tight=tight).value for b in bits])
    deviation = np.abs(rng.binomial(m, p, (DRAWS, count)) / m - p)
    assert np.mean((deviation > each).any(axis=1)) <= ALLOWED
    if p == 0.5:
        assert np.mean((deviation > each / 2.2).any(axis=1)) > ALLOWED


@pytest.mark.parametrize("p", [0.003, 0.05, 0.3, 0.77])
@pytest.mark.parametrize("m", [20, 150])
def test_the_exact_binomial_bound_covers_exactly(p, m):
    errors = np.arange(m + 1)
    chance = stats.binom.pmf(errors, m, p)
    limit = np.array([bounds.clopper_pearson(int(e), m, DELTA).value for e in errors])
    assert chance[limit >= p].sum() >= 1 - DELTA - 1e-12
    rate = errors / m
    halved = rate + (limit - rate) / 2
    if m * p > 5:
        assert chance[halved >= p].sum() < 1 - DELTA


LOSSES = {
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "two points": (lambda rng, shape: (rng.random(shape) < 0.3).astype(float), 0.3),
    "near zero": (lambda rng, shape: rng.beta(0.5, 5.0, shape), 1 / 11),
}


@pytest.mark.parametrize("name", LOSSES)
def test_the_empirical_bernstein_bound_covers(rng, name):
    draw, mean = LOSSES[name]
    m = 2000
    losses = draw(rng, (DRAWS // 2, m))
    limit = np.array([bounds.empirical_bernstein(row, DELTA).value for row in losses])
    assert np.mean(limit < mean) <= ALLOWED
    found = losses.mean(axis=1)
    assert np.mean(found + (limit - found) / 3 < mean) > ALLOWED


@pytest.mark.parametrize("rare", [0.002, 0.02, 0.2])
def test_hard_margin_machines_in_the_plane_stay_within_their_bound(rng, rare):
    """On the unit circle the machine through the origin bisects the extreme angles of y x.

    Angles of y x lie in [-limit, limit], limit = pi/2 - a, so the margin is sin a. Most are spread
    over the upper end; a part `rare` sits at the lower end and is missed until it is seen.
    """
    a, m = 0.3, 300
    limit = math.pi / 2 - a
    upper = rng.uniform(0.5, limit, (DRAWS, m))
    angle = np.where(rng.random((DRAWS, m)) < rare, -limit, upper)
    w = (angle.min(axis=1) + angle.max(axis=1)) / 2
    missed_low = np.where(w + limit > math.pi / 2, rare, 0.0)
    missed_high = (1 - rare) * np.clip((limit - (w + math.pi / 2)) / (limit - 0.5), 0, 1)
    bound = bounds.hard_margin(1.0, math.sin(a), m, DELTA)
    assert not bound.vacuous
    assert failures(missed_low + missed_high, bound.value) <= ALLOWED


def soft_machine(v, lam):
    """Solve min mean max(0, 1 - v w) + lam w^2 / 2 in one dimension, by bisection."""
    low, high = np.full(len(v), -1 / lam), np.full(len(v), 1 / lam)
    for _ in range(60):
        middle = (low + high) / 2
        slope = lam * middle - np.mean(np.where(v * middle[:, None] < 1, v, 0.0), axis=1)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return (low + high) / 2


@pytest.mark.parametrize("noise", [0.0, 0.15, 0.4])
def test_soft_margin_machines_stay_within_their_bounds_on_average(rng, noise):
    m, radius, draws = 60, 2.0, 4000

    def sample(n, rows):
        x = rng.uniform(-1, 1, (n, rows))
        return np.abs(x) * np.where(rng.random((n, rows)) < noise, -1.0, 1.0)

    best = bounds.suggested_strength(1.0, radius, m)
    w = soft_machine(sample(draws, m), best.lam)
    fresh = sample(1, 100_000)[0]
    grid = np.linspace(-5, 5, 201)
    hinge = np.array([np.maximum(0, 1 - fresh * u).mean() for u in grid])
    risk = np.interp(w, grid, hinge)
    errors = np.where(w > 0, noise, 1 - noise)
    comparison = hinge[np.abs(grid) <= radius].min()
    bound = bounds.soft_margin(1.0, radius, m, comparison).value
    assert errors.mean() <= risk.mean() <= bound
    at_two = bounds.soft_margin(1.0, 2.0, m, hinge[grid == 2.0][0], best.lam_s).value
    assert risk.mean() <= at_two


@pytest.mark.parametrize("spread", [0.0, 0.3, 1.0])
def test_replacing_a_row_moves_a_solution_by_half_the_bound_at_most_and_reaches_it(rng, spread):
    """Where the hinge loss is linear, w = mean(y x) / lam.

    A row turned round moves it by 2 / (lam m), half of 2 rho / (lam_s m) = 4 / (lam m).
    """
    m, lam = 40, 3.0
    v = np.clip(1 - spread * rng.random((DRAWS, m)), -1, 1)
    other = v.copy()
    other[:, 0] = -1.0
    moved = np.abs(soft_machine(v, lam) - soft_machine(other, lam))
    bound = bounds.replacement_distance(1.0, lam / 2, m).value
    assert moved.max() <= bound / 2 * (1 + 1e-9)
    if spread == 0.0:
        assert moved.max() > bound / 2.1


@pytest.mark.parametrize("scale", [0.2, 1.0, 3.0])
def test_ridge_in_one_dimension_stays_within_the_stability_bounds(rng, scale):
    """Ridge has a closed form here, so the expected gap is known to three digits."""
    m, draws, lam_s = 30, 20_000, 2.5
    x = rng.choice([-1.0, 1.0], (draws, m))
    y = np.clip(0.5 * x + scale * rng.standard_normal((draws, m)), -1, 1)
    w = np.mean(x * y, axis=1) / (1 + 2 * lam_s)
    fresh = np.clip(0.5 + scale * rng.standard_normal(200_000), -1, 1)
    empirical = np.mean((y - x * w[:, None]) ** 2, axis=1) / 2
    each = (w - w.mean()) * np.mean(x * y, axis=1)  # L_D - L_S, but for terms of mean 0
    gap, error = each.mean(), 4 * each.std() / math.sqrt(draws)
    slope = 1 + math.sqrt(1 / (2 * lam_s))  # |y| <= 1 and ||w|| <= sqrt(2 C / lam), C = 1/2
    assert gap - error <= bounds.stability(slope, lam_s, m).value
    smooth = bounds.smooth_stability(1.0, lam_s, m, float(empirical.mean()))
    assert smooth.assumptions[-1].status == "met"
    assert gap - error <= smooth.value
    assert gap == pytest.approx(fresh.var() / (m * (1 + 2 * lam_s)), abs=error)
    assert gap > error


def test_the_boosted_count_reaches_its_level(rng):
    """Fits with an excess above eps half of the time, and validation losses that may mislead."""
    eps, delta, draws = 0.3, 0.1, DRAWS
    k = math.ceil(math.log2(1 / delta))
    last = bounds.boosted_sample_size(1, eps, delta).value - k
    base = 0.2
    excess = np.where(rng.random((draws, k)) < 0.5, 0.0, rng.uniform(eps, 0.75, (draws, k)))
    excess[excess == 0.0] = eps
    seen = rng.binomial(last, base + np.minimum(excess, 0.8)) / last
    chosen = np.take_along_axis(excess, seen.argmin(axis=1)[:, None], axis=1)[:, 0]
    assert np.mean(chosen > (1 + math.sqrt(2)) * eps) <= 1.5 * delta
