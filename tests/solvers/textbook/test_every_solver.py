"""What every solver of the lectures keeps: the optimum, weights, tables, certificates, limits."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import tikhon as tk
from tests.designs import KINDS
from tikhon import solvers


@dataclass(frozen=True)
class Case:
    """A solver, a problem it is for, and the relative gap it reaches within moments."""

    solver: Any
    loss: Any
    penalty: Any
    tol: float = 1e-8
    limit: str = "max_iter"

    def __str__(self):
        return f"{self.solver!r}"

    def problem(self, *, intercept=True):
        return tk.Problem(self.loss, self.penalty, 0.1, intercept)

    def limited(self, steps):
        return replace(self.solver, **{self.limit: steps})


L1, L2, MIX = tk.penalties.L1(), tk.penalties.L2(), tk.penalties.ElasticNet(0.5)
SQUARED, LOGISTIC, HINGE = tk.losses.Squared(), tk.losses.Logistic(), tk.losses.Hinge()
CASES = (
    Case(solvers.GradientDescent(), LOGISTIC, L2),
    Case(solvers.GradientDescent(step="backtracking"), SQUARED, L2),
    Case(solvers.GradientDescent(step=0.2), tk.losses.Huber(), L2),
    Case(solvers.ProximalGradient(), SQUARED, L1),
    Case(solvers.ProximalGradient(momentum=True), LOGISTIC, MIX),
    Case(solvers.ProximalGradient(momentum=True, restart=True, step="backtracking"), LOGISTIC, L1),
    Case(solvers.CyclicCoordinateDescent(), SQUARED, L1),
    Case(solvers.CyclicCoordinateDescent(), SQUARED, MIX),
    Case(solvers.Newton(), LOGISTIC, L2),
    Case(solvers.Newton(), tk.losses.Huber(), L2),
    Case(solvers.QuadraticPenaltySplitting(growth=4.0), SQUARED, L1, tol=1e-3),
)
SGD = solvers.StochasticGradientDescent
RANDOM_CASES = (
    Case(SGD(epochs=200), LOGISTIC, L2, 1e-3, "epochs"),
    Case(SGD(epochs=400, batch_size=7, averaging="average"), SQUARED, L2, 1e-3, "epochs"),
    Case(SGD(epochs=400, sampling="uniform", batch_size=3), HINGE, L2, 1e-2, "epochs"),
    Case(SGD(epochs=200, averaging="last"), tk.losses.Huber(), MIX, 1e-3, "epochs"),
    Case(SGD(epochs=400), tk.losses.Quantile(), L2, 1e-2, "epochs"),
    Case(solvers.Pegasos(epochs=600, averaging="suffix"), HINGE, L2, 1e-2, "epochs"),
    Case(solvers.Pegasos(epochs=600, projected=True), HINGE, L2, 3e-2, "epochs"),
)
"""Solvers that draw rows: weights are repetitions in the mean alone."""

EVERY = (*CASES, *RANDOM_CASES)


def table(rng, n=60, d=4):
    X = rng.standard_normal((n, d)) + 0.3
    y = np.where(X @ np.array([1.0, -0.5, 0.0, 0.3]) + rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return X, y, rng.integers(0, 3, n).astype(float)


def excess(problem, data, found):
    """How far above a lower bound on the least objective, as a share of the null model's."""
    X, y, s = data
    there = problem.value(X, y, found.coef, found.intercept, s)
    return (there - least(problem, X, y, s)) / found.certificate.null_objective


def least(problem, X, y, s):
    """The least objective: by the fast solver or, for losses with kinks, a general one."""
    if problem.loss.name not in ("hinge", "quantile"):
        return tk.solve(problem, X, y, sample_weight=s, tol=1e-12).objective
    return kinked_optimum(problem, X, y, s)


def kinked_optimum(problem, X, y, s):
    """Minimise over z >= loss, for the two losses that are a maximum of two lines in z."""
    p = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    keep = p > 0
    X, y, p = X[keep], y[keep], p[keep]
    n, d = X.shape
    A = np.column_stack([X, np.ones(n) * problem.intercept])
    # slopes and levels: loss = max_k (a_k + c_k z)
    if problem.loss.name == "hinge":
        lines = [(np.ones(n), -y), (np.zeros(n), np.zeros(n))]
    else:
        q = problem.loss.q
        lines = [(q * y, np.full(n, -q)), (-(1 - q) * y, np.full(n, 1 - q))]
    constraints = [
        {
            "type": "ineq",
            "fun": lambda v, a=a, c=c: v[d + 1 :] - a - c * (A @ v[: d + 1]),
            "jac": lambda v, c=c: np.column_stack([-c[:, None] * A, np.eye(n)]),
        }
        for a, c in lines
    ]
    start = np.concatenate([np.zeros(d + 1), np.abs(y) + 1.0])
    found = optimize.minimize(
        lambda v: p @ v[d + 1 :] + problem.lam / 2 * v[:d] @ v[:d],
        start,
        jac=lambda v: np.concatenate([problem.lam * v[:d], [0.0], p]),
        constraints=constraints,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    assert found.success, found.message
    return found.fun


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_the_optimum_is_reached_within_the_certificate(case, intercept, rng):
    problem, data = case.problem(intercept=intercept), table(rng)
    found = tk.solve(problem, *data[:2], sample_weight=data[2], solver=case.solver, tol=case.tol)
    assert found.status == "converged", found.status
    assert found.certificate.gap <= case.tol
    assert -1e-7 <= excess(problem, data, found) <= found.certificate.gap + 1e-7
    assert intercept or found.intercept == 0.0


@pytest.mark.parametrize("kind", ["Fortran order", "strided", "CSR", "CSC", "CSR, 64-bit"])
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_every_kind_of_table_gives_the_same(case, kind, rng):
    problem, (X, y, _) = case.problem(), table(rng)
    short = case.limited(4 if case in RANDOM_CASES else 40)
    for dtype in (np.float64, np.float32):
        want = tk.solve(problem, X.astype(dtype).astype(float), y, solver=short)
        found = tk.solve(problem, KINDS[kind](X).astype(dtype), y, solver=short)
        np.testing.assert_allclose(found.coef, want.coef, atol=1e-9)
        np.testing.assert_allclose(found.intercept, want.intercept, atol=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_weight_of_two_is_a_row_twice_and_of_zero_no_row(case, rng):
    problem, (X, y, s) = case.problem(), table(rng)
    repeated = np.repeat(np.arange(len(y)), s.astype(int))
    short = case.limited(30)
    weighted = tk.solve(problem, X, y, sample_weight=s, solver=short)
    copied = tk.solve(problem, X[repeated], y[repeated], solver=short)
    np.testing.assert_allclose(weighted.coef, copied.coef, atol=1e-9)
    np.testing.assert_allclose(weighted.intercept, copied.intercept, atol=1e-9)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_limit_on_iterations_is_named_with_its_remedy(case, rng):
    X, y, _ = table(rng)
    found = tk.solve(case.problem(), X, y, solver=case.limited(1), tol=1e-15)
    assert found.status == "max_iter"
    assert f"`{case.limit}`" in found.status.remedy
    assert np.isfinite(found.certificate.gap)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_time_runs_out_with_a_certificate(case, rng):
    X, y, _ = table(rng)
    found = tk.solve(case.problem(), X, y, solver=case.limited(10**9), tol=1e-300, max_seconds=0.02)
    assert found.status == "max_seconds" or found.certificate.gap == 0.0
    assert found.seconds < 1.0
    assert np.isfinite(found.certificate.gap)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_the_trace_is_as_long_as_it_says_and_ends_at_the_solution(case, rng):
    X, y, _ = table(rng)
    seen = []
    found = tk.solve(case.problem(), X, y, solver=case.solver, tol=case.tol, callback=seen.append)
    trace = found.history
    assert len({len(c) for c in (trace.objective, trace.gap, trace.seconds, trace.passes)}) == 1
    assert [p.objective for p in seen] == list(trace.objective[: len(seen)])
    assert list(trace.passes) == sorted(trace.passes)
    assert trace.passes[-1] == found.passes
    assert trace.objective[-1] == pytest.approx(found.objective, rel=1e-12)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_ctrl_c_keeps_what_there_is(case, rng):
    X, y, _ = table(rng)
    count = iter(range(10**9))

    def pressed(progress):
        if next(count) == 1:
            raise KeyboardInterrupt

    found = tk.solve(case.problem(), X, y, solver=case.solver, tol=1e-300, callback=pressed)
    assert found.status == "interrupted"
    assert np.isfinite(found.certificate.gap)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_the_same_run_twice_is_bitwise_the_same(case, rng):
    X, y, _ = table(rng)
    one, two = (tk.solve(case.problem(), X, y, solver=case.limited(20)) for _ in range(2))
    assert np.array_equal(one.coef, two.coef)
    assert one.intercept == two.intercept


def test_a_solver_has_its_own_limit_and_must_be_made(rng):
    X, y, _ = table(rng)
    problem = tk.Problem(SQUARED, L2, 0.1)
    with pytest.raises(tk.UnsupportedError, match="max_iter.*GradientDescent"):
        tk.solve(problem, X, y, solver=solvers.GradientDescent(), max_iter=3)
    for wrong in (solvers.GradientDescent, 3, None):
        with pytest.raises(TypeError, match="one of tk.solvers"):
            tk.solve(problem, X, y, solver=wrong)
