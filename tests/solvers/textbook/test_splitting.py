"""Quadratic-penalty splitting: the lecture's two steps, and an error that falls as 1 / beta."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.solvers import QuadraticPenaltySplitting


def lasso(rng, n=40, d=8, lam=0.1):
    data = tk.datasets.linear(n, d, nonzero=3, intercept=0.0, seed=int(rng.integers(1000)))
    return tk.Problem(tk.losses.Squared(), tk.penalties.L1(), lam, False), data.X, data.y


@pytest.mark.parametrize("shape", [(40, 8), (12, 30)], ids=str)
def test_the_steps_are_the_lectures(shape, rng):
    problem, A, y = lasso(rng, *shape)
    n, d = A.shape
    beta, lambda_ = 3.0, problem.lam * n
    z = np.zeros(d)
    for _ in range(6):
        x = np.linalg.solve(A.T @ A + beta * np.eye(d), A.T @ y + beta * z)
        z = tk.penalties.soft_threshold(x, lambda_ / beta)
    solver = QuadraticPenaltySplitting(beta=beta, growth=1.0, max_iter=6)
    np.testing.assert_allclose(tk.solve(problem, A, y, solver=solver).coef, z, atol=1e-10)


def test_the_error_of_a_beta_falls_as_one_over_beta(rng):
    problem, A, y = lasso(rng)
    best = tk.solve(problem, A, y, tol=1e-13).coef
    betas = np.array([1e2, 1e3, 1e4])
    errors = []
    for beta in betas:
        solver = QuadraticPenaltySplitting(beta=beta, growth=1.0, max_iter=20_000)
        found = tk.solve(problem, A, y, solver=solver, tol=1e-15)
        errors.append(np.linalg.norm(found.coef - best))
    product = np.array(errors) * betas
    assert errors[2] > 1e-8  # it is the penalty's error that is seen, not the arithmetic's
    assert product.max() < 2.0 * product.min()


def test_growing_beta_reaches_the_optimum_of_the_fast_solver(rng):
    problem, A, y = lasso(rng)
    best = tk.solve(problem, A, y, tol=1e-13)
    solver = QuadraticPenaltySplitting(beta=1.0, growth=2.0)
    found = tk.solve(problem, A, y, solver=solver, tol=1e-5)
    assert found.status == "converged"
    assert np.array_equal(found.coef != 0, best.coef != 0)
    assert found.objective - best.objective <= 1e-5 * best.certificate.null_objective
    assert "beta = " in found.solver


def test_one_factorization_serves_every_beta(rng, monkeypatch):
    problem, A, y = lasso(rng)
    calls = []
    eigh = np.linalg.eigh
    monkeypatch.setattr(np.linalg, "eigh", lambda *a, **k: calls.append(1) or eigh(*a, **k))
    found = tk.solve(problem, A, y, solver=QuadraticPenaltySplitting(), tol=1e-3)
    assert found.status == "converged"
    assert len(calls) == 1


def test_it_is_for_the_lasso_alone_and_says_what_else_there_is(rng):
    problem, A, y = lasso(rng)
    for loss, penalty in (
        (tk.losses.Huber(), problem.penalty),
        (problem.loss, tk.penalties.ElasticNet(0.5)),
    ):
        with pytest.raises(tk.UnsupportedError, match="ProximalGradient"):
            tk.solve(tk.Problem(loss, penalty, 0.1), A, y, solver=QuadraticPenaltySplitting())
    for options in ({"beta": 0.0}, {"growth": 0.5}, {"inner": -1.0}):
        with pytest.raises(ValueError, match=f"`{next(iter(options))}`"):
            QuadraticPenaltySplitting(**options)
