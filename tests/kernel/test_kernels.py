"""Kernels: their laws, their defaults, and the refusal of what is none."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tikhon.kernel import as_kernel, check_kernel_matrix

KERNELS = [
    tk.kernel.Linear(),
    tk.kernel.Polynomial(2, gamma=0.5),
    tk.kernel.Polynomial(5, gamma=0.1, coef0=0.0),
    tk.kernel.RBF(0.7),
    tk.kernel.Laplacian(0.3),
    tk.kernel.Function(lambda X, Z: np.asarray((X @ Z.T + 1.0) ** 2)),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_matrices_are_symmetric_and_positive_semidefinite(kernel, rng):
    X = rng.standard_normal((40, 3))
    K = kernel.matrix(X)
    np.testing.assert_allclose(K, K.T, rtol=1e-13, atol=1e-14)
    values = np.linalg.eigvalsh(K)
    assert values[0] >= -1e-12 * values[-1]
    check_kernel_matrix(K)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_blocks_and_diagonals_are_parts_of_the_matrix(kernel, rng):
    X = rng.standard_normal((30, 4))
    K = kernel.matrix(X)
    np.testing.assert_allclose(kernel.matrix(X[:7], X[5:]), K[:7, 5:], rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), np.diagonal(K), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS[:5], ids=lambda k: k.name)
def test_sparse_rows_have_the_same_values(kernel, rng):
    X = rng.standard_normal((30, 5)) * (rng.random((30, 5)) < 0.4)
    np.testing.assert_allclose(
        kernel.matrix(sp.csr_array(X), sp.csr_array(X[:9])), kernel.matrix(X, X[:9]), atol=1e-12
    )
    np.testing.assert_allclose(kernel.diagonal(sp.csr_array(X)), kernel.diagonal(X), rtol=1e-12)


@pytest.mark.parametrize("kernel", [tk.kernel.RBF(0.5), tk.kernel.Laplacian(0.5)], ids=repr)
def test_kernels_of_distances_do_not_see_a_shift(kernel, rng):
    X = rng.standard_normal((20, 3))
    np.testing.assert_allclose(kernel.matrix(X + 500.0), kernel.matrix(X), rtol=1e-11)


def test_the_default_width_is_one_over_the_total_variance():
    assert tk.kernel.RBF().resolved(4.0) == tk.kernel.RBF(0.25)
    assert tk.kernel.RBF(3.0).resolved(4.0) == tk.kernel.RBF(3.0)
    assert tk.kernel.Laplacian().resolved(0.0).gamma == 1.0
    with pytest.raises(ValueError, match="default depends on the data"):
        tk.kernel.RBF().matrix(np.ones((2, 1)))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tk.kernel.RBF(-1.0), "`gamma` must be positive"),
        (lambda: tk.kernel.Laplacian(float("nan")), "`gamma` must be positive"),
        (lambda: tk.kernel.Polynomial(0), "`degree` must be a whole number >= 1"),
        (lambda: tk.kernel.Polynomial(2, coef0=-1.0), "not positive semidefinite"),
        (lambda: as_kernel("gaussian"), "`kernel` must be one of 'linear'"),
        (lambda: tk.kernel.RBF(1.0).matrix(np.ones((2, 3)), np.ones((2, 2))), "3 columns"),
        (lambda: tk.kernel.Function(lambda X, Z: X).matrix(np.ones((2, 3))), r"shape \(2, 2\)"),
    ],
)
def test_wrong_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_an_indefinite_matrix_is_refused_with_its_eigenvalue():
    K = np.array([[1.0, 2.0], [2.0, 1.0]])
    with pytest.raises(tk.InputError, match=r"indefinite.*eigenvalue -1 ") as caught:
        check_kernel_matrix(K)
    assert caught.value.problems[0].code == "kernel_indefinite"


def test_a_large_indefinite_matrix_is_refused_too(rng):
    n = 1600
    A = rng.standard_normal((n, 30))
    v = rng.standard_normal(n)
    with pytest.raises(tk.InputError, match="indefinite"):
        check_kernel_matrix(A @ A.T / 30 - np.outer(v, v))
    check_kernel_matrix(A @ A.T)


def test_an_asymmetric_matrix_is_refused_with_its_entries():
    with pytest.raises(tk.InputError, match=r"K\[0, 1\] = 2, K\[1, 0\] = 1"):
        check_kernel_matrix(np.array([[1.0, 2.0], [1.0, 1.0]]))
