"""Solving one problem: the generic solver, its loop, and what it refuses."""

import numpy as np
import pytest

import tikhon as tk
from tests.problem.test_problem import data_of
from tikhon.solvers.loop import run


def l1_problem(lam=0.05):
    return tk.Problem(tk.losses.Squared(), tk.penalties.L1(), lam)


def test_proximal_gradient_reaches_the_ridge_solution(rng):
    X, y = data_of(rng, tk.losses.Squared())
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.1)
    exact, slow = tk.solve(problem, X, y), tk.solve(problem, X, y, solver="proximal_gradient")
    distance = np.linalg.norm(exact.coef - slow.coef)
    assert distance <= slow.certificate.error_bound + exact.certificate.error_bound


def test_the_lasso_agrees_with_scikit_learn(rng):
    from sklearn.linear_model import Lasso

    X, y = data_of(rng, tk.losses.Squared())
    ours = tk.solve(l1_problem(), X, y, tol=1e-12)
    theirs = Lasso(alpha=0.05, tol=1e-14, max_iter=100_000).fit(X, y)
    np.testing.assert_allclose(ours.coef, theirs.coef_, atol=1e-6)
    assert ours.certificate.gap < 1e-12


def test_history_records_objective_gap_time_and_passes(rng):
    X, y = data_of(rng, tk.losses.Squared())
    history = tk.solve(l1_problem(), X, y, solver="proximal_gradient").history
    lengths = {len(column) for column in (history.objective, history.gap, history.seconds)}
    assert lengths == {len(history.passes)}
    assert history.gap[-1] <= 1e-8 < history.gap[0]
    assert list(history.passes) == sorted(history.passes)


def test_a_callback_sees_progress_and_may_stop(rng):
    X, y = data_of(rng, tk.losses.Squared())
    seen = []
    stopped = tk.solve(
        l1_problem(),
        X,
        y,
        solver="proximal_gradient",
        callback=lambda p: seen.append(p.iteration) or True,
    )
    assert seen == [0]
    assert stopped.status == "interrupted"
    assert np.isfinite(stopped.certificate.gap)


def test_time_runs_out_with_the_best_so_far_and_its_certificate(rng):
    X, y = data_of(rng, tk.losses.Squared())
    solution = tk.solve(
        l1_problem(1e-6), X, y, solver="proximal_gradient", tol=1e-30, max_seconds=0.05
    )
    assert solution.status == "max_seconds"
    assert solution.certificate.gap < 1.0
    assert "max_seconds" in solution.status.remedy


def test_ctrl_c_keeps_the_best_so_far():
    def step(state):
        if state == 3:
            raise KeyboardInterrupt
        return state + 1

    loop = run(0, step, lambda state: (1.0, 1.0), tol=0.0, max_iter=100)
    assert (loop.state, loop.status.code) == (3, "interrupted")


def test_an_endless_loop_ends_and_a_divergent_one_is_named():
    ended = run(0.0, lambda t: t, lambda t: (1.0, 1.0), tol=0.0, max_iter=5)
    assert (ended.status, ended.iterations) == ("max_iter", 5)
    lost = run(1.0, lambda t: t * 1e200, lambda t: (t, 1.0), tol=0.0, max_iter=50)
    assert lost.status == "diverged"
    assert lost.status.remedy


@pytest.mark.parametrize(
    "loss", [tk.losses.Hinge(), tk.losses.Quantile(), tk.losses.EpsilonInsensitive()], ids=repr
)
def test_losses_with_kinks_are_refused_with_an_alternative(loss, rng):
    X, y = data_of(rng, loss)
    with pytest.raises(tk.UnsupportedError, match="not differentiable.*use"):
        tk.solve(tk.Problem(loss, tk.penalties.L2(), 0.1), X, y)


@pytest.mark.parametrize(
    ("loss", "y"),
    [(tk.losses.Logistic(), [0.0, 1.0, 2.0]), (tk.losses.Poisson(), [1.0, -1.0, 0.0])],
)
def test_targets_without_meaning_are_refused(loss, y):
    with pytest.raises(tk.InputError, match=r"\[target\]"):
        tk.solve(tk.Problem(loss, tk.penalties.L2(), 0.1), [[1.0], [2.0], [3.0]], y)


def test_one_class_is_refused(rng):
    problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.1)
    with pytest.raises(tk.InputError, match="one_class.*saw 1, 10 times"):
        tk.solve(problem, rng.standard_normal((10, 2)), np.ones(10))


def test_separable_classes_without_a_strength_are_named():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [-1.0, -1.0, 1.0, 1.0]
    free = tk.solve(tk.Problem(tk.losses.Logistic(), tk.penalties.NoPenalty(), 0.0), X, y)
    assert free.status == "separable"
    assert "lam" in free.status.remedy
    held = tk.solve(tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.1), X, y)
    assert held.status == "converged"


def test_iterations_may_be_limited(rng):
    X, y = data_of(rng, tk.losses.Squared())
    stopped = tk.solve(l1_problem(1e-6), X, y, solver="proximal_gradient", tol=1e-30, max_iter=20)
    assert stopped.status == "max_iter"
    assert "max_iter" in stopped.status.remedy


def test_an_unknown_solver_is_refused_with_those_that_exist(rng):
    X, y = data_of(rng, tk.losses.Squared())
    with pytest.raises(tk.UnsupportedError, match="'proximal_gradient'"):
        tk.solve(l1_problem(), X, y, solver="magic")


@pytest.mark.parametrize("penalty", [tk.penalties.L1(), tk.penalties.L2()], ids=repr)
@pytest.mark.parametrize("option", [{"callback": print}, {"max_iter": 5}], ids=str)
def test_options_of_iterations_are_refused_where_nothing_iterates(rng, penalty, option):
    X, y = data_of(rng, tk.losses.Squared())
    with pytest.raises(tk.UnsupportedError, match=r"no such iterations.*'proximal_gradient'"):
        tk.solve(tk.Problem(tk.losses.Squared(), penalty, 0.1), X, y, **option)
