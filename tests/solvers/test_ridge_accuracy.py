"""Ridge against solutions in eighty digits."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.reference import digits, ridge_mp

LAM = 0.01


def problem(rng, n=40, d=6, offset=0.0, dtype=np.float64):
    X = (rng.standard_normal((n, d)) + offset).astype(dtype)
    y = X.astype(float) @ rng.uniform(1, 2, d) + 0.3 * rng.standard_normal(n) + 4.0
    return X, y


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 10.0, 1e3, 1e6])
@pytest.mark.parametrize("solver", ["tall", "wide"])
def test_twelve_digits_whatever_the_mean(rng, dtype, offset, solver):
    X, y = problem(rng, offset=offset, dtype=dtype)
    model = tk.Ridge(lam=LAM, standardize=False, solver=solver).fit(X, y)
    coef, intercept = ridge_mp(X, y, LAM)
    assert digits(model.coef_, coef) >= 12
    # the intercept is a difference of terms of size offset * coef
    lost = np.log10(max(1.0, offset * np.abs(coef).sum() / abs(intercept)))
    assert digits(model.intercept_, intercept) >= 12 - lost


def test_twelve_digits_with_columns_of_different_size(rng):
    X, y = problem(rng)
    X *= np.array([1e-4, 1.0, 1e4, 1e2, 1e-2, 1.0])
    model = tk.Ridge(lam=LAM, standardize=False).fit(X, y)
    coef, _ = ridge_mp(X, y, LAM)
    assert digits(model.coef_, coef) >= 11


def test_twelve_digits_from_cross_validation(rng):
    X, y = problem(rng, offset=100.0)
    model = tk.Ridge(standardize=False).fit(X, y)
    coef, _ = ridge_mp(X, y, model.lam_)
    assert digits(model.coef_, coef) >= 12


def test_twelve_digits_from_sparse_columns(rng):
    X, y = problem(rng)
    X[rng.random(X.shape) < 0.7] = 0.0
    model = tk.Ridge(lam=LAM, standardize=False).fit(sp.csr_array(X), y)
    coef, _ = ridge_mp(X, y, LAM)
    assert digits(model.coef_, coef) >= 12


def test_standardizing_scales_the_penalty_and_nothing_else(rng):
    X, y = problem(rng, offset=5.0)
    sd = X.std(axis=0)
    model = tk.Ridge(lam=LAM).fit(X, y)
    scaled = tk.Ridge(lam=LAM, standardize=False).fit(X / sd, y)
    assert digits(model.coef_ * sd, scaled.coef_) >= 12
