"""Feature maps near a kernel: exact where they should be, and honest about their error."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk

CHECKS = [
    (estimator, check)
    for estimator in (tk.Nystroem(), tk.RandomFeatures(n_components=20))
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


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "polynomial", "linear"])
@pytest.mark.parametrize("count", [5, 30, 200])
def test_nystroems_error_is_the_trace_that_is_missing(kernel, count, rng):
    X = rng.standard_normal((120, 4))
    made = tk.Nystroem(kernel, n_components=count).fit(X)
    Z = (X - made.shift_) / made.scale_
    K, F = made.kernel_.matrix(Z), made.transform(X)
    left = K - F @ F.T
    assert np.linalg.eigvalsh(left)[0] >= -1e-8 * np.trace(K)
    assert made.error_ == pytest.approx(np.trace(left) / np.trace(K), abs=1e-9)
    spot = made.landmarks_
    np.testing.assert_allclose(left[np.ix_(spot, spot)], 0.0, atol=1e-7 * K.max())


def test_landmarks_that_span_everything_are_enough(rng):
    X = rng.standard_normal((50, 3))
    made = tk.Nystroem("linear", n_components=40).fit(X)
    assert len(made.landmarks_) == 3
    assert made.error_ < 1e-12
    repeated = tk.Nystroem(n_components=40).fit(np.repeat(X[:7], 5, axis=0))
    assert len(repeated.landmarks_) == 7


@pytest.mark.parametrize("kernel", [tk.kernel.RBF(0.3), tk.kernel.Laplacian(0.2)], ids=repr)
def test_random_features_say_how_far_off_they_are(kernel, rng):
    X = rng.standard_normal((300, 4))
    for count in (50, 800):
        made = tk.RandomFeatures(kernel, n_components=count, standardize=False).fit(X)
        F = made.transform(X)
        off = F @ F.T - kernel.matrix(X)
        true = np.sqrt(np.mean(off**2))
        assert abs(made.error_ - true) <= 5 * made.error_se_ + 1e-3
        assert made.error_ <= 1.5 / np.sqrt(count)
        np.testing.assert_allclose(np.diagonal(F @ F.T), 1.0)


def test_a_linear_machine_on_features_is_near_the_kernel_machine(rng):
    X = rng.standard_normal((300, 2))
    y = (X**2).sum(axis=1) < 1.3
    kernel = tk.kernel.RBF(0.5)
    exact = tk.SVM(1e-3, kernel=kernel, standardize=False).fit(X, y)
    mapped = make_pipeline(
        tk.Nystroem(kernel, n_components=150, standardize=False),
        tk.LinearSVM(1e-3, standardize=False),
    ).fit(X, y)
    assert mapped[0].error_ < 1e-4
    difference = mapped.decision_function(X) - exact.decision_function(X)
    assert np.abs(difference).max() < 0.05


def test_sparse_rows_have_the_same_features(rng):
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.4)
    for made in (tk.Nystroem(n_components=60, standardize=False), tk.Nystroem("linear")):
        dense, other = clone(made).fit(X).transform(X), clone(made).fit(sp.csr_array(X))
        F = other.transform(sp.csr_array(X))
        np.testing.assert_allclose(F @ F.T, dense @ dense.T, atol=1e-7)


def test_what_cannot_be_is_refused(rng):
    X = rng.standard_normal((10, 2))
    with pytest.raises(tk.UnsupportedError, match="tk.Nystroem takes any"):
        tk.RandomFeatures("linear").fit(X)
    with pytest.raises(tk.UnsupportedError, match="precomputed"):
        tk.Nystroem("precomputed").fit(X)
    with pytest.raises(ValueError, match="`n_components` must be a whole number"):
        tk.Nystroem(n_components=0).fit(X)
