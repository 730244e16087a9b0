"""Kernel ridge: its equations, leave-one-out, and other estimators that are the same."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge as Peer
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk
from tikhon.solvers.kernel_ridge import decompose

ESTIMATORS = [
    tk.KernelRidge(folds=3),
    tk.KernelRidge(lam=0.001),
    tk.KernelRidge(lam=0.01, kernel="linear"),
]
CHECKS = [
    (estimator, check)
    for estimator in ESTIMATORS
    for _, check in estimator_checks_generator(estimator, legacy=True)
]


@pytest.mark.parametrize(
    ("estimator", "check"),
    CHECKS,
    ids=[f"{e!r}-{getattr(c, 'func', c).__name__}" for e, c in CHECKS],
)
def test_scikit_learns_checks_pass(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(clone(estimator))
    assert estimator is not None


def table(rng, n=60):
    X = rng.standard_normal((n, 3)) * np.array([1.0, 5.0, 0.1])
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * rng.standard_normal(n)


@pytest.mark.parametrize("offset", [True, False])
@pytest.mark.parametrize("eigen", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_the_equations_hold_and_leaving_out_is_fitting_again(offset, eigen, weighted, rng):
    X, y = table(rng, 30)
    K = tk.kernel.RBF(0.3).matrix(X)
    p = rng.random(30) + 0.1 if weighted else np.ones(30)
    p /= p.sum()
    Y, lam = np.column_stack([y, rng.standard_normal(30)]), 0.02
    fit = decompose(K.copy(), Y, p, offset=offset, eigen=eigen)
    beta, b = fit.solve(lam)
    np.testing.assert_allclose(p[:, None] * (Y - K @ beta - b), lam * beta, atol=1e-13)
    if offset:
        np.testing.assert_allclose(beta.sum(axis=0), 0.0, atol=1e-12)
    if weighted and not eigen:
        with pytest.raises(tk.AccuracyError, match="unequal weight"):
            fit.left_out(lam)
        return
    errors = fit.left_out(lam)
    for i in range(30):
        rest = np.arange(30) != i
        share = p[rest] / p[rest].sum()
        inner = decompose(K[np.ix_(rest, rest)].copy(), Y[rest], share, offset=offset, eigen=True)
        part, c = inner.solve(lam)
        np.testing.assert_allclose(errors[i], Y[i] - K[i, rest] @ part - c, atol=1e-11)


def test_the_linear_kernel_is_ridge(rng):
    X, y = table(rng)
    for offset in (True, False):
        named = {"lam": 0.03, "fit_intercept": offset, "standardize": False}
        kernel, linear = tk.KernelRidge(kernel="linear", **named), tk.Ridge(**named)
        kernel, linear = kernel.fit(X, y), linear.fit(X, y)
        np.testing.assert_allclose(kernel.coef_, linear.coef_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(kernel.intercept_, linear.intercept_, atol=1e-10)
        np.testing.assert_allclose(kernel.predict(X), linear.predict(X), atol=1e-10)


def test_scikit_learn_agrees(rng):
    X, y = table(rng)
    peer = Peer(alpha=0.5, kernel="rbf", gamma=0.2).fit(X, y)
    model = tk.KernelRidge(
        0.5 / len(y), kernel=tk.kernel.RBF(0.2), standardize=False, fit_intercept=False
    ).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-10)
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-8)


def test_weights_are_repetitions_and_shifts_are_nothing(rng):
    X, y = table(rng)
    s = rng.integers(0, 3, len(y)).astype(float)
    again = np.repeat(np.arange(len(y)), s.astype(int))
    model = tk.KernelRidge(0.01)
    weighted = clone(model).fit(X, y, sample_weight=s).predict(X)
    np.testing.assert_allclose(clone(model).fit(X[again], y[again]).predict(X), weighted, atol=1e-9)
    moved = clone(model).fit(X + 500.0, y).predict(X + 500.0)
    np.testing.assert_allclose(moved, clone(model).fit(X, y).predict(X), atol=1e-9)
    higher = clone(model).fit(X, y + 7.0)
    np.testing.assert_allclose(higher.predict(X), clone(model).fit(X, y).predict(X) + 7, atol=1e-9)


def test_both_ways_to_choose_agree_on_easy_data(rng):
    X, y = table(rng, 200)
    loo, folds = tk.KernelRidge(folds="loo").fit(X, y), tk.KernelRidge(folds=10).fit(X, y)
    assert loo.study_.method == "loo"
    assert folds.study_.scores.shape == (20, 10)
    assert loo.study_.mean.min() == pytest.approx(folds.study_.mean.min(), rel=0.2)
    for model in (loo, folds):
        assert model.certificate_.gap <= 1e-8
        np.testing.assert_allclose(
            model.study_.choose().coef[:5], model.dual_coef_[:5], rtol=1e-8, atol=1e-9
        )


def test_factors_and_decomposition_choose_the_same(rng, monkeypatch):
    X, y = table(rng, 80)
    by_eigen = tk.KernelRidge(folds="loo").fit(X, y)
    monkeypatch.setattr("tikhon.solvers.kernel_ridge.SMALL", 0)
    monkeypatch.setattr("tikhon.solvers.kernel_ridge.EIGEN_PRICE", 1e9)
    by_factor = tk.KernelRidge(folds="loo").fit(X, y)
    assert (by_eigen.solver_, by_factor.solver_) == ("eigen", "factors")
    np.testing.assert_allclose(by_factor.study_.mean, by_eigen.study_.mean, rtol=1e-7)


def test_sparse_tables_several_targets_and_lists_of_kernels(rng):
    X, y = table(rng)
    X = X * (rng.random(X.shape) < 0.5)
    Y = np.column_stack([y, -y])
    kernels = [tk.kernel.RBF(0.1), tk.kernel.Laplacian(0.1)]
    dense = tk.KernelRidge(kernel=kernels, folds=4).fit(X, Y)
    other = tk.KernelRidge(kernel=kernels, folds=4).fit(sp.csr_array(X), Y)
    assert dense.predict(X).shape == Y.shape
    assert dense.kernel_ == other.kernel_
    np.testing.assert_allclose(other.predict(sp.csr_array(X)), dense.predict(X), atol=1e-8)


def test_what_cannot_be_is_refused(rng):
    X, y = table(rng)
    with pytest.raises(tk.UnsupportedError, match="must be > 0"):
        tk.KernelRidge(0.0).fit(X, y)
    with pytest.raises(tk.UnsupportedError, match="must be 'loo' or folds"):
        tk.KernelRidge(folds="gcv").fit(X, y)
    with pytest.raises(TypeError, match="takes no `alpha`"):
        tk.KernelRidge(alpha=1.0)
