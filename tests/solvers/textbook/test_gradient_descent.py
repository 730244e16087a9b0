"""Gradient descent is the lecture's iteration, descends, and contracts as the theory says."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.solvers import GradientDescent, schedules
from tikhon.solvers.textbook.schedules import rates
from tikhon.solvers.textbook.smoothness import top_curvature

LOGISTIC = tk.losses.Logistic()


def classes(rng, n=50, d=5):
    X = rng.standard_normal((n, d)) @ np.diag([3.0, 1.0, 1.0, 0.5, 0.2])[:d, :d]
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def test_the_iterates_are_those_of_lecture_000_with_the_strength_outside_the_mean(rng):
    X, y = classes(rng)
    n, lambda_, gamma = len(y), 0.05, 0.3
    w = np.zeros(5)
    for _ in range(7):
        e = np.exp(-y * (X @ w))
        w = w - gamma * ((-y * e / (1 + e)) @ X / n + 2 * lambda_ * w)
    lam = tk.conventions.to_lam("lecture000.logistic", lambda_=lambda_).lam
    problem = tk.Problem(LOGISTIC, tk.penalties.L2(), lam, intercept=False)
    found = tk.solve(problem, X, y, solver=GradientDescent(step=gamma, max_iter=7))
    np.testing.assert_allclose(found.coef, w, rtol=1e-12)


def test_the_iterates_are_those_of_lecture_004_with_a_schedule_and_a_column_of_ones(rng):
    X, y = classes(rng)
    A, t = np.column_stack([X, np.ones(len(y))]), (y + 1) / 2
    theta = np.zeros(6)
    for tau in range(1, 9):  # minus the log-likelihood is a sum: its step is n times shorter
        sigma = 1 / (1 + np.exp(-A @ theta))
        theta = theta - (1 / tau / len(y)) * (A.T @ (sigma - t))
    problem = tk.Problem(LOGISTIC, tk.penalties.NoPenalty(), 0.0)
    for step in (schedules.Inverse(1.0), lambda tau: 1 / tau):
        found = tk.solve(problem, X, y, solver=GradientDescent(step=step, max_iter=8))
        np.testing.assert_allclose(found.coef, theta[:5], rtol=1e-12)
        np.testing.assert_allclose(found.intercept, theta[5], rtol=1e-12)


@pytest.mark.parametrize("step", ["auto", "backtracking"])
@pytest.mark.parametrize(
    "loss", [LOGISTIC, tk.losses.Squared(), tk.losses.Huber(), tk.losses.SquaredHinge()], ids=repr
)
def test_every_step_descends(loss, step, rng):
    X, y = classes(rng)
    problem = tk.Problem(loss, tk.penalties.L2(), 0.01)
    found = tk.solve(problem, X, y, solver=GradientDescent(step=step, measure_every=1))
    assert found.status == "converged"
    assert np.all(np.diff(found.history.objective) <= 1e-14)


def test_the_suboptimality_contracts_with_the_condition_number(rng):
    X, y = classes(rng)
    lam = 0.3
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam, intercept=False)
    e = np.linalg.eigvalsh(X.T @ X / len(y))
    mu, L = e.min() + lam, e.max() + lam
    found = tk.solve(
        problem, X, y, solver=GradientDescent(step=1 / L, measure_every=1, max_iter=40)
    )
    above = np.array(found.history.objective) - tk.solve(problem, X, y).objective
    kept = above[above > 1e-13]
    assert len(kept) > 10
    assert np.all(kept[1:] <= (1 - mu / L) * kept[:-1] * (1 + 1e-9) + 1e-15)
    # The step 2 / (mu + L) is the best constant one: its factor for the distance is known.
    best = tk.solve(problem, X, y).coef
    faster = tk.solve(problem, X, y, solver=GradientDescent(step=2 / (mu + L), max_iter=40))
    factor = (L - mu) / (L + mu)
    distance = np.linalg.norm(faster.coef - best)
    assert distance <= factor**40 * np.linalg.norm(best) * (1 + 1e-9) + 1e-14


def test_a_step_of_more_than_two_over_the_smoothness_diverges_and_says_so(rng):
    X, y = classes(rng)
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.1)
    top = top_curvature(_design(X), np.full(50, 0.02), intercept=True)
    found = tk.solve(problem, X, y, solver=GradientDescent(step=4.0 / top.value))
    assert found.status == "diverged"
    assert "step" in found.status.remedy


def _design(X):
    from tikhon.data import as_design

    return as_design(X)


@pytest.mark.parametrize("intercept", [True, False])
def test_the_smoothness_constant_errs_to_the_safe_side_and_little(intercept, rng):
    X, _ = classes(rng)
    p = rng.random(50)
    p /= p.sum()
    A = np.column_stack([X, np.ones(50)]) if intercept else X
    exact = np.linalg.eigvalsh(A.T @ (A * p[:, None])).max()
    found = top_curvature(_design(X), p, intercept=intercept)
    assert exact <= found.value * (1 + 1e-12)
    assert found.value <= 1.03 * exact


@pytest.mark.parametrize("loss", [tk.losses.Poisson(), tk.losses.Gamma()], ids=repr)
def test_losses_without_a_smoothness_constant_search_for_their_step(loss, rng):
    X, y = classes(rng)
    counts = np.exp(0.3 * X[:, 0]) + 0.5 if loss.name == "gamma" else np.round(np.exp(0.3 * y))
    problem = tk.Problem(loss, tk.penalties.L2(), 0.1)
    found = tk.solve(problem, X, counts, solver=GradientDescent(), tol=1e-7)
    assert found.status == "converged"
    best = tk.solve(problem, X, counts, tol=1e-10)
    assert found.objective - best.objective <= 1e-6


def test_several_targets_and_classes_descend_together(rng):
    X, y = classes(rng)
    targets = np.column_stack([y, X[:, 0]])
    ridge = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.1)
    found = tk.solve(ridge, X, targets, solver=GradientDescent(), tol=1e-12)
    np.testing.assert_allclose(found.coef, tk.solve(ridge, X, targets).coef, atol=1e-5)
    codes = rng.integers(0, 3, len(y)).astype(float)
    softmax = tk.Problem(tk.losses.Multinomial(), tk.penalties.L2(), 0.1)
    found = tk.solve(softmax, X, codes, solver=GradientDescent())
    assert (found.coef.shape, found.status) == ((5, 3), "converged")


def test_a_random_start_ends_at_the_same_optimum(rng):
    X, y = classes(rng)
    problem = tk.Problem(LOGISTIC, tk.penalties.L2(), 0.1)
    one, two = (tk.solve(problem, X, y, solver=GradientDescent(seed=k), tol=1e-12) for k in (1, 2))
    assert one.history.objective[0] != two.history.objective[0]
    np.testing.assert_allclose(one.coef, two.coef, atol=1e-5)


@pytest.mark.parametrize(
    ("problem", "instead"),
    [
        (tk.Problem(tk.losses.Hinge(), tk.penalties.L2(), 0.1), "not differentiable"),
        (tk.Problem(LOGISTIC, tk.penalties.L1(), 0.1), "ProximalGradient"),
        (tk.Problem(LOGISTIC, tk.penalties.Nonnegative(), 0.1), "ProximalGradient"),
        (tk.Problem(LOGISTIC, tk.penalties.Group([0, 0, 1, 1, 1]), 0.1), "ProximalGradient"),
    ],
    ids=repr,
)
def test_what_has_no_gradient_is_refused_with_an_alternative(problem, instead, rng):
    X, y = classes(rng)
    with pytest.raises(tk.UnsupportedError, match=instead):
        tk.solve(problem, X, y, solver=GradientDescent())


def test_columns_may_be_free_of_the_penalty(rng):
    X, y = classes(rng)
    penalty = tk.penalties.Weighted(tk.penalties.L2(), [0.0, 1.0, 2.0, 1.0, 1.0])
    problem = tk.Problem(LOGISTIC, penalty, 0.2)
    found = tk.solve(problem, X, y, solver=GradientDescent(max_iter=50_000), tol=1e-7)
    assert found.status == "converged"
    assert (
        problem.value(X, y, found.coef, found.intercept) <= tk.solve(problem, X, y).objective + 1e-9
    )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"step": "fast"}, "`step` must be one of"),
        ({"step": 0.0}, "`rho` must be positive"),
        ({"step": None}, "`step` must be"),
        ({"max_iter": -1}, "`max_iter`"),
        ({"measure_every": 0}, "`measure_every`"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_when_the_solver_is_made(options, match):
    with pytest.raises((ValueError, TypeError), match=match):
        GradientDescent(**options)


def test_schedules_give_their_formula_and_nothing_that_is_no_step():
    np.testing.assert_allclose(rates(schedules.Inverse(2.0, delay=1.0), 3, 2), [0.5, 0.4])
    np.testing.assert_allclose(rates(schedules.InverseSqrt(2.0), 4, 1), [1.0])
    np.testing.assert_allclose(rates(schedules.Constant(0.5), 9, 2), [0.5, 0.5])
    np.testing.assert_allclose(rates(lambda tau: 1 / tau, 1, 3), [1, 1 / 2, 1 / 3])
    with pytest.raises(ValueError, match="step 2"):
        rates(lambda tau: 2.0 - tau, 1, 3)
    with pytest.raises(ValueError, match="delay"):
        schedules.Inverse(1.0, delay=-1.0)
