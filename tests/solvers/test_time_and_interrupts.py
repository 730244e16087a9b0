"""Ctrl-C is heard within moments in every regime, and time limits give the best so far."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tikhon as tk

SQUARED, L1 = tk.losses.Squared(), tk.penalties.L1()
HEARD = 0.3
"""Seconds from the signal to the end of the fit; the process itself may take longer to leave."""

SCRIPT = """
import signal, sys, time
import numpy as np
import scipy.sparse as sp
import tikhon as tk

rng = np.random.default_rng(0)
{data}
received = []
inner = signal.getsignal(signal.SIGINT)


def heard(number, frame):
    received.append(time.perf_counter())
    inner(number, frame)


signal.signal(signal.SIGINT, heard)
print("started", flush=True)
try:
    while True:  # a fast machine must not be done before the signal comes
        {fit}
except KeyboardInterrupt:
    print(time.perf_counter() - received[0], flush=True)
"""
LONG = "X = rng.standard_normal((3000, 2500)); X += X[:, :1]; y = X @ rng.standard_normal(2500)"
WIDE = "X = rng.standard_normal((400, 40000)); X += X[:, :1]; y = X @ rng.standard_normal(40000)"
SPARSE = (
    "X = sp.random_array((20000, 20000), density=2e-3, rng=rng, format='csc'); "
    "y = X @ rng.standard_normal(20000)"
)
GROUP = "tk.penalties.Group(np.arange(X.shape[1]) // 10)"
PATH = "tk.path(tk.losses.Squared(), {penalty}, X, y, lams=tk.Grid(200, 1e-5), tol=1e-13)"
L1_PATH, GROUP_PATH = PATH.format(penalty="tk.penalties.L1()"), PATH.format(penalty=GROUP)
JOBS = {
    "tall": (LONG, L1_PATH, 2.5),
    "tall, folds": (LONG, "tk.Lasso(tk.Grid(200, 1e-5)).fit(X, y)", 3.0),
    "working set": (WIDE, L1_PATH, 3.0),
    "working set, folds": (WIDE, "tk.Lasso(tk.Grid(200, 1e-4)).fit(X, y)", 4.0),
    "columns": (SPARSE, L1_PATH, 3.0),
    "groups": (LONG, GROUP_PATH, 3.0),
}


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS)
def test_ctrl_c_is_heard_at_once(job):
    data, fit, delay = JOBS[job]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT.format(data=data, fit=fit)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline().strip() == "started"
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        answer = process.communicate(timeout=60)[0].strip()
    finally:
        process.kill()
    assert float(answer) < HEARD


def hard_table(rng, n=400, d=600):
    """Columns so correlated that a long path takes seconds."""
    X = rng.standard_normal((n, d)) + 3.0 * rng.standard_normal((n, 1))
    return X, X @ rng.standard_normal(d) + rng.standard_normal(n)


LONG_GRID = tk.Grid(400, 1e-7)
LIMIT = 0.05


@pytest.mark.parametrize("solver", ["auto", "proximal_gradient"])
def test_a_path_returns_the_strengths_solved_in_time(solver, rng):
    X, y = hard_table(rng)
    path = tk.path(SQUARED, L1, X, y, lams=LONG_GRID, tol=1e-12, max_seconds=LIMIT, solver=solver)
    assert path.status == "max_seconds"
    assert "of 400 strengths were solved in time" in path.status.message or len(path) == 1
    assert "max_seconds" in path.status.remedy
    assert len(path) < 400
    assert len(path.certificates) == len(path.coefs) == len(path)
    if len(path) > 1:
        assert max(c.gap for c in path.certificates) <= 1e-8


@pytest.mark.parametrize("solver", ["auto", "proximal_gradient"])
def test_cross_validation_studies_the_strengths_solved_in_time(solver, rng):
    X, y = hard_table(rng)
    study = tk.cross_validate(
        SQUARED, L1, X, y, lams=LONG_GRID, folds=3, tol=1e-12, max_seconds=LIMIT, solver=solver
    )
    assert 0 < study.skipped < 400
    assert len(study.lams) == len(study.mean) == len(study.path) == 400 - study.skipped
    assert study.path.status == "max_seconds"


def test_one_problem_returns_the_best_so_far(rng):
    X, y = hard_table(rng, 600, 2000)
    began = time.perf_counter()
    found = tk.solve(tk.Problem(SQUARED, L1, 1e-7), X, y, tol=1e-14, max_seconds=LIMIT)
    assert found.status == "max_seconds"
    assert np.isfinite(found.certificate.gap)
    assert found.certificate.gap > 1e-14
    assert time.perf_counter() - began < 20.0


@pytest.mark.parametrize(
    "model",
    [
        tk.Lasso(LONG_GRID, max_seconds=LIMIT, tol=1e-12),
        tk.ElasticNet(LONG_GRID, l1_ratio=[0.5, 0.9], max_seconds=LIMIT, tol=1e-12),
        tk.GeneralizedLinear(
            tk.losses.Huber(), L1, LONG_GRID, folds=3, max_seconds=LIMIT, tol=1e-12
        ),
    ],
    ids=lambda model: type(model).__name__,
)
def test_estimators_choose_among_what_was_solved_and_warn(model, rng):
    X, y = hard_table(rng)
    with pytest.warns(tk.FitWarning, match="max_seconds: .*Raise `max_seconds`"):
        model.fit(X, y)
    assert model.status_ == "max_seconds"
    assert model.study_.skipped > 0
    assert np.isfinite(model.certificate_.gap)
    assert model.predict(X).shape == y.shape


def test_a_nested_score_that_was_not_finished_is_none(rng):
    X, y = hard_table(rng, 100, 20)
    with pytest.warns(tk.FitWarning, match="no nested score"):
        model = tk.Lasso(tk.Grid(1500, 1e-5), nested=10, max_seconds=0.3).fit(X, y)
    assert model.study_.nested is None
