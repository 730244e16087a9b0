"""The machine without slack: both formulations, its dual, and the witness of meeting hulls."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peers
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk

CHECKS = [
    (estimator, check)
    for estimator in (tk.HardSVM(), tk.HardSVM(offset="none"))
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


def separable(rng, n=120, d=3, gap=0.3):
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    z = X @ w / np.linalg.norm(w) + 0.2
    keep = np.abs(z) > gap
    return X[keep], np.sign(z[keep])


def test_both_formulations_have_the_same_hyperplane_and_nobody_does_better(rng):
    X, y = separable(rng)
    model = tk.HardSVM().fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    margins = y * (X @ w + b)
    assert margins.min() == pytest.approx(1.0, abs=1e-9)
    assert np.linalg.norm(model.direction_) == pytest.approx(1.0)
    distance = y * (X @ model.direction_[0] + model.direction_intercept_[0])
    assert distance.min() == pytest.approx(model.margin_)
    assert model.margin_ == pytest.approx(1.0 / np.linalg.norm(w))
    for _ in range(200):
        v = model.direction_[0] + 0.1 * rng.standard_normal(3)
        v /= np.linalg.norm(v)
        f = X @ v
        assert (f[y > 0].min() - f[y < 0].max()) / 2 <= model.margin_ * (1 + 1e-9)


def test_the_dual_certifies_it(rng):
    X, y = separable(rng)
    model = tk.HardSVM().fit(X, y)
    beta = model.dual_coef_[0]
    assert model.certificate_.gap <= 1e-8
    assert abs(beta.sum()) < 1e-7 * np.abs(beta).sum()
    np.testing.assert_allclose(beta @ X[model.support_], model.coef_[0], rtol=1e-4, atol=1e-6)
    margins = y * model.decision_function(X)
    large = np.abs(beta) > 1e-6 * np.abs(beta).max()
    np.testing.assert_allclose(margins[model.support_[large]], 1.0, atol=1e-4)


def test_it_is_the_limit_of_soft_machines_and_agrees_with_libsvm(rng):
    X, y = separable(rng)
    hard = tk.HardSVM().fit(X, y)
    soft = tk.LinearSVM(lam=1e-7, standardize=False, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-3)
    peer = peers.SVC(C=1e10, kernel="linear", tol=1e-9).fit(X, y)
    np.testing.assert_allclose(peer.coef_, hard.coef_, rtol=1e-4)


def test_shifts_and_kinds_of_tables_are_nothing(rng):
    X, y = separable(rng)
    here = tk.HardSVM().fit(X, y)
    for table in (X + 500.0, sp.csr_array(X), np.asfortranarray(X)):
        there = tk.HardSVM().fit(table, y)
        assert there.margin_ == pytest.approx(here.margin_, rel=1e-6)
        np.testing.assert_allclose(there.coef_, here.coef_, rtol=1e-5)


@pytest.mark.parametrize("offset", ["constraint", "none"])
def test_meeting_hulls_have_a_witness_that_anybody_can_check(offset, rng):
    X = rng.standard_normal((80, 3))
    y = np.where(rng.random(80) < 0.5, 1, -1)
    with pytest.warns(tk.FitWarning, match="inseparable"):
        model = tk.HardSVM(offset=offset).fit(X, y)
    assert model.status_ == "inseparable"
    assert model.margin_ == 0.0
    u = model.witness_.weights
    assert np.all(u >= 0)
    if offset == "constraint":
        assert u[y > 0].sum() == pytest.approx(1.0)
        assert u[y < 0].sum() == pytest.approx(1.0)
        np.testing.assert_allclose(u[y > 0] @ X[y > 0], u[y < 0] @ X[y < 0], atol=1e-9)
        np.testing.assert_allclose(model.witness_.point, u[y > 0] @ X[y > 0], atol=1e-9)
    else:
        assert u.sum() == pytest.approx(1.0)
        np.testing.assert_allclose((u * y) @ X, 0.0, atol=1e-9)


def test_an_error_carries_the_witness(rng):
    X = np.array([[0.0], [1.0], [0.5]])
    with pytest.raises(tk.InseparableError, match="no hyperplane") as caught:
        tk.HardSVM(inseparable="raise").fit(X, [0, 0, 1])
    np.testing.assert_allclose(caught.value.witness.weights, [0.5, 0.5, 1.0])
    again = pickle.loads(pickle.dumps(caught.value))
    np.testing.assert_array_equal(again.witness.weights, caught.value.witness.weights)


def test_touching_classes_duplicates_and_two_rows(rng):
    two = tk.HardSVM().fit([[0.0, 0.0], [0.0, 4.0]], ["a", "b"])
    assert two.margin_ == pytest.approx(2.0)
    with pytest.warns(tk.FitWarning, match="inseparable"):
        tk.HardSVM().fit([[1.0], [1.0]], ["a", "b"])
    X, y = separable(rng, 40)
    double = tk.HardSVM().fit(np.vstack([X, X]), np.r_[y, y])
    assert double.margin_ == pytest.approx(tk.HardSVM().fit(X, y).margin_, rel=1e-7)


def test_what_cannot_be_is_refused(rng):
    X, y = separable(rng, 30)
    with pytest.raises(tk.UnsupportedError, match="tk.LinearSVM"):
        tk.HardSVM(offset="augmented").fit(X, y)
    with pytest.raises(TypeError, match="allows slack"):
        tk.HardSVM(C=1.0)
