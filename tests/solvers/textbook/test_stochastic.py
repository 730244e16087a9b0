"""Stochastic gradient descent: its step, its averages, its state, and both of its hands."""

import copy
import os
import pickle
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tikhon import _kernels
from tikhon.data import as_design
from tikhon.solvers import GradientDescent, StochasticGradientDescent, schedules
from tikhon.solvers.textbook.rows import COMPILED, Draws, Rows, Rules, Walker

LOGISTIC, L2 = tk.losses.Logistic(), tk.penalties.L2()


def classes(rng, n=50, d=5):
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, -1.0)


def positive(y):
    return np.abs(y) + 0.1


@settings(deadline=None, max_examples=80)
@given(
    n=st.integers(2, 60),
    d=st.integers(1, 40),
    size=st.integers(1, 9),
    loss=st.sampled_from(sorted((made() for made in COMPILED), key=repr)),
    kind=st.sampled_from(["dense", "csr", "csr64", "csc"]),
    dtype=st.sampled_from([np.float32, np.float64]),
    l1=st.sampled_from([0.0, 0.01]),
    l2=st.sampled_from([0.0, 0.1, 1.0]),
    radius=st.sampled_from([np.inf, 0.3]),
    intercept=st.booleans(),
    weighted=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_the_compiled_pass_is_its_numpy_twin(
    n, d, size, loss, kind, dtype, l1, l2, radius, intercept, weighted, seed
):
    rng = np.random.default_rng(seed)
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6) / np.sqrt(d)).astype(dtype)
    y = rng.choice([-1.0, 1.0], n) if loss.classification else rng.standard_normal(n)
    y = positive(y) if loss.name in ("poisson", "gamma") else y
    table = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_array, "csr64": _csr64}[kind](
        X
    )
    index = rng.integers(n, size=37)
    gain = 0.1 / (1.0 + rng.random(-(-37 // size)) * 3)
    gain[0] = 1.0 if l2 == 1.0 else gain[0]  # a step that forgets everything before it
    draws = Draws(index, rng.random(37) + 0.5 if weighted else None, size, gain)
    rules = Rules(loss, l1, l2, intercept, radius)
    walkers = []
    for plain in (False, True):
        at = Walker.zero((d,))
        at.w[:] = rng.standard_normal(d) * 0.1 if not walkers else walkers[0][2]
        start = at.w.copy()
        slopes = Rows(as_design(table), y).walk(rules, draws, at, plain=plain)
        walkers.append((at, slopes, start))
    (fast, found, _), (twin, expected, _) = walkers
    for name in ("w", "b", "w_sum", "b_sum"):
        np.testing.assert_allclose(getattr(fast, name), getattr(twin, name), rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-9)


def _csr64(X):
    made = sp.csr_array(X)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def test_the_scale_of_the_iterate_may_shrink_for_long_without_losing_digits(rng):
    X, y = classes(rng, 40, 6)
    index = rng.integers(40, size=4000)
    draws = Draws(index, None, 1, np.full(4000, 0.5))
    rules = Rules(LOGISTIC, 0.0, 1.0, False)
    ends = []
    for plain in (False, True):
        at = Walker.zero((6,))
        for part in range(0, 4000, 400):
            chosen = Draws(index[part : part + 400], None, 1, draws.gain[part : part + 400])
            Rows(as_design(sp.csr_array(X)), y).walk(rules, chosen, at, plain=plain)
        ends.append(at)
    np.testing.assert_allclose(ends[0].w, ends[1].w, rtol=1e-10)
    np.testing.assert_allclose(ends[0].w_sum, ends[1].w_sum, rtol=1e-10)


def test_batches_of_size_one_are_the_lectures_step(rng):
    X, y = classes(rng)
    t, n = (y + 1) / 2, len(y)
    order = np.concatenate([np.random.default_rng(7).permutation(n)])
    theta = np.zeros(5)
    for tau, i in enumerate(order, start=1):
        rho = 0.5 / (tau + 3)  # of the mean; the lecture's is of the sum, n times shorter
        estimate = n * (1 / (1 + np.exp(-X[i] @ theta)) - t[i]) * X[i]
        theta = theta - rho / n * estimate
    problem = tk.Problem(LOGISTIC, tk.penalties.NoPenalty(), 0.0, intercept=False)
    solver = StochasticGradientDescent(
        step=schedules.Inverse(0.5, delay=3.0), epochs=1, averaging="last", seed=7
    )
    np.testing.assert_allclose(tk.solve(problem, X, y, solver=solver).coef, theta, rtol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_batch_of_all_rows_is_gradient_descent_to_the_bit(intercept, rng):
    X, y = classes(rng)
    problem = tk.Problem(LOGISTIC, L2, 0.1, intercept)
    for step in (0.3, schedules.Inverse(1.0)):
        one = tk.solve(problem, X, y, solver=GradientDescent(step=step, max_iter=9), tol=0.0)
        other = StochasticGradientDescent(step=step, epochs=9, batch_size=50, averaging="last")
        found = tk.solve(problem, X, y, solver=other, tol=0.0)
        assert np.array_equal(one.coef, found.coef)
        assert one.intercept == found.intercept


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("averaging", ["average", "suffix", "last"])
def test_averages_are_those_of_an_explicit_loop(averaging, kind, rng):
    X, y = classes(rng, 37)
    order = np.random.default_rng(3)
    iterates, w, b = [], np.zeros(5), 0.0
    for _ in range(3):
        for rows in np.split(order.permutation(37), range(4, 37, 4)):
            iterates.append((w, b))
            g = LOGISTIC.derivative(y[rows], X[rows] @ w + b) / len(rows)
            w, b = w - 0.4 * (X[rows].T @ g + 0.1 * w), b - 0.4 * g.sum()
    T = len(iterates)
    half = 2 ** (T.bit_length() - 2)
    kept = {"average": iterates, "suffix": iterates[half:], "last": [(w, b)]}[averaging]
    solver = StochasticGradientDescent(
        step=0.4, batch_size=4, epochs=3, averaging=averaging, seed=3
    )
    found = tk.solve(tk.Problem(LOGISTIC, L2, 0.1), kind(X), y, solver=solver)
    np.testing.assert_allclose(found.coef, np.mean([w for w, _ in kept], axis=0), rtol=1e-9)
    np.testing.assert_allclose(found.intercept, np.mean([b for _, b in kept]), rtol=1e-9)


def test_a_seed_is_a_result_and_another_seed_another(rng):
    X, y = classes(rng)
    problem = tk.Problem(LOGISTIC, L2, 0.1)
    ends = [
        tk.solve(problem, X, y, solver=StochasticGradientDescent(epochs=2, seed=k)).coef
        for k in (0, 0, 1)
    ]
    assert np.array_equal(ends[0], ends[1])
    assert not np.array_equal(ends[0], ends[2])


def test_a_state_that_learns_in_passes_is_the_solver(rng):
    X, y = classes(rng)
    problem = tk.Problem(LOGISTIC, L2, 0.1)
    solver = StochasticGradientDescent(epochs=3, batch_size=7)
    state = solver.begin(problem, 5)
    for _ in range(3):
        assert state.learn(X, y) is state
    found = tk.solve(problem, X, y, solver=solver)
    assert np.array_equal(state.coef, found.coef)
    assert state.intercept == found.intercept
    assert (state.steps, state.rows_drawn) == (3 * 8, 150)


def test_a_copy_of_a_state_goes_on_as_the_original(rng):
    X, y = classes(rng)
    state = StochasticGradientDescent(batch_size=3).begin(tk.Problem(LOGISTIC, L2, 0.1), 5)
    state.learn(X, y)
    copies = [copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    state.learn(X[:20], y[:20])
    for other in copies:
        other.learn(X[:20], y[:20])
        assert np.array_equal(other.coef, state.coef)


def test_rows_streamed_once_come_near_the_optimum(rng):
    X, y = classes(rng, 20_000, 4)
    problem = tk.Problem(LOGISTIC, L2, 0.05)
    state = StochasticGradientDescent(batch_size=5).begin(problem, 4)
    for start in range(0, 20_000, 1000):
        state.learn(X[start : start + 1000], y[start : start + 1000])
    best = tk.solve(problem, X, y)
    assert problem.value(X, y, state.coef, state.intercept) < best.objective + 2e-3


@pytest.mark.parametrize("sampling", ["epoch", "uniform"])
def test_weights_lead_to_the_weighted_optimum_and_zero_is_no_row(sampling, rng):
    X, y = classes(rng, 80)
    s = rng.integers(0, 4, 80).astype(float)
    problem = tk.Problem(LOGISTIC, L2, 0.2)
    solver = StochasticGradientDescent(epochs=600, sampling=sampling, batch_size=2)
    found = tk.solve(problem, X, y, sample_weight=s, solver=solver, tol=1e-9)
    assert found.certificate.gap < 2e-3
    # The unweighted problem has another optimum: this is not passed by chance.
    best = tk.solve(problem, X, y)
    assert problem.certificate(X, y, best.coef, best.intercept, s).gap > 5e-3
    X[s == 0] = 1e6
    again = tk.solve(problem, X, y, sample_weight=s, solver=solver, tol=1e-9)
    assert np.array_equal(found.coef, again.coef)


def test_soft_thresholding_leaves_zeros_in_the_last_iterate(rng):
    X, y = classes(rng, 200, 30)
    problem = tk.Problem(LOGISTIC, tk.penalties.ElasticNet(0.9), 0.1)
    solver = StochasticGradientDescent(epochs=30, batch_size=10, averaging="last")
    found = tk.solve(problem, X, y, solver=solver, tol=1e-6)
    mean = tk.solve(problem, X, y, solver=replace(solver, averaging="average"), tol=1e-6)
    best = tk.solve(problem, X, y, tol=1e-10)
    assert np.count_nonzero(found.coef == 0) >= 5
    assert np.count_nonzero(mean.coef == 0) == 0
    assert found.objective - best.objective < 0.02


def test_losses_that_are_not_compiled_and_several_outputs_take_the_plain_way(rng):
    X, y = classes(rng, 60)

    class LogCosh(tk.losses.Loss):
        name = "squared"  # the compiled loss of that name must not be taken for it

        def value(self, y, z):
            return np.logaddexp(z - y, y - z) - np.log(2.0)

        def derivative(self, y, z):
            return np.tanh(z - y)

    own = tk.Problem(LogCosh(), L2, 0.1)
    solver = StochasticGradientDescent(step=0.05, epochs=40, batch_size=5)
    found = tk.solve(own, X, y, solver=solver, tol=1e-12)
    assert found.objective - tk.solve(own, X, y, tol=1e-6).objective < 1e-2
    codes = rng.integers(0, 3, 60).astype(float)
    softmax = tk.Problem(tk.losses.Multinomial(), L2, 0.1)
    automatic = StochasticGradientDescent(epochs=100, batch_size=5)
    found = tk.solve(softmax, X, codes, solver=automatic)
    assert found.coef.shape == (5, 3)
    assert found.objective - tk.solve(softmax, X, codes).objective < 1e-3
    ridge = tk.Problem(tk.losses.Squared(), L2, 0.1)
    both = tk.solve(ridge, X, np.column_stack([y, codes]), solver=automatic)
    assert both.coef.shape == (5, 2)
    assert both.certificate.gap < 1e-2


def test_a_step_too_long_diverges_and_says_so(rng):
    X, y = classes(rng)
    problem = tk.Problem(tk.losses.Squared(), L2, 0.1)
    solver = StochasticGradientDescent(step=50.0, epochs=200, averaging="last")
    found = tk.solve(problem, X, y, solver=solver)
    assert found.status == "diverged"
    assert "step" in found.status.remedy


def test_the_sweeps_of_averaging_are_counted(rng):
    X, y = classes(rng)
    problem = tk.Problem(LOGISTIC, L2, 0.1)
    passes = {
        averaging: tk.solve(
            problem,
            X,
            y,
            solver=StochasticGradientDescent(step=0.1, epochs=4, averaging=averaging),
            tol=0.0,
        ).passes
        for averaging in ("last", "average")
    }
    assert passes == {"last": 8.0, "average": 12.0}


def test_ctrl_c_and_the_clock_are_heard_within_an_epoch(rng):
    X = rng.standard_normal((300_000, 40))
    y = np.sign(X[:, 0] + rng.standard_normal(300_000))
    problem = tk.Problem(LOGISTIC, L2, 0.1)
    solver = StochasticGradientDescent(step=1e-3, epochs=10_000, measure_every=10_000)
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    threading.Timer(0.5, press).start()
    found = tk.solve(problem, X, y, solver=solver)
    assert found.status == "interrupted"
    assert np.isfinite(found.certificate.gap)
    assert pressed
    late = tk.solve(problem, X, y, solver=solver, max_seconds=0.3)
    assert late.status == "max_seconds"
    assert "`max_seconds`" in late.status.remedy


@pytest.mark.parametrize("averaging", ["average", "suffix", "last"])
def test_an_interruption_between_two_lines_leaves_a_whole_state(averaging, rng, monkeypatch):
    X, y = classes(rng, 3000, 200)
    problem = tk.Problem(LOGISTIC, L2, 0.1)
    solver = StochasticGradientDescent(averaging=averaging)
    whole, torn = (solver.begin(problem, 200) for _ in range(2))
    compiled, calls = _kernels.stochastic_pass, []

    def pressed(*arguments):
        compiled(*arguments)
        calls.append(len(arguments[2].y))
        if sum(calls) > 2700:  # the signal is handled when the compiled code returns
            raise KeyboardInterrupt

    monkeypatch.setattr(_kernels, "stochastic_pass", pressed)
    with pytest.raises(KeyboardInterrupt):
        torn.learn(X, y)
    monkeypatch.undo()
    rows = Rows(as_design(X), y)
    whole.learn_rows(rows, None, late=lambda: whole.rows_drawn >= sum(calls[:-1]))
    assert 0 < torn.rows_drawn == whole.rows_drawn < 3000
    assert np.array_equal(torn.coef, whole.coef)
    assert torn.intercept == whole.intercept


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"step": "backtracking"}, "`step` must be one of 'auto'"),
        ({"batch_size": 0}, "`batch_size`"),
        ({"epochs": -1}, "`epochs`"),
        ({"averaging": "all"}, "`averaging`"),
        ({"sampling": "random"}, "`sampling`"),
        ({"seed": None}, "`seed`"),
    ],
    ids=str,
)
def test_wrong_options_are_refused_when_the_solver_is_made(options, match):
    with pytest.raises(ValueError, match=match):
        StochasticGradientDescent(**options)


def test_what_it_cannot_do_is_refused_with_an_alternative(rng):
    X, y = classes(rng)
    for penalty in (tk.penalties.Group([0, 0, 1, 1, 1]), tk.penalties.Nonnegative()):
        with pytest.raises(tk.UnsupportedError, match="ProximalGradient"):
            tk.solve(tk.Problem(LOGISTIC, penalty, 0.1), X, y, solver=StochasticGradientDescent())
    counts = tk.Problem(tk.losses.Poisson(), L2, 0.1)
    with pytest.raises(tk.UnsupportedError, match="give `step`"):
        tk.solve(counts, X, positive(y), solver=StochasticGradientDescent())
    state = StochasticGradientDescent().begin(tk.Problem(LOGISTIC, L2, 0.1), 4)
    with pytest.raises(tk.InputError, match="5 columns"):
        state.learn(X, y)
    with pytest.raises(tk.InputError, match=r"\[target\]"):
        state.learn(X[:, :4], y + 1)


def test_the_door_refuses_what_the_kernel_cannot_walk():
    ones = np.ones(3)
    batches = _kernels.Batches(ones, None, 2, np.ones(2), np.ones(2), None, np.inf, False)
    with pytest.raises(ValueError, match="`X`"):
        _kernels.stochastic_pass(
            np.ones((2, 2)), None, batches, ("squared", 0.0), np.zeros(2), None, np.zeros(2)
        )
    with pytest.raises(ValueError, match="not compiled"):
        _kernels.stochastic_pass(
            np.ones((3, 2)), None, batches, ("own", 0.0), np.zeros(2), None, np.zeros(2)
        )
    with pytest.raises(IndexError, match="`index`"):
        _kernels.stochastic_pass(
            sp.csr_array(np.ones((3, 2))),
            np.array([0, 1, 3]),
            batches,
            ("squared", 0.0),
            np.zeros(2),
            None,
            np.zeros(2),
        )
