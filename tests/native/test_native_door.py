"""What the door refuses, and how many threads it uses."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from native_layouts import limited_to
from scipy import sparse

from tikhon import _kernels


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([[1.0]], TypeError, "`X` must be a float32 or float64 array, got list"),
        (np.ones((2, 2), dtype=int), TypeError, "got int64"),
        (np.ones((2, 2), dtype=">f8"), TypeError, "got >f8"),
        (np.ones((2, 2), dtype=np.float16), TypeError, "got float16"),
        (np.ones(3), ValueError, r"`X` must have two dimensions, got shape \(3,\)"),
        (np.ones((3, 2))[::-1], ValueError, r"got \(-16, 8\). Pass `X.copy\(\)`"),
        (
            np.zeros((3, 2), dtype=[("a", "i4"), ("b", "f8")])["b"],
            ValueError,
            "must be aligned",
        ),
        (
            np.zeros((3, 2), dtype=[("a", "f4"), ("b", "i1", 2), ("c", "i2")])["a"],
            None,
            "",
        ),
    ],
)
def test_matrices_that_no_kernel_can_walk_are_named(X, error, message):
    for kernel in (_kernels.scan, _kernels.hash_rows):
        if error is None:
            kernel(X)
        else:
            with pytest.raises(error, match=message):
                kernel(X)


def test_strides_that_are_no_multiple_of_the_item_are_refused():
    records = np.zeros((3, 2), dtype=np.dtype({"names": ["a"], "formats": ["f8"], "itemsize": 12}))
    with pytest.raises(ValueError, match="`X` must"):
        _kernels.scan(records["a"])


def test_one_row_may_have_any_stride():
    X = np.arange(6.0).reshape(2, 3)[::-1][:1]
    np.testing.assert_array_equal(_kernels.scan(X).sums, [3.0, 4.0, 5.0])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"out": np.empty((2, 3), order="F")}, ValueError, "`out` must be aligned and contig"),
        ({"out": np.empty((2, 2))}, ValueError, r"`out` must have shape \('any', 3\), got"),
        ({"out": np.empty((2, 3), np.float32)}, TypeError, "`out` must be an array of float64"),
        ({"out": np.broadcast_to(0.0, (2, 3))}, ValueError, "`out` must be"),
        ({"index": [0, 1]}, TypeError, "`index` must be an array of int64, got list"),
        ({"index": np.zeros(2, np.int32)}, TypeError, "`index` must be an array of int64, got"),
        ({"index": np.zeros(3, np.int64)}, ValueError, r"`index` must have shape \(2,\), got"),
        ({"index": np.zeros(4, np.int64)[::2]}, ValueError, "`index` must be aligned and"),
        ({"index": np.zeros(2, np.int64), "start": 1}, ValueError, "`start` must be 0 when"),
        ({"shift": np.zeros(2)}, ValueError, r"`shift` must have shape \(3,\), got \(2,\)"),
        ({"column_scale": np.zeros(2)}, ValueError, r"`column_scale` must have shape \(3,\)"),
        ({"scale": np.zeros(3)}, ValueError, r"`scale` must have shape \(2,\), got \(3,\)"),
        ({"threads": 0}, ValueError, "`threads` must be >= 1, got 0"),
        ({"threads": 1.5}, TypeError, "`threads` must be an integer or None, got 1.5"),
        ({"threads": True}, TypeError, "`threads` must be an integer or None, got True"),
    ],
)
def test_arguments_that_do_not_fit_are_named_with_their_value(change, error, message):
    arguments = {"out": np.empty((2, 3)), **change}
    with pytest.raises(error, match=message):
        _kernels.gather(np.ones((4, 3)), **arguments)


def test_outputs_must_be_writeable():
    r = np.empty(2)
    r.flags.writeable = False
    v = np.ones(2)
    with pytest.raises(ValueError, match="`r_lo` must be writeable"):
        _kernels.residual_dd(np.ones((2, 2)), v, v, v, 0.0, 0.0, np.empty(2), r)


def test_sparse_matrices_of_integers_are_refused():
    with pytest.raises(TypeError, match="`X` must be float32 or float64, got int64"):
        _kernels.hash_rows(sparse.csr_array(np.eye(2, dtype=int)))


def processors():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


@pytest.fixture
def no_variables(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("TIKHON_NUM_THREADS", raising=False)


@pytest.mark.parametrize("name", ["OMP_NUM_THREADS", "TIKHON_NUM_THREADS"])
def test_threads_are_limited_by_the_environment(no_variables, monkeypatch, name):
    assert _kernels.thread_count() == processors()
    monkeypatch.setenv(name, "1")
    assert _kernels.thread_count() == 1
    monkeypatch.setenv(name, "100000")
    assert _kernels.thread_count() == processors()
    monkeypatch.setenv(name, "")
    assert _kernels.thread_count() == processors()


def test_the_outermost_level_of_openmp_counts(no_variables, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1,4")
    assert _kernels.thread_count() == 1


@pytest.mark.parametrize("value", ["0", "-2", "two", "1.5"])
def test_a_wrong_number_of_threads_in_the_environment_is_named(no_variables, monkeypatch, value):
    monkeypatch.setenv("TIKHON_NUM_THREADS", value)
    with pytest.raises(ValueError, match="`TIKHON_NUM_THREADS` must be a positive integer, got"):
        _kernels.thread_count()


def test_kernels_may_run_in_many_python_threads_at_once():
    X = np.random.default_rng(0).standard_normal((20_000, 30))
    first = _kernels.scan(X).sums.tobytes()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: _kernels.scan(X, threads=2).sums.tobytes(), range(20)))
    assert set(results) == {first}


def test_the_instruction_set_can_be_limited_for_tests():
    best = _kernels.instruction_set()
    with limited_to("baseline"):
        assert _kernels.instruction_set() == "baseline"
    assert _kernels.instruction_set() == best
    with pytest.raises(ValueError, match="`highest` must be 'baseline', 'avx2' or 'avx512'"):
        _kernels.limit_instruction_set("sse9")
