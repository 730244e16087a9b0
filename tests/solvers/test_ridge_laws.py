"""What must hold for ridge whatever the regime, the storage and the seed."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tests.designs import KINDS
from tests.reference import ridge
from tikhon.paths.ridge_path import LatePath

SOLVERS = ["tall", "wide", "iterative"]
TOLERANCE = {"tall": 1e-11, "wide": 1e-11, "iterative": 1e-6}


def data_of(rng, n=30, d=5, targets=None):
    X = rng.standard_normal((n, d)) + 1.0
    noise = rng.standard_normal(n if targets is None else (n, targets))
    return X, (X[:, 0] + noise.T).T


def fit(X, y, *, weights=None, lam=0.2, **options):
    return tk.Ridge(lam=lam, **options).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("shape", [(30, 5), (12, 40)])
def test_every_regime_solves_the_normal_equations(
    rng, solver, targets, standardize, intercept, shape
):
    X, y = data_of(rng, *shape, targets)
    s = rng.random(len(y))
    model = fit(X, y, weights=s, solver=solver, standardize=standardize, fit_intercept=intercept)
    coef, b = ridge(X, y, 0.2, weights=s, standardize=standardize, intercept=intercept)
    np.testing.assert_allclose(model.coef_.T, coef, rtol=0, atol=TOLERANCE[solver])
    np.testing.assert_allclose(model.intercept_, b, rtol=0, atol=10 * TOLERANCE[solver])
    assert model.status_ == "converged"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("solver", SOLVERS)
def test_storage_does_not_matter(rng, kind, solver):
    X, y = data_of(rng)
    X[rng.random(X.shape) < 0.5] = 0.0
    expected = fit(X, y, solver=solver)
    found = fit(KINDS[kind](X), y, solver=solver)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), solver=st.sampled_from(["tall", "wide"]))
def test_the_certificate_bounds_the_true_distance(seed, solver):
    rng = np.random.default_rng(seed)
    X, y = data_of(rng, 25, 4)
    model = fit(X, y, solver=solver, standardize=False)
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.2)
    own = problem.certificate(X, y, model.coef_, model.intercept_)
    assert model.certificate_.objective == pytest.approx(own.objective, rel=1e-12)
    assert model.certificate_.null_objective == pytest.approx(own.null_objective, rel=1e-12)
    coef, _ = ridge(X, y, 0.2)
    assert np.linalg.norm(model.coef_ - coef) <= model.certificate_.error_bound + 1e-12


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_shifting_columns_changes_only_the_intercept(rng, solver, make):
    X, y = data_of(rng)
    c = np.array([1.0, -2.0, 3.0, 0.5, 10.0])
    before, after = fit(make(X), y, solver=solver), fit(make(X + c), y, solver=solver)
    np.testing.assert_allclose(after.coef_, before.coef_, rtol=0, atol=1e-11)
    assert after.intercept_ == pytest.approx(before.intercept_ - c @ before.coef_, abs=1e-10)


@pytest.mark.parametrize("solver", ["tall", "wide"])
def test_scaling_columns_by_powers_of_two_is_exact_when_standardizing(rng, solver):
    X, y = data_of(rng)
    scale = np.array([2.0, 0.25, 1024.0, 1.0, 2.0**-20])
    before, after = fit(X, y, solver=solver), fit(X * scale, y, solver=solver)
    np.testing.assert_array_equal(after.coef_ * scale, before.coef_)


@pytest.mark.parametrize("solver", SOLVERS)
def test_permuting_columns_permutes_coefficients(rng, solver):
    X, y = data_of(rng)
    order = rng.permutation(5)
    before, after = fit(X, y, solver=solver), fit(X[:, order], y, solver=solver)
    np.testing.assert_allclose(after.coef_, before.coef_[order], rtol=0, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_weights_are_repetitions_and_their_size_does_not_matter(rng, solver):
    X, y = data_of(rng)
    s = rng.integers(0, 4, len(y)).astype(float)
    weighted = fit(X, y, weights=s, solver=solver)
    repeated = fit(X.repeat(s.astype(int), axis=0), y.repeat(s.astype(int)), solver=solver)
    larger = fit(X, y, weights=1e3 * s, solver=solver)
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=TOLERANCE[solver])
    np.testing.assert_allclose(weighted.coef_, larger.coef_, rtol=0, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_strength_without_end_leaves_the_null_model(rng, solver):
    X, y = data_of(rng)
    model = fit(X, y, lam=1e12, solver=solver)
    np.testing.assert_allclose(model.coef_, 0.0, atol=1e-10)
    assert model.intercept_ == pytest.approx(y.mean())


def test_strength_zero_is_least_squares(rng):
    X, y = data_of(rng)
    free, zero = tk.LinearRegression().fit(X, y), fit(X, y, lam=0.0)
    np.testing.assert_array_equal(zero.coef_, free.coef_)
    assert (zero.lam_, zero.df_) == (0.0, 5.0)


def test_strengths_may_differ_by_target(rng):
    X, y = data_of(rng, targets=3)
    lams = np.array([0.1, 1.0, 10.0])
    together = fit(X, y, lam=lams)
    for t, lam in enumerate(lams):
        alone = fit(X, y[:, t], lam=lam)
        np.testing.assert_allclose(together.coef_[t], alone.coef_, rtol=1e-12)
    np.testing.assert_array_equal(together.lam_, lams)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_path_is_a_sequence_of_single_fits(rng, solver):
    X, y = data_of(rng, targets=2)
    lams = [5.0, 0.5, 0.05]
    path = tk.path(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=lams, solver=solver)
    for k, lam in enumerate(lams):
        single = tk.solve(
            tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam), X, y, solver=solver
        )
        np.testing.assert_allclose(path.coefs[k], single.coef, rtol=0, atol=TOLERANCE[solver])
        assert path.certificates[k].gap <= 1e-8
    assert path.at(0.4).lam == 0.5


def test_a_large_path_is_certified_when_it_is_looked_at(rng, monkeypatch):
    X, y = data_of(rng)
    eager = tk.path(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=4)
    monkeypatch.setattr("tikhon.paths.ridge_path.CERTIFY_AT_ONCE", 0)
    late = tk.path(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=4)
    assert isinstance(late, LatePath)
    alone = late[2]
    assert "_solutions" not in vars(late)
    assert alone.certificate.gap < 1e-20
    np.testing.assert_allclose(alone.coef, eager[2].coef, rtol=1e-12)
    revived = pickle.loads(pickle.dumps(late))
    assert type(revived) is type(eager)
    for path in (late, revived):
        np.testing.assert_allclose(path.coefs, eager.coefs, rtol=0, atol=1e-14)
        np.testing.assert_allclose(path.intercepts, eager.intercepts, rtol=1e-13)
        for found, expected in zip(path.certificates, eager.certificates, strict=True):
            assert found.objective == pytest.approx(expected.objective, rel=1e-13)
            assert found.gap < 1e-20
    np.testing.assert_allclose(late[2].coef, alone.coef, rtol=1e-13)


def test_the_same_fit_twice_is_the_same_to_the_bit(rng):
    X, y = data_of(rng, 500, 20)
    first, second = tk.Ridge().fit(X, y), tk.Ridge().fit(X, y)
    np.testing.assert_array_equal(first.coef_, second.coef_)
    np.testing.assert_array_equal(first.study_.scores, second.study_.scores)


def test_an_unknown_solver_is_refused_with_those_that_exist(rng):
    X, y = data_of(rng)
    with pytest.raises(tk.UnsupportedError, match="'auto', 'tall', 'wide', 'iterative'"):
        fit(X, y, solver="svd")
