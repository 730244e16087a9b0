"""Compiled rows of kernel matrices, SMO and dual descent: their NumPy forms, and their laws."""

import threading
import time

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from native_layouts import INSTRUCTION_SETS, limited_to

from tikhon import _kernels, kernel
from tikhon._kernels import CONVERGED, OUT_OF_STEPS, STOPPED, DualProblem, Stop
from tikhon.problem.support import SupportProblem

KERNELS = [
    kernel.Linear(),
    kernel.Polynomial(3, gamma=0.3, coef0=0.5),
    kernel.RBF(0.7),
    kernel.RBF(1e-9),
    kernel.Laplacian(0.4),
]


@pytest.mark.parametrize("made", KERNELS, ids=repr)
@settings(deadline=None, max_examples=20)
@given(
    n=st.integers(1, 200),
    d=st.integers(1, 12),
    seed=st.integers(0, 1000),
    highest=st.sampled_from(INSTRUCTION_SETS),
)
def test_rows_agree_with_numpy_dense_and_sparse(made, n, d, seed, highest):
    rng = np.random.default_rng(seed)
    X = np.round(rng.standard_normal((n, d)), 2) * (rng.random((n, d)) < 0.6)
    rows, columns = rng.integers(0, n, 5), rng.integers(0, n, rng.integers(0, 150))
    wanted = made.matrix(X)[np.ix_(rows, columns)]
    scale = np.abs(made.diagonal(X)).max()
    for table in (np.ascontiguousarray(X), sp.csr_array(X)):
        with limited_to(highest):
            got = _kernels.kernel_rows(table, made.compiled).block(rows, columns)
        np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14 * scale)


def test_dense_rows_are_the_same_bits_under_every_instruction_set(rng):
    X = rng.standard_normal((150, 7))
    index = np.arange(150)
    for made in KERNELS:
        found = []
        for highest in INSTRUCTION_SETS:
            with limited_to(highest):
                found.append(_kernels.kernel_rows(X, made.compiled).block(index, index).tobytes())
        assert len(set(found)) == 1


def test_distances_of_near_rows_far_from_zero_keep_their_digits():
    X = 1e8 + np.array([[0.0], [1.0], [3.0]])
    K = _kernels.kernel_rows(X, kernel.RBF(1.0).compiled).block(np.arange(3), np.arange(3))
    np.testing.assert_allclose(K[0], np.exp([0.0, -1.0, -9.0]), rtol=1e-15)


def test_a_row_is_checked_before_it_is_read(rng):
    rows = _kernels.kernel_rows(rng.standard_normal((4, 2)), kernel.RBF(1.0).compiled)
    with pytest.raises(IndexError, match="within 4"):
        rows.block(np.array([0, 4]), np.array([0]))


def _problem(rng, n, *, tube=0.0, offset="constraint"):
    y = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    p = rng.random(n) * (rng.random(n) < 0.9)
    p /= p.sum()
    if tube:
        return SupportProblem.tubes(rng.standard_normal(n), p, tube, offset=offset)
    return SupportProblem.classes(y, p, offset=offset)


def _smo(rows, problem, strengths, gap, **named):
    return _kernels.smo_path(
        rows,
        problem.target,
        problem.lower,
        problem.upper,
        np.asarray(strengths, dtype=float),
        tube=problem.tube,
        constrained=problem.free,
        gap=gap,
        **{"cache_bytes": 2**22, **named},
    )


@pytest.mark.parametrize("tube", [0.0, 0.3])
@pytest.mark.parametrize("offset", ["constraint", "none"])
@pytest.mark.parametrize("single", [True, False])
def test_smo_closes_the_gap_that_numpy_measures(rng, tube, offset, single):
    X = rng.standard_normal((90, 4))
    K = kernel.RBF(0.5).matrix(X)
    problem = _problem(rng, 90, tube=tube, offset=offset)
    path = _smo(
        _kernels.kernel_rows(X, kernel.RBF(0.5).compiled),
        problem,
        [1.0, 30.0, 1000.0],
        1e-9,
        single=single,
    )
    assert path.status.tolist() == [CONVERGED] * 3
    for strength, beta, b, gap in zip(
        [1.0, 30.0, 1000.0], path.beta, path.offsets, path.gaps, strict=True
    ):
        u = beta / strength
        assert np.all((beta >= strength * problem.lower) & (beta <= strength * problem.upper))
        if offset == "constraint":
            assert abs(u.sum()) < 1e-14
        measured = problem.slack(problem.target - K @ beta - b, u).sum()
        assert measured <= 1.01e-9
        assert measured == pytest.approx(gap / strength, abs=1e-13)


def test_paths_are_sequences_of_cold_solutions(rng):
    X = rng.standard_normal((80, 3))
    rows = _kernels.kernel_rows(X, kernel.Laplacian(0.5).compiled)
    problem = _problem(rng, 80)
    warm = _smo(rows, problem, [2.0, 20.0, 5.0], 1e-12, single=False)
    for k, strength in enumerate([2.0, 20.0, 5.0]):
        cold = _smo(rows, problem, [strength], 1e-12, single=False)
        np.testing.assert_allclose(warm.residual[k], cold.residual[0], atol=1e-5)


def test_the_cache_and_shared_rows_change_nothing(rng):
    X = rng.standard_normal((300, 3))
    rows = _kernels.kernel_rows(X, kernel.RBF(2.0).compiled)
    problem = _problem(rng, 300)
    plenty = _smo(rows, problem, [10.0], 1e-8)
    for named in (
        {"cache_bytes": 0},
        {"cache_bytes": 20_000},
        {"shared": _kernels.SharedRows(rows, single=True)},
    ):
        np.testing.assert_array_equal(_smo(rows, problem, [10.0], 1e-8, **named).beta, plenty.beta)


def test_called_and_stored_rows_are_rows(rng):
    X = rng.standard_normal((60, 3))
    K = kernel.RBF(1.0).matrix(X)
    problem = _problem(rng, 60)
    compiled = _smo(
        _kernels.kernel_rows(X, kernel.RBF(1.0).compiled), problem, [5.0], 1e-10, single=False
    )
    for rows in (
        _kernels.stored_kernel_rows(K),
        _kernels.called_kernel_rows(lambda i: K[i], np.ones(60)),
    ):
        found = _smo(rows, problem, [5.0], 1e-10, single=False)
        np.testing.assert_allclose(found.residual, compiled.residual, atol=1e-4)
        assert found.status[0] == CONVERGED


def test_an_error_in_a_users_kernel_comes_through(rng):
    def broken(i):
        raise ZeroDivisionError(f"row {i}")

    rows = _kernels.called_kernel_rows(broken, np.ones(20))
    with pytest.raises(ZeroDivisionError, match="row"):
        _smo(rows, _problem(rng, 20), [1.0], 1e-6)


def test_smo_ends_by_steps_by_the_clock_and_on_request(rng):
    X = rng.standard_normal((2000, 5))
    rows = _kernels.kernel_rows(X, kernel.RBF(0.5).compiled)
    problem = _problem(rng, 2000)
    assert _smo(rows, problem, [1e7], 1e-12, max_steps=100).status[0] == OUT_OF_STEPS
    started = time.perf_counter()
    late = _smo(rows, problem, [1e9], 1e-15, stop=Stop(0.05))
    assert late.status[0] == STOPPED
    stop = Stop()
    timer = threading.Timer(0.1, stop.request)
    timer.start()
    assert _smo(rows, problem, [1e9], 1e-15, stop=stop).status[0] == STOPPED
    assert time.perf_counter() - started < 3.0


def _descend(X, problem, strengths, gap, *, mean=None, rho=0.0, **named):
    dual = DualProblem(
        problem.target,
        problem.lower,
        problem.upper,
        problem.quadratic,
        np.zeros(X.shape[1]) if mean is None else mean,
        problem.tube,
        rho,
        problem.free,
    )
    return _kernels.dual_descent(X, dual, np.asarray(strengths, dtype=float), gap=gap, **named)


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("offset", ["constraint", "none", "augmented"])
def test_dual_descent_closes_the_gap_that_numpy_measures(rng, squared, offset):
    X = rng.standard_normal((200, 6)) * (rng.random((200, 6)) < 0.7)
    y = np.where(X @ rng.standard_normal(6) + 0.5 + rng.standard_normal(200) > 0, 1.0, -1.0)
    p = rng.random(200)
    problem = SupportProblem.classes(y, p / p.sum(), squared=squared, offset=offset)
    mean = X.mean(axis=0) if offset == "constraint" else np.zeros(6)
    rho = {"constraint": 1.0, "none": 0.0, "augmented": 1.0}[offset]
    tables = [(sp.csr_array(X), {"mean": mean}), (X, {"shift": mean})]
    for table, centring in tables:
        path = _descend(table, problem, [1.0, 10.0], 1e-8, rho=rho, patience=10**6, **centring)
        assert path.status.tolist() == [CONVERGED] * 2
        for strength, beta, w, b in zip(
            [1.0, 10.0], path.beta, path.coefs, path.offsets, strict=True
        ):
            u = problem.balanced(beta / strength)
            np.testing.assert_allclose(w, (X - mean).T @ beta, atol=1e-9)
            r = problem.target - (X - mean) @ ((X - mean).T @ (u * strength)) - b
            assert problem.slack(r, u).sum() <= 1.1e-8


def test_dual_descent_gives_up_where_it_crawls_and_says_so(rng):
    X = rng.standard_normal((100, 3)) * np.array([1e-4, 1.0, 1e4])
    problem = _problem(rng, 100)
    path = _descend(X, problem, [100.0, 1000.0], 1e-12, rho=1.0, patience=10)
    assert len(path.status) == 1
    assert path.status[0] not in (CONVERGED, STOPPED)
