"""ISTA and FISTA are the textbook's iterations and keep the textbook's rates."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.solvers import ProximalGradient


def hard_lasso(rng):
    """Correlated columns: slow for gradients."""
    data = tk.datasets.linear(80, 30, nonzero=5, correlation=0.97, seed=int(rng.integers(100)))
    lam = 0.002 * np.abs(data.X.T @ data.y).max() / 80
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), lam, intercept=False)
    L = np.linalg.eigvalsh(data.X.T @ data.X / 80).max()
    return problem, data.X, data.y, L, tk.solve(problem, data.X, data.y, tol=1e-13)


def trace(momentum, problem, X, y, L, steps=300):
    solver = ProximalGradient(momentum=momentum, step=1 / L, max_iter=steps, measure_every=1)
    return np.array(tk.solve(problem, X, y, solver=solver, tol=1e-14).history.objective)


def test_the_iterates_are_the_textbooks(rng):
    problem, X, y, L, _ = hard_lasso(rng)
    w = v = np.zeros(30)
    theta = 1.0
    for _ in range(9):
        before = w
        w = tk.penalties.soft_threshold(v - X.T @ (X @ v - y) / 80 / L, problem.lam / L)
        following = (1 + np.sqrt(1 + 4 * theta**2)) / 2
        v = w + (theta - 1) / following * (w - before)
        theta = following
    solver = ProximalGradient(momentum=True, step=1 / L, max_iter=9)
    np.testing.assert_allclose(tk.solve(problem, X, y, solver=solver).coef, w, atol=1e-11)
    w = np.zeros(30)
    for _ in range(9):
        w = tk.penalties.soft_threshold(w - X.T @ (X @ w - y) / 80 / L, problem.lam / L)
    solver = ProximalGradient(step=1 / L, max_iter=9)
    np.testing.assert_allclose(tk.solve(problem, X, y, solver=solver).coef, w, atol=1e-11)


def test_both_keep_their_bounds_and_momentum_is_ahead(rng):
    problem, X, y, L, best = hard_lasso(rng)
    plain, fast = (trace(m, problem, X, y, L) for m in (False, True))
    k = np.arange(1, 301)
    square = float(np.sum(best.coef**2))
    assert np.all(plain[1:] - best.objective <= L * square / (2 * k) + 1e-12)
    assert np.all(fast[1:] - best.objective <= 2 * L * square / (k + 1) ** 2 + 1e-12)
    assert fast[-1] - best.objective < 0.5 * (plain[-1] - best.objective)


def test_plain_steps_descend_and_so_do_searched_ones(rng):
    problem, X, y, L, _ = hard_lasso(rng)
    assert np.all(np.diff(trace(False, problem, X, y, L)) <= 1e-13)
    searched = ProximalGradient(step="backtracking", measure_every=1, max_iter=200)
    history = tk.solve(problem, X, y, solver=searched).history
    assert np.all(np.diff(history.objective) <= 1e-12)


def test_sweeps_are_counted_as_they_are_made(rng):
    problem, X, y, L, _ = hard_lasso(rng)
    fixed = tk.solve(problem, X, y, solver=ProximalGradient(step=1 / L, max_iter=10), tol=1e-15)
    assert fixed.passes == 1.0 + 2.0 * 10
    searched = ProximalGradient(step="backtracking", max_iter=10)
    assert tk.solve(problem, X, y, solver=searched, tol=1e-15).passes > fixed.passes


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"restart": True}, "`momentum=True`"),
        ({"step": -1.0}, "`step`"),
        ({"step": "long"}, "`step`"),
        ({"max_iter": 1.5}, "`max_iter`"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_when_the_solver_is_made(options, match):
    with pytest.raises(ValueError, match=match):
        ProximalGradient(**options)
