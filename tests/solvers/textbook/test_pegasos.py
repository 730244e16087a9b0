"""Pegasos is the lecture's algorithm, and keeps what the lecture promises."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.solvers.textbook.test_every_solver import kinked_optimum
from tikhon.solvers import Pegasos, pegasos_bound

HINGE, L2 = tk.losses.Hinge(), tk.penalties.L2()


def classes(rng, n=40, d=4):
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)


def svm(lam=0.1):
    return tk.Problem(HINGE, L2, lam, intercept=False)


@pytest.fixture(scope="module")
def solved():
    """A problem, its rows, and its least objective by a general optimiser."""
    X, y = classes(np.random.default_rng(0))
    return svm(0.05), X, y, kinked_optimum(svm(0.05), X, y, None)


def by_the_page(X, y, lam, draws, *, projected=False):
    """The algorithm line by line, from t = 1; returns every w_t and what follows the last."""
    theta, iterates = np.zeros(X.shape[1]), []
    for t, rows in enumerate(draws, start=1):
        w = theta / (lam * t)
        if projected and np.linalg.norm(w) > 1 / np.sqrt(lam):
            w = w / (np.sqrt(lam) * np.linalg.norm(w))
            theta = w * lam * t
        iterates.append(w)
        inside = y[rows] * (X[rows] @ w) < 1
        theta = theta + (y[rows] * inside) @ X[rows] / len(rows)
    return np.array(iterates), theta / (lam * (len(draws) + 1))


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("batch_size", [1, 5])
@pytest.mark.parametrize("projected", [False, True])
def test_the_iterates_are_those_of_the_page(batch_size, projected, kind, rng):
    X, y = classes(rng)
    X, lam, T = 3.0 * X, 0.02, 100
    source = np.random.default_rng(5)
    # One pass draws as many rows as there are, in batches, the last of which may be smaller.
    draws = []
    while len(draws) < T:
        order = source.integers(40, size=min(40, (T - len(draws)) * batch_size))
        draws += np.split(order, range(batch_size, len(order), batch_size))
    iterates, last = by_the_page(X, y, lam, draws, projected=projected)
    options = {"steps": T, "batch_size": batch_size, "projected": projected, "seed": 5}
    found = tk.solve(svm(lam), kind(X), y, solver=Pegasos(**options))
    np.testing.assert_allclose(found.coef, iterates.mean(axis=0), rtol=1e-9)
    if not projected:  # after the last step the page has not projected yet
        found = tk.solve(svm(lam), kind(X), y, solver=Pegasos(**options, averaging="last"))
        np.testing.assert_allclose(found.coef, last, rtol=1e-9)
    assert np.all(np.isfinite(iterates))


def test_the_projected_iterate_stays_in_its_ball(rng):
    X, y = classes(rng)
    lam = 0.01
    solver = Pegasos(steps=3, projected=True, averaging="last")
    norms = [
        np.linalg.norm(tk.solve(svm(lam), 9 * X, y, solver=Pegasos(steps=t, projected=p,
                                                                   averaging="last")).coef)
        for p in (True, False) for t in (1, 2, 3)
    ]  # fmt: skip
    assert max(norms[:3]) <= 1 / np.sqrt(lam) * (1 + 1e-12)
    assert max(norms[3:]) > 1 / np.sqrt(lam)
    assert solver.title.endswith("projected)")


@pytest.mark.parametrize("averaging", ["average", "suffix", "last"])
@pytest.mark.parametrize("projected", [False, True])
def test_the_suboptimality_is_within_the_bound(averaging, projected, solved):
    problem, X, y, optimum = solved
    lam, radius = problem.lam, float(np.linalg.norm(X, axis=1).max())
    for T in (50, 400, 3200):
        above = []
        for seed in range(20):
            solver = Pegasos(steps=T, averaging=averaging, projected=projected, seed=seed)
            found = tk.solve(problem, X, y, solver=solver)
            above.append(found.objective - optimum)
        bound = pegasos_bound(lam, radius, T, averaging=averaging, projected=projected)
        mean, error = np.mean(above), np.std(above) / np.sqrt(20)
        assert min(above) >= -1e-8
        assert mean + 5 * error <= bound


def test_the_suboptimality_falls_as_the_rate_says(solved):
    problem, X, y, optimum = solved
    means = []
    for T in (200, 20_000):
        found = [
            tk.solve(problem, X, y, solver=Pegasos(steps=T, averaging="suffix", seed=seed))
            for seed in range(8)
        ]
        means.append(np.mean([one.objective - optimum for one in found]))
    # A hundred times the steps: a rate of 1 / T gains a factor of 100, one of 1 / sqrt(T) of 10.
    assert means[1] < means[0] / 30


def test_the_gap_is_certified_by_the_draws_and_closes(solved):
    problem, X, y, optimum = solved
    found = tk.solve(problem, X, y, solver=Pegasos(epochs=3000, averaging="suffix"))
    certificate = found.certificate
    assert certificate.gap < 2e-3
    assert (found.objective - optimum) / certificate.null_objective <= certificate.gap + 1e-8
    # The derivative that the loss returns at its kink certifies far less.
    assert problem.certificate(X, y, found.coef).gap > 3 * certificate.gap


def test_steps_may_end_within_an_epoch_and_the_limit_is_named(rng):
    X, y = classes(rng)
    found = tk.solve(svm(), X, y, solver=Pegasos(steps=53))
    assert "`steps`" in found.status.remedy
    assert found.passes == 3.0 * 53 / 40
    found = tk.solve(svm(), X, y, solver=Pegasos(epochs=2))
    assert "`epochs`" in found.status.remedy


def test_an_intercept_is_learned_without_a_penalty(rng):
    X, y = classes(rng, 60)
    X = X + 0.5
    problem = tk.Problem(HINGE, L2, 0.05)
    optimum = kinked_optimum(problem, X, y, None)
    found = tk.solve(problem, X, y, solver=Pegasos(epochs=500, averaging="suffix"))
    assert found.intercept != 0.0
    assert found.objective - optimum < 5e-3


def test_it_is_for_the_soft_machine_alone(rng):
    X, y = classes(rng)
    for problem in (
        tk.Problem(tk.losses.SquaredHinge(), L2, 0.1),
        tk.Problem(HINGE, tk.penalties.L1(), 0.1),
        tk.Problem(HINGE, L2, 0.0),
    ):
        with pytest.raises(tk.UnsupportedError, match="StochasticGradientDescent"):
            tk.solve(problem, X, y, solver=Pegasos())
    with pytest.raises(ValueError, match="`steps` and `epochs`"):
        Pegasos(steps=3, epochs=2)
    with pytest.raises(tk.UnsupportedError, match="one target"):
        Pegasos().begin(svm(), 4, 2)


def test_bounds_say_what_they_need():
    assert pegasos_bound(0.1, 1.0, 10, projected=True) < pegasos_bound(0.1, 1.0, 10)
    for wrong in ((0.0, 1.0, 5), (0.1, -1.0, 5), (0.1, 1.0, 0)):
        with pytest.raises(ValueError, match="must be"):
            pegasos_bound(*wrong)
