"""Newton's method: one step for a quadratic, doubling digits, and columns of any size."""

import numpy as np
import pytest

import tikhon as tk
from tests.reference import ridge
from tikhon.solvers import Newton


def classes(rng, n=80, d=4):
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_step_solves_a_quadratic(intercept, rng):
    X, y = classes(rng)
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.3, intercept)
    found = tk.solve(problem, X, y, solver=Newton(max_iter=1), tol=0.0)
    w, b = ridge(X, y, 0.3, intercept=intercept)
    np.testing.assert_allclose(found.coef, w, rtol=1e-9)
    np.testing.assert_allclose(found.intercept, b, atol=1e-9)


def test_digits_double_near_the_optimum(rng):
    X, y = classes(rng)
    problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.01)
    gap = np.array(tk.solve(problem, X, y, solver=Newton(), tol=1e-14).history.gap)
    close = np.flatnonzero(gap < 1e-2)[0]
    assert len(gap) < 10
    assert gap[close + 1] < gap[close] ** 1.5
    assert np.all(np.diff(gap) < 0)


def test_the_line_search_tames_a_loss_that_grows_fast(rng):
    X, _ = classes(rng)
    y = rng.poisson(np.exp(4.0 + X[:, 0])).astype(float)
    problem = tk.Problem(tk.losses.Poisson(), tk.penalties.L2(), 1e-3)
    found = tk.solve(problem, X, y, solver=Newton(), tol=1e-10)
    assert found.status == "converged"
    assert np.all(np.diff(found.history.objective) <= 1e-12 * np.abs(found.history.objective[0]))


def test_columns_with_large_means_and_sizes_far_apart(rng):
    X, y = classes(rng)
    problem = tk.Problem(tk.losses.Logistic(), tk.penalties.NoPenalty(), 0.0)
    plain = tk.solve(problem, X, y, solver=Newton(), tol=1e-12)
    scale = np.array([1.0, 1e4, 1e-3, 1.0])
    moved = tk.solve(problem, X * scale + np.array([1e5, 0.0, 0.0, -1e4]), y, solver=Newton())
    np.testing.assert_allclose(moved.coef * scale, plain.coef, rtol=1e-4)


def test_one_target_with_a_gradient_is_what_it_takes(rng):
    X, y = classes(rng)
    squared = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.1)
    with pytest.raises(tk.UnsupportedError, match="one target"):
        tk.solve(squared, X, np.column_stack([y, y]), solver=Newton())
    for loss, penalty in (
        (tk.losses.Hinge(), tk.penalties.L2()),
        (tk.losses.Logistic(), tk.penalties.L1()),
    ):
        with pytest.raises(tk.UnsupportedError, match="use"):
            tk.solve(tk.Problem(loss, penalty, 0.1), X, y, solver=Newton())
