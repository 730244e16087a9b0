"""The maps between strength, norm, degrees of freedom and prior, and the norm-constrained form."""

import numpy as np
import pytest

import tikhon as tk
from tests.solvers.test_ridge_laws import data_of


@pytest.fixture
def fitted(rng):
    X, y = data_of(rng, 40, 5)
    return X, y, tk.Ridge(lam=0.3).fit(X, y).spectrum_


def test_norm_and_degrees_of_freedom_are_those_of_the_fit(fitted):
    X, y, spectrum = fitted
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    for lam in (1e-3, 0.3, 40.0):
        model = tk.Ridge(lam=lam).fit(X, y)
        assert spectrum.norm(lam) == pytest.approx(np.linalg.norm(model.coef_ * X.std(axis=0)))
        H = Z @ np.linalg.solve(Z.T @ Z + 40 * lam * np.eye(5), Z.T)
        assert spectrum.df(lam) == pytest.approx(np.trace(H), rel=1e-10)
        residual = y - model.predict(X)
        assert spectrum.mean_square_residual(lam)[0] == pytest.approx(np.mean(residual**2))
        assert spectrum.noise(lam)[0] == pytest.approx(
            np.sqrt(np.sum(residual**2) / (40 - 1 - np.trace(H)))
        )


@pytest.mark.parametrize("lam", [1e-6, 1e-2, 1.0, 1e4])
def test_the_maps_invert_each_other(fitted, lam):
    _, _, spectrum = fitted
    assert spectrum.lam_for_norm(spectrum.norm(lam)) == pytest.approx(lam, rel=1e-6)
    assert spectrum.lam_for_df(spectrum.df(lam)) == pytest.approx(lam, rel=1e-6)
    tau = spectrum.prior_sd(lam, noise=2.0)
    assert spectrum.lam_for_prior_sd(tau, noise=2.0) == pytest.approx(lam, rel=1e-12)
    assert lam * 40 == pytest.approx((2.0 / tau) ** 2)


def test_the_prior_sd_uses_the_estimated_noise_by_default(fitted):
    _, _, spectrum = fitted
    assert spectrum.prior_sd(0.1) == pytest.approx(
        spectrum.prior_sd(0.1, float(spectrum.noise(0.1)[0]))
    )
    assert spectrum.prior_sd(0.0) == np.inf


@pytest.mark.parametrize("solver", ["tall", "wide", "iterative"])
@pytest.mark.parametrize("targets", [None, 2])
def test_a_norm_bound_is_met_exactly_by_the_returned_coefficients(rng, solver, targets):
    X, y = data_of(rng, 40, 5, targets)
    free = np.linalg.norm(tk.LinearRegression().fit(X, y).coef_)
    model = tk.Ridge(norm=free / 2, solver=solver).fit(X, y)
    assert np.linalg.norm(model.coef_) == pytest.approx(free / 2, rel=1e-6)
    same = tk.Ridge(lam=model.lam_, standardize=False, solver=solver).fit(X, y)
    np.testing.assert_allclose(model.coef_, same.coef_, rtol=1e-9)


def test_a_constrained_solution_is_better_than_any_other_of_that_norm(rng):
    X, y = data_of(rng, 40, 5)
    model = tk.Ridge(norm=0.5).fit(X, y)
    best = np.mean((y - model.predict(X)) ** 2)
    for _ in range(200):
        w = model.coef_ + 0.3 * rng.standard_normal(5)
        w *= min(1.0, 0.5 / np.linalg.norm(w))
        z = X @ w
        assert np.mean((y - z - (y - z).mean()) ** 2) >= best - 1e-12


def test_an_inactive_constraint_says_so(rng):
    X, y = data_of(rng, 40, 5)
    model = tk.Ridge(norm=100.0).fit(X, y)
    assert model.lam_ == 0.0
    assert model.status_ == "converged"
    assert "constraint inactive" in model.status_.message
    np.testing.assert_array_equal(model.coef_, tk.LinearRegression().fit(X, y).coef_)


def test_norm_and_strength_together_are_refused(rng):
    X, y = data_of(rng)
    with pytest.raises(ValueError, match="not both"):
        tk.Ridge(lam=1.0, norm=1.0).fit(X, y)
    with pytest.raises(ValueError, match="`norm` must be > 0, got -1"):
        tk.Ridge(norm=-1.0).fit(X, y)


def test_maps_refuse_what_has_no_preimage(fitted):
    _, _, spectrum = fitted
    assert spectrum.lam_for_norm(1e9) == 0.0
    assert spectrum.lam_for_df(5) == 0.0
    for df in (0.0, 5.5, -1):
        with pytest.raises(ValueError, match="`df`"):
            spectrum.lam_for_df(df)
    with pytest.raises(ValueError, match="`sd`"):
        spectrum.lam_for_prior_sd(0.0, 1.0)
