"""Certificates bound the truth, vanish at the optimum, and agree with each other."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tests.reference import ridge

CLASSES = (tk.losses.Logistic(), tk.losses.SquaredHinge())
SMOOTH = (tk.losses.Squared(), tk.losses.Huber(), tk.losses.Poisson(), *CLASSES)
PENALTIES = (
    tk.penalties.L2(),
    tk.penalties.L1(),
    tk.penalties.ElasticNet(0.5),
    tk.penalties.Group([0, 0, 1, 1]),
    tk.penalties.Weighted(tk.penalties.L1(), [1.0, 2.0, 0.5, 1.0]),
    tk.penalties.Weighted(tk.penalties.L2(), [1.0, 2.0, 0.5, 1.0]),
    tk.penalties.Sum(tk.penalties.L1(), tk.penalties.Nonnegative()),
    tk.penalties.Sum(tk.penalties.L2(), tk.penalties.Box(-0.1, 0.2)),
)


def data_of(rng, loss, n=40):
    X = rng.standard_normal((n, 4)) + 0.5
    z = X @ np.array([1.0, -0.5, 0.0, 0.3]) + 0.5 * rng.standard_normal(n)
    if loss.classification:
        return X, np.where(z > 0, 1.0, -1.0)
    return X, rng.poisson(np.exp(0.5 * z)).astype(float) if loss.name == "poisson" else z


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_gap_vanishes_at_the_optimum_and_bounds_the_distance_elsewhere(
    loss, penalty, intercept, rng
):
    X, y = data_of(rng, loss)
    s = rng.random(len(y)) + 0.1
    problem = tk.Problem(loss, penalty, 0.05, intercept)
    best = tk.solve(problem, X, y, sample_weight=s, tol=1e-9)
    assert best.status == "converged"
    assert best.certificate.gap <= 1e-9
    assert best.certificate.kkt < 1e-3
    optimum = problem.value(X, y, best.coef, best.intercept, s)
    for _ in range(5):
        w = penalty.prox(best.coef + 0.1 * rng.standard_normal(4), 1e-3)
        b = best.intercept + (0.1 * rng.standard_normal() if intercept else 0.0)
        value = problem.value(X, y, w, b, s)
        assert problem.duality_gap(X, y, w, b, s) >= value - optimum - 1e-8
        assert value >= optimum - 1e-8


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_the_gap_of_ridge_is_a_sum_of_squares(seed):
    rng = np.random.default_rng(seed)
    X, y = data_of(rng, tk.losses.Squared())
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.3)
    w, b = rng.standard_normal(4), rng.standard_normal()
    r = y - X @ w - b
    g = (X - X.mean(axis=0)).T @ r / len(y)
    expected = r.mean() ** 2 / 2 + np.sum((0.3 * w - g) ** 2) / 0.6
    assert problem.duality_gap(X, y, w, b) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
def test_the_gradient_is_the_derivative_of_the_mean_loss(loss, rng):
    X, y = data_of(rng, loss)
    s = rng.random(len(y))
    problem = tk.Problem(loss, tk.penalties.NoPenalty(), 0.0)
    w, b = 0.3 * rng.standard_normal(4), 0.1
    g, g_b = problem.gradient(X, y, w, b, s)
    h = 1e-6
    for j in range(4):
        e = h * np.eye(4)[j]
        slope = problem.value(X, y, w + e, b, s) - problem.value(X, y, w - e, b, s)
        assert g[j] == pytest.approx(slope / (2 * h), abs=1e-7)
    slope = problem.value(X, y, w, b + h, s) - problem.value(X, y, w, b - h, s)
    assert g_b == pytest.approx(slope / (2 * h), abs=1e-7)


@pytest.mark.parametrize("loss", SMOOTH, ids=repr)
@pytest.mark.parametrize("penalty", PENALTIES[1:5], ids=repr)
def test_lam_max_is_where_the_last_coefficient_vanishes(loss, penalty, rng):
    X, y = data_of(rng, loss)
    top = tk.Problem(loss, penalty, 0.0).lam_max(X, y)
    for factor, nonzero in ((1.0001, False), (0.98, True)):
        problem = tk.Problem(loss, penalty, factor * top)
        assert np.any(tk.solve(problem, X, y, tol=1e-10).coef != 0.0) == nonzero


def test_lam_max_fits_unpenalised_columns_first(rng):
    X, y = data_of(rng, tk.losses.Squared())
    penalty = tk.penalties.Weighted(tk.penalties.L1(), [0.0, 1.0, 1.0, 1.0])
    top = tk.Problem(tk.losses.Squared(), penalty, 0.0).lam_max(X, y)
    above = tk.solve(tk.Problem(tk.losses.Squared(), penalty, 1.0001 * top), X, y, tol=1e-9)
    assert above.coef[0] != 0.0
    assert not above.coef[1:].any()
    with pytest.raises(tk.UnsupportedError, match="unpenalised"):
        tk.Problem(tk.losses.Poisson(), penalty, 0.0).lam_max(X, np.abs(y))


def test_a_freed_column_is_certified_for_least_squares(rng):
    X, y = data_of(rng, tk.losses.Squared())
    penalty = tk.penalties.Weighted(tk.penalties.L2(), [0.0, 1.0, 1.0, 1.0])
    solution = tk.solve(tk.Problem(tk.losses.Squared(), penalty, 0.1), X, y)
    assert solution.status == "converged"
    assert solution.certificate.gap <= 1e-8


def test_a_gap_is_relative_to_what_there_is_to_gain(rng):
    X = rng.standard_normal((50, 2))
    y = rng.poisson(np.exp(5.0 + 0.3 * X[:, 0])).astype(float)  # the mean loss is far below 0
    problem = tk.Problem(tk.losses.Poisson(), tk.penalties.L2(), 1.0)
    w, b = np.array([0.2, 0.1]), 5.0
    found = problem.certificate(X, y, w, b)
    assert found.null_objective < 0
    best = np.mean(y - y * np.log(y))  # every row predicted exactly
    worth = found.null_objective - best
    assert found.gap == pytest.approx(problem.duality_gap(X, y, w, b) / worth, rel=1e-10)


def test_without_a_strength_the_gap_is_the_suboptimality(rng):
    X, y = data_of(rng, tk.losses.Squared())
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.NoPenalty(), 0.0)
    coef, b = ridge(X, y, 0.0)
    optimum = problem.value(X, y, coef, b)
    w = coef + 0.1
    assert problem.duality_gap(X, y, coef, b) < 1e-28
    assert problem.duality_gap(X, y, w, b) == pytest.approx(
        problem.value(X, y, w, b) - optimum, rel=1e-9
    )


@pytest.mark.parametrize("make", [sp.csr_array, np.asfortranarray, lambda X: X.tolist()])
def test_certificates_do_not_depend_on_storage(make, rng):
    X, y = data_of(rng, tk.losses.Squared())
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 0.1)
    w = np.array([0.5, 0.0, -0.2, 0.0])
    plain, other = problem.certificate(X, y, w, 0.1), problem.certificate(make(X), y, w, 0.1)
    for field in ("gap", "kkt", "objective", "null_objective"):
        assert getattr(other, field) == pytest.approx(getattr(plain, field), rel=1e-12)


def test_a_loss_without_conjugate_is_certified_by_its_kkt_residual(rng):
    class LogCosh(tk.losses.Loss):
        name = "log-cosh"

        def value(self, y, z):
            return np.logaddexp(z - y, y - z) - np.log(2)

        def derivative(self, y, z):
            return np.tanh(z - y)

    X, y = data_of(rng, tk.losses.Squared())
    solution = tk.solve(tk.Problem(LogCosh(), tk.penalties.L1(), 0.05), X, y)
    assert solution.status == "converged"
    assert np.isnan(solution.certificate.gap)
    assert solution.certificate.kkt <= 1e-8


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf])
def test_a_strength_must_be_finite_and_not_negative(lam):
    with pytest.raises(ValueError, match="`lam` must be finite and >= 0"):
        tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam)


def test_gaps_are_relative_to_something_where_bounds_exclude_zero(rng):
    X, y = data_of(rng, tk.losses.Squared())
    penalty = tk.penalties.Sum(tk.penalties.L2(), tk.penalties.Box(0.2, 0.9))
    certificate = tk.Problem(tk.losses.Squared(), penalty, 0.1).certificate(X, y, np.full(4, 0.9))
    assert np.isfinite(certificate.null_objective)
    assert certificate.gap > 1e-3
