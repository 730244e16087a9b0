"""Weights of the adaptive lasso, and what the lasso does with them."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.penalties import L1, Weighted, adaptive_weights, soft_threshold


def path_of(penalty, X, y, lams=60):
    return tk.path(tk.losses.Squared(), penalty, X, y, lams=lams, tol=1e-11)


def test_weights_are_powers_of_the_coefficients():
    coef = np.array([2.0, -0.5, 4.0])
    np.testing.assert_allclose(adaptive_weights(coef), [0.5, 2.0, 0.25])
    np.testing.assert_allclose(adaptive_weights(coef, gamma=2), [0.25, 4.0, 0.0625])
    np.testing.assert_allclose(adaptive_weights(coef, floor=3.0), [1 / 3, 1 / 3, 0.25])


def test_a_zero_gets_the_finite_weight_of_the_floor():
    np.testing.assert_allclose(adaptive_weights([0.0, -2.0]), [1 / 2e-6, 0.5])
    np.testing.assert_allclose(adaptive_weights([0.0, 1e-30], floor=0.5), [2.0, 2.0])
    assert adaptive_weights([]).shape == (0,)


def test_a_fitted_model_and_its_coefficients_are_the_same(rng):
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    model = tk.Ridge(lam=0.1).fit(X, y)
    np.testing.assert_array_equal(adaptive_weights(model), adaptive_weights(model.coef_))


def test_weighted_lasso_is_lasso_on_scaled_columns(rng):
    X = rng.standard_normal((50, 4))
    y = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * rng.standard_normal(50)
    first = np.linalg.lstsq(X, y, rcond=None)[0]
    adaptive = path_of(Weighted(L1(), adaptive_weights(first)), X, y, lams=[0.1, 0.01])
    scaled = path_of(L1(), X * np.abs(first), y, lams=[0.1, 0.01])
    np.testing.assert_allclose(adaptive.coefs, scaled.coefs * np.abs(first), atol=1e-5)


def test_on_orthogonal_columns_large_coefficients_are_hardly_shrunk(rng):
    """Lasso moves each coefficient by lam, the adaptive lasso by ``lam / |coef|``."""
    n, free = 80, np.array([4.0, -1.0, 0.2, 0.1])
    X = np.sqrt(n) * np.linalg.qr(rng.standard_normal((n, 4)))[0]
    penalty, y = Weighted(L1(), adaptive_weights(free)), X @ free
    problem = tk.Problem(tk.losses.Squared(), penalty, 0.1, intercept=False)
    found = tk.solve(problem, X, y, tol=1e-14).coef
    np.testing.assert_allclose(found, soft_threshold(free, 0.1 / np.abs(free)), atol=1e-6)
    np.testing.assert_allclose(found, [3.975, -0.9, 0.0, 0.0], atol=1e-6)


def test_the_true_support_is_found_where_no_strength_of_the_lasso_finds_it(rng):
    """The third column correlates with both others by 0.7: 0.7 + 0.7 > 1, and lasso takes it in.

    That is Zou's condition (2006): without noise, the sign-weighted correlations of a column that
    should stay out must add up to less than 1.
    """
    n, truth = 400, np.array([2.0, 2.0, 0.0])
    Q = np.sqrt(n) * np.linalg.qr(rng.standard_normal((n, 3)))[0]
    X = Q @ np.array([[1.0, 0.0, 0.7], [0.0, 1.0, 0.7], [0.0, 0.0, np.sqrt(1 - 2 * 0.49)]])
    y = X @ truth + 0.05 * rng.standard_normal(n)
    first = np.linalg.lstsq(X, y, rcond=None)[0]
    support = truth != 0
    plain = tk.path(tk.losses.Squared(), L1(), X, y, lams=60, intercept=False)
    penalty = Weighted(L1(), adaptive_weights(first))
    adaptive = tk.path(tk.losses.Squared(), penalty, X, y, lams=60, intercept=False)
    assert not any(np.array_equal(w != 0, support) for w in plain.coefs)
    right = [np.array_equal(w != 0, support) for w in adaptive.coefs]
    assert sum(right) > 10
    oracle = np.linalg.lstsq(X[:, :2], y, rcond=None)[0]
    nearest = min(np.abs(w[:2] - oracle).max() for w in adaptive.coefs[right])
    assert nearest < 0.02


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: adaptive_weights([1.0], gamma=0.0), "`gamma` must be > 0 and finite, got 0.0."),
        (lambda: adaptive_weights([1.0], floor=-1.0), "`floor` must be > 0 and finite, got -1.0."),
        (lambda: adaptive_weights([1.0, np.nan]), "`coef` must be finite, got nan."),
        (lambda: adaptive_weights(np.ones((2, 3))), "one number per column, got shape (2, 3)"),
        (lambda: adaptive_weights(np.zeros(3)), "0 in every column"),
        (lambda: adaptive_weights([1e-300, 1.0], gamma=2.0, floor=1e-300), "smaller `gamma`"),
    ],
)
def test_what_gives_no_weights_is_refused_with_the_value(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)
