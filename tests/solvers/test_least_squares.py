"""Least squares: rank, aliased columns, minimum norm, extreme numbers, large tables."""

import warnings

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.reference import digits
from tests.solvers.test_ridge_accuracy import problem


@pytest.fixture
def small_limits(monkeypatch):
    """Send small tables to the rungs for large ones."""
    for name in ("least_squares.SMALL", "scaled_table.KEEP_Q"):
        monkeypatch.setattr(f"tikhon.solvers.{name}", 0)


def exact_solution(X, y, *, digits_kept=80):
    with mpmath.workdps(digits_kept):
        A = mpmath.matrix([[1.0, *map(float, row)] for row in X])
        right = A.T * mpmath.matrix([float(v) for v in y])
        return np.array([float(v) for v in mpmath.lu_solve(A.T * A, right)])


def coefficients(model):
    return np.r_[model.intercept_, model.coef_]


@pytest.mark.parametrize("degree", [3, 6, 9])
def test_raw_powers_are_solved_to_the_last_digits(rng, degree):
    x = np.linspace(1.0, 3.0, 60)
    X = np.column_stack([x**k for k in range(1, degree + 1)])
    y = np.sin(3 * x) + rng.standard_normal(60)  # a large residual: the hard case
    model = tk.LinearRegression().fit(X, y)
    assert digits(coefficients(model), exact_solution(X, y)) >= 13


@pytest.mark.parametrize("degree", [3, 6])
def test_blocks_of_rows_lose_no_digits(rng, degree, small_limits, monkeypatch):
    monkeypatch.setattr("tikhon.solvers.least_squares.TRUSTED_CONDITION", 0.0)
    x = np.linspace(1.0, 3.0, 9000)
    X = np.column_stack([x**k for k in range(1, degree + 1)])
    y = np.sin(3 * x) + rng.standard_normal(9000)
    model = tk.LinearRegression().fit(X, y)
    assert model.solver_ == "QR, double-double"
    assert digits(coefficients(model), exact_solution(X, y, digits_kept=40)) >= 12


def test_moments_are_corrected_on_the_rows(rng, small_limits):
    X, y = problem(rng, n=3000, d=5, offset=1e4)
    model = tk.LinearRegression().fit(X, y)
    assert model.solver_ == "moments"
    assert digits(model.coef_, exact_solution(X, y, digits_kept=40)[1:]) >= 12


@pytest.mark.parametrize("size", [1e160, 1e-170, 1e290, 1e-290])
def test_columns_of_extreme_size_give_right_answers(rng, size):
    X, y = problem(rng)
    factor = np.array([1.0, size, 1.0, 1.0, 1 / size, 1.0])
    plain, scaled = tk.LinearRegression().fit(X, y), tk.LinearRegression().fit(X * factor, y)
    assert digits(scaled.coef_ * factor, plain.coef_) >= 12


def test_aliased_columns_are_named_and_the_norm_is_least(rng):
    import pandas as pd

    X, y = problem(rng, n=50, d=3)
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table["sum"] = table["a"] + 2 * table["b"]
    table["ones"] = 3.0
    with pytest.warns(tk.FitWarning, match="determine columns 'sum', 'ones'"):
        model = tk.LinearRegression().fit(table, y)
    assert (model.status_, model.rank_) == ("rank_deficient", 3)
    assert model.aliased_.tolist() == [3, 4]
    centred = table.to_numpy() - table.to_numpy().mean(axis=0)
    expected = np.linalg.pinv(centred) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, expected, rtol=0, atol=1e-12)


def test_the_later_of_two_equal_columns_is_blamed(rng):
    X, y = problem(rng, d=3)
    with pytest.warns(tk.FitWarning, match="column 3;"):
        model = tk.LinearRegression().fit(np.column_stack([X, X[:, 0]]), y)
    np.testing.assert_allclose(model.coef_[0], model.coef_[3], rtol=1e-12)


def test_rank_does_not_depend_on_units(rng):
    X, y = problem(rng, d=4)
    X[:, 3] = X[:, 0] + 1e-6 * X[:, 3]  # nearly dependent, not aliased
    for units in (np.ones(4), np.array([1e8, 1.0, 1e-9, 1e-5])):
        model = tk.LinearRegression().fit(X * units, y)
        assert (model.rank_, model.status_) == (4, "converged")


def test_single_precision_counts_its_own_rounding_as_noise(rng):
    X, y = problem(rng, d=2, n=200)
    both = np.column_stack([X, X @ [0.3, 0.7]])
    with pytest.warns(tk.FitWarning, match="column 2"):
        assert tk.LinearRegression().fit(both.astype(np.float32), y).rank_ == 2


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array])
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("intercept", [False, True])
def test_fewer_rows_than_columns_interpolate_with_least_norm(rng, make, targets, intercept):
    X = rng.standard_normal((8, 30)) + 1.0
    y = rng.standard_normal(8 if targets is None else (8, targets)) + 2.0
    model = tk.LinearRegression(fit_intercept=intercept).fit(make(X), y)
    centre = X.mean(axis=0) if intercept else 0.0
    expected = np.linalg.pinv(X - centre) @ (y - (y.mean(axis=0) if intercept else 0.0))
    np.testing.assert_allclose(model.coef_.T, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.predict(make(X)), y, rtol=0, atol=1e-11)
    assert model.status_ == "rank_deficient"
    assert model.certificate_.gap < 1e-20


def test_a_large_wide_table_interpolates_too(rng, small_limits):
    X, y = rng.standard_normal((8, 30)), rng.standard_normal(8)
    model = tk.LinearRegression().fit(X, y)
    assert model.solver_ == "kernel matrix"
    np.testing.assert_allclose(model.predict(X), y, rtol=0, atol=1e-11)


def test_a_table_too_large_to_decompose_is_solved_by_products(rng, monkeypatch):
    monkeypatch.setattr("tikhon.solvers.least_squares.DECOMPOSABLE", 3)
    X, y = problem(rng, n=60, d=6)
    model = tk.LinearRegression().fit(sp.csr_array(X), y)
    assert model.solver_ == "bidiagonalization"
    assert digits(model.coef_, exact_solution(X, y)[1:]) >= 6
    assert model.status_ == "converged"


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array, np.float32])
def test_weights_are_repetitions(rng, make):
    X, y = problem(rng, d=3, n=40)
    s = rng.integers(0, 4, 40)
    weighted = tk.LinearRegression().fit(make(X), y, sample_weight=s)
    repeated = tk.LinearRegression().fit(make(X.repeat(s, axis=0)), y.repeat(s))
    np.testing.assert_allclose(coefficients(weighted), coefficients(repeated), rtol=1e-13)


def test_a_constant_table_leaves_the_mean(rng):
    with pytest.warns(tk.FitWarning, match="rank is 0 of 2"):
        model = tk.LinearRegression().fit(np.full((9, 2), 7.0), np.arange(9.0))
    assert coefficients(model).tolist() == [4.0, 0.0, 0.0]


def test_nearly_dependent_beyond_three_digits_is_refused_or_aliased(rng):
    x = rng.standard_normal(30)
    for distance in 10.0 ** -np.arange(9, 17):
        X = np.column_stack([x, x + distance * rng.standard_normal(30)])
        y = X[:, 0] + X[:, 1]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", tk.FitWarning)
                model = tk.LinearRegression().fit(X, y)
        except tk.AccuracyError:
            continue
        right = digits(model.coef_, [1.0, 1.0]) >= 3
        assert right or model.status_ == "rank_deficient"


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (5, 5)])
def test_the_pseudo_inverse_meets_its_four_conditions(rng, shape):
    X = rng.standard_normal(shape)
    X[:, -1] = X[:, 0]
    P = tk.pseudo_inverse(X)
    assert max(tk.moore_penrose_residuals(X, P)) < 1e-14
    assert min(tk.moore_penrose_residuals(X, P + 0.1)[:2]) > 1e-3
    np.testing.assert_allclose(P, np.linalg.pinv(X), atol=1e-13)
