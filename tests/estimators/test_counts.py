"""Counts and amounts: the optimum of scikit-learn, offsets, the deviance explained."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import GammaRegressor, PoissonRegressor
from sklearn.metrics import d2_tweedie_score

import tikhon as tk

GRID = tk.Grid(size=6, ratio=1e-3)
PEERS = {
    tk.PoissonRegressor: (PoissonRegressor, 1),
    tk.GammaRegressor: (GammaRegressor, 2),
}
POSITIVE = tk.penalties.Sum(tk.penalties.ElasticNet(0.5), tk.penalties.Nonnegative())
BOTH = pytest.mark.parametrize("kind", PEERS, ids=lambda kind: kind.__name__)


def table(kind, rng, n=120, d=4):
    X = rng.standard_normal((n, d))
    mean = np.exp(0.5 * X[:, 0] - 0.3 * X[:, 1] + 0.5)
    return X, (rng.poisson(mean) if kind is tk.PoissonRegressor else rng.gamma(3.0, mean / 3.0))


@BOTH
def test_it_is_scikit_learns_at_the_same_strength(kind, rng):
    X, y = table(kind, rng)
    s = rng.random(len(y)) + 0.2
    peer, power = PEERS[kind]
    other = peer(alpha=0.3, solver="newton-cholesky", tol=1e-12, max_iter=1000)
    other.fit(X, y, sample_weight=s)
    model = kind(0.3, standardize=False, tol=1e-12).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=1e-8)
    assert model.intercept_ == pytest.approx(other.intercept_, rel=1e-7)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6)
    assert model.score(X, y, s) == pytest.approx(other.score(X, y, s), rel=1e-6)
    assert model.score(X, y) == pytest.approx(d2_tweedie_score(y, model.predict(X), power=power))


@BOTH
@pytest.mark.parametrize("penalty", ["l1", "elastic_net", POSITIVE])
def test_every_penalty_is_certified(kind, penalty, rng):
    X, y = table(kind, rng)
    model = kind(0.02, penalty=penalty).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.gap < 1e-8
    if penalty is POSITIVE:
        assert model.coef_.min() >= 0


@BOTH
def test_an_exposure_is_the_offset_of_its_logarithm(kind, rng):
    X, y = table(kind, rng)
    exposure = rng.random(len(y)) + 0.5
    one = kind(0.01, tol=1e-12).fit(X, y * exposure, exposure=exposure)
    other = kind(0.01, tol=1e-12).fit(X, y * exposure, offset=np.log(exposure))
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_allclose(one.predict(X, exposure=exposure), exposure * one.predict(X))
    np.testing.assert_allclose(
        one.predict(X, offset=np.log(exposure)), one.predict(X, exposure=exposure)
    )
    both = kind(0.01, tol=1e-12)
    both.fit(X, y * exposure**2, offset=np.log(exposure), exposure=exposure)
    twice = kind(0.01, tol=1e-12).fit(X, y * exposure**2, exposure=exposure**2)
    np.testing.assert_allclose(both.coef_, twice.coef_, rtol=1e-9)


def test_a_rate_with_exposure_is_a_weighted_mean(rng):
    """Counts over an exposure are rates weighted by it: the same likelihood."""
    X, y = table(tk.PoissonRegressor, rng)
    exposure = rng.random(len(y)) + 0.5
    counts = tk.PoissonRegressor(0.0, tol=1e-12).fit(X, y, exposure=exposure)
    rates = tk.PoissonRegressor(0.0, tol=1e-12).fit(X, y / exposure, sample_weight=exposure)
    np.testing.assert_allclose(counts.coef_, rates.coef_, rtol=1e-6)
    explained = counts.score(X, y, exposure=exposure)
    assert explained == pytest.approx(rates.score(X, y / exposure, exposure), rel=1e-6)


@BOTH
def test_a_constant_offset_moves_the_intercept_alone(kind, rng):
    X, y = table(kind, rng)
    plain = kind(0.01, tol=1e-12).fit(X, y)
    for shift in (3.0, -1e3):
        moved = kind(0.01, tol=1e-12).fit(X, y, offset=np.full(len(y), shift))
        np.testing.assert_allclose(moved.coef_, plain.coef_, atol=1e-7)
        assert moved.intercept_ == pytest.approx(plain.intercept_ - shift)


@BOTH
def test_the_strength_is_chosen_by_deviance_with_the_offset(kind, rng):
    X, y = table(kind, rng)
    exposure = rng.random(len(y)) + 0.5
    model = kind(GRID, folds=4).fit(X, y * exposure, exposure=exposure)
    assert model.study_.score == "deviance"
    held = model.study_.held_out()
    scores = [
        PEERS_DEVIANCE[kind](held.y[held.fold == k], held.mean[held.fold == k]) for k in range(4)
    ]
    np.testing.assert_allclose(scores, model.study_.scores[model.study_.index()], rtol=1e-4)
    nested = kind(GRID, folds=3, nested=True, scoring="d2").fit(X, y)
    assert nested.study_.nested.score == "d2"


def _poisson_deviance(y, mean):
    ratio = np.where(y > 0, y / mean, 1.0)
    return 2 * np.mean(y * np.log(ratio) - y + mean)


PEERS_DEVIANCE = {
    tk.PoissonRegressor: _poisson_deviance,
    tk.GammaRegressor: lambda y, mean: 2 * np.mean(y / mean - 1 - np.log(y / mean)),
}


@BOTH
@pytest.mark.parametrize("make", [np.asfortranarray, sp.csr_array, sp.csc_array])
def test_layouts_of_the_table_change_nothing(kind, make, rng):
    X, y = table(kind, rng)
    X[rng.random(X.shape) < 0.3] = 0.0
    plain, other = (kind(0.01, tol=1e-12).fit(T, y) for T in (X, make(X)))
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-7)
    single = kind(0.01, tol=1e-10).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(single.coef_, plain.coef_, atol=1e-5)


@BOTH
def test_weights_are_repetitions(kind, rng):
    X, y = table(kind, rng, n=50)
    s = rng.integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), s)
    options = {"folds": 4, "tol": 1e-12}
    weighted = kind(GRID, **options).fit(X, y, sample_weight=s)
    repeated = kind(GRID, **options).fit(X[index], y[index])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, atol=1e-6)
    np.testing.assert_allclose(weighted.study_.mean, repeated.study_.mean, rtol=1e-6)


def test_counts_of_a_million_and_of_none_are_right(rng):
    X, y = table(tk.PoissonRegressor, rng)
    plain = tk.PoissonRegressor(0.0, tol=1e-12).fit(X, y)
    large = tk.PoissonRegressor(0.0, tol=1e-12).fit(X, 1e6 * y)
    np.testing.assert_allclose(large.coef_, plain.coef_, atol=1e-6)
    assert large.intercept_ == pytest.approx(plain.intercept_ + np.log(1e6), abs=1e-6)
    few = np.where(np.arange(len(y)) < 3, 1, 0)
    model = tk.PoissonRegressor(0.01).fit(X, few)
    assert model.status_ == "converged"
    assert model.predict(X).mean() == pytest.approx(3 / len(y), rel=1e-6)


def test_targets_without_meaning_and_exposures_of_nothing_are_refused(rng):
    X, y = table(tk.PoissonRegressor, rng)
    with pytest.raises(tk.InputError, match=r"\[target\].*must be >= 0"):
        tk.PoissonRegressor(0.1).fit(X, y - 5)
    with pytest.raises(tk.InputError, match=r"\[target\]"):
        tk.GammaRegressor(0.1).fit(X, y)
    with pytest.raises(tk.InputError, match=r"\[exposure\].*row 2, saw 0.0"):
        tk.PoissonRegressor(0.1).fit(X, y, exposure=np.where(np.arange(len(y)) == 2, 0.0, 1.0))
    with pytest.raises(tk.InputError, match=r"`offset` has shape"):
        tk.PoissonRegressor(0.1).fit(X, y).predict(X, offset=np.ones(3))
    with pytest.raises(TypeError, match=r"`lam`=0.5 with standardize=False"):
        tk.PoissonRegressor(alpha=0.5)


@BOTH
def test_effects_multiply(kind, rng):
    X, y = table(kind, rng)
    model = kind(0.01).fit(X, y)
    moved = X.copy()
    moved[:, 0] += 1
    np.testing.assert_allclose(model.predict(moved) / model.predict(X), np.exp(model.coef_[0]))
    np.testing.assert_allclose(np.log(model.predict(X)), model.linear_predictor(X))
