"""Huber's regression: the optimum of scikit-learn at its own scale, and what wild rows may do."""

import numpy as np
import pytest
from sklearn.linear_model import HuberRegressor

import tikhon as tk

GRID = tk.Grid(size=6, ratio=1e-4)


def table(rng, n=80, wild=8):
    X = rng.standard_normal((n, 3))
    y = X @ [2.0, -1.0, 0.0] + 5 + 0.3 * rng.standard_normal(n)
    y[:wild] += 40 * rng.random(wild) + 20
    return X, y


def test_it_is_scikit_learns_at_its_scale(rng):
    X, y = table(rng)
    s = rng.random(len(y)) + 0.5
    other = HuberRegressor(alpha=0.5, epsilon=1.5, tol=1e-10, max_iter=10_000)
    other.fit(X, y, sample_weight=s)
    model = tk.HuberRegressor(
        0.5 * other.scale_ / s.sum(), delta=1.5, scale=other.scale_, standardize=False, tol=1e-12
    ).fit(X, y, sample_weight=s)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-5)
    assert model.intercept_ == pytest.approx(other.intercept_, abs=2e-5)


@pytest.mark.parametrize("lam", [1e-3, GRID])
def test_a_tenth_of_wild_rows_changes_little(lam, rng):
    X, y = table(rng)
    model = tk.HuberRegressor(lam, folds=5).fit(X, y)
    np.testing.assert_allclose(model.coef_, [2, -1, 0], atol=0.25)
    assert 0.2 < model.scale_ < 0.6
    assert model.outliers_[:8].all()
    assert model.outliers_[8:].mean() < 0.4
    assert model.status_ == "converged"


def test_units_of_the_target_scale_everything(rng):
    X, y = table(rng)
    plain = tk.HuberRegressor(1e-2, tol=1e-12).fit(X, y)
    scaled = tk.HuberRegressor(1e-2, tol=1e-12).fit(X, 1000 * y)
    assert scaled.scale_ == pytest.approx(1000 * plain.scale_, rel=1e-6)
    np.testing.assert_allclose(scaled.coef_, 1000 * plain.coef_, rtol=1e-6, atol=1e-5)


def test_a_huge_delta_is_least_squares(rng):
    X, y = table(rng)
    model = tk.HuberRegressor(0.1, delta=1e6, tol=1e-12).fit(X, y)
    ridge = tk.Ridge(0.1).fit(X, y)
    np.testing.assert_allclose(model.coef_, ridge.coef_, atol=1e-6)
    assert not model.outliers_.any()


def test_rows_that_are_interpolated_keep_the_scale_of_the_target(rng):
    X, y = rng.standard_normal((10, 30)), rng.standard_normal(10)
    with pytest.warns(tk.FitWarning) if False else _quiet():
        model = tk.HuberRegressor(1e-9).fit(X, y)
    assert 0.2 < model.scale_ < 5
    constant = tk.HuberRegressor(0.1).fit(X, np.full(10, 3.0))
    assert constant.scale_ == 1.0
    np.testing.assert_allclose(constant.predict(X), 3.0)


def _quiet():
    import contextlib
    import warnings

    stack = contextlib.ExitStack()
    stack.enter_context(warnings.catch_warnings())
    warnings.simplefilter("ignore", tk.FitWarning)
    return stack


def test_wrong_options_are_named(rng):
    X, y = table(rng)
    for options, message in (
        ({"delta": 0.0}, "`delta` must be positive"),
        ({"scale": "sd"}, "`scale` must be 'mad' or a positive number"),
        ({"scale": -1.0}, "`scale` must be"),
    ):
        with pytest.raises(ValueError, match=message):
            tk.HuberRegressor(0.1, **options).fit(X, y)
    with pytest.raises(TypeError, match="`delta`=1.35"):
        tk.HuberRegressor(epsilon=1.35)
