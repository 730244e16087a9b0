"""Support vector estimators: scikit-learn's checks, laws, degenerate data, other packages."""

import inspect
import os
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import svm as peers
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk

ESTIMATORS = [
    tk.SVM(lam=0.01, folds=2),
    tk.SVM(),
    tk.LinearSVM(lam=0.01, folds=2),
    tk.LinearSVM(lam=0.01, standardize=False),
    tk.LinearSVM(lam=0.1, loss="squared_hinge", offset="augmented", folds=2),
    tk.SVR(),
    tk.SVR(lam=0.01, kernel="linear"),
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


def classes(rng, n=120, d=4, noise=1.0):
    X = rng.standard_normal((n, d)) * np.array([1.0, 3.0, 0.2, 1.0])[:d]
    z = X @ np.array([1.0, -0.4, 2.0, 0.0])[:d] + 0.7 + noise * rng.standard_normal(n)
    return X, np.where(z > 0, "yes", "no")


MODELS = [
    tk.SVM(lam=3e-3, tol=1e-9),
    tk.SVM(lam=3e-3, tol=1e-9, kernel="polynomial"),
    tk.SVM(lam=3e-3, tol=1e-9, kernel="laplacian", offset="none"),
    tk.LinearSVM(lam=3e-3, tol=1e-9),
    tk.LinearSVM(lam=3e-3, tol=1e-9, loss="squared_hinge"),
    tk.LinearSVM(lam=3e-3, tol=1e-9, offset="augmented"),
]


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_weights_are_repetitions_and_order_is_nothing(model, rng):
    X, y = classes(rng)
    s = rng.integers(0, 4, len(y)).astype(float)
    weighted = clone(model).fit(X, y, sample_weight=s).decision_function(X)
    again = np.repeat(np.arange(len(y)), s.astype(int))
    rng.shuffle(again)
    repeated = clone(model).fit(X[again], y[again]).decision_function(X)
    np.testing.assert_allclose(weighted, repeated, atol=2e-4)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_every_row_is_certified_from_what_is_handed_out(model, rng):
    X, y = classes(rng)
    fitted = clone(model).fit(X, y)
    n, lam = len(y), fitted.lam_
    sign = np.where(y == "yes", 1.0, -1.0)
    alpha = np.zeros(n)
    alpha[fitted.support_] = fitted.dual_coef_[0] * sign[fitted.support_]
    z = sign * fitted.decision_function(X)
    C = 1.0 / (lam * n)
    assert np.all(alpha >= 0)
    if fitted.get_params().get("loss") == "squared_hinge":
        np.testing.assert_allclose(alpha, C * np.maximum(0, 1 - z), atol=1e-3 * C)
    else:
        assert np.all(alpha <= C * (1 + 1e-12))
        assert np.all(z[alpha == 0] >= 1 - 1e-3)
        assert np.all(z[alpha >= C * (1 - 1e-12)] <= 1 + 1e-3)
        inner = (alpha > 1e-6 * C) & (alpha < C * (1 - 1e-6))
        np.testing.assert_allclose(z[inner], 1.0, atol=1e-3)
    if fitted.offset == "constraint":
        assert abs(fitted.dual_coef_.sum()) < 1e-9 * C * n
    assert fitted.slackness_.shape == (n,)
    assert np.all(fitted.slackness_ >= 0)
    relative = fitted.slackness_.sum() / fitted.certificate_.null_objective
    assert relative == pytest.approx(fitted.certificate_.gap)
    assert fitted.certificate_.gap <= 1e-9
    np.testing.assert_allclose(fitted.margins_, z[fitted.support_], atol=1e-7)


@pytest.mark.parametrize("offset", ["constraint", "none", "augmented"])
def test_a_kernel_that_is_the_inner_product_is_the_linear_machine(offset, rng):
    X, y = classes(rng)
    named = {"lam": 0.01, "offset": offset, "standardize": False, "tol": 1e-11}
    linear = tk.LinearSVM(**named).fit(X, y)
    same = tk.SVM(kernel="linear", **named).fit(X, y)
    np.testing.assert_array_equal(same.coef_, linear.coef_)
    product = tk.kernel.Polynomial(1, gamma=1.0, coef0=0.0)
    for kernel in (product, lambda A, B: A @ B.T):
        by_rows = tk.SVM(kernel=kernel, **named).fit(X, y)
        np.testing.assert_allclose(
            by_rows.decision_function(X), linear.decision_function(X), atol=1e-4
        )


@pytest.mark.parametrize("solver", ["dual_descent", "newton"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("offset", ["constraint", "none", "augmented"])
def test_solvers_of_the_linear_machine_agree(solver, loss, offset, rng):
    X, y = classes(rng, n=400)
    named = {"lam": 0.01, "offset": offset, "loss": loss, "tol": 1e-10}
    one = tk.LinearSVM(solver=solver, **named).fit(sp.csr_array(X), y)
    other = tk.LinearSVM(**named).fit(X, y)
    np.testing.assert_allclose(one.coef_, other.coef_, atol=2e-4 * np.abs(other.coef_).max())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian"])
def test_a_shift_changes_only_the_intercept(kernel, rng):
    X, y = classes(rng)
    shift = np.array([500.0, -500.0, 500.0, 0.0])
    for make in (tk.SVM(lam=3e-3, kernel=kernel, standardize=False), tk.LinearSVM(lam=3e-3)):
        here, there = clone(make).fit(X, y), clone(make).fit(X + shift, y)
        assert there.certificate_.gap <= 1e-6
        np.testing.assert_allclose(
            there.decision_function(X + shift), here.decision_function(X), atol=5e-3
        )
        if make.get_params().get("kernel", "linear") == "linear":
            np.testing.assert_allclose(there.coef_, here.coef_, rtol=0.01, atol=1e-3)


def test_scales_from_1e_minus_4_to_1e4_are_certified_without_standardizing(rng):
    X, y = classes(rng, n=200)
    wild = X * np.array([1e-4, 1.0, 1e2, 1e4]) + 500.0
    for loss in ("hinge", "squared_hinge"):
        for table in (wild, sp.csr_array(wild)):
            model = tk.LinearSVM(lam=0.01, loss=loss, standardize=False).fit(table, y)
            assert model.status_ == "converged"
            assert model.certificate_.gap <= 1e-6


def test_dense_sparse_and_float32_are_one_table(rng):
    X, y = classes(rng)
    X = np.round(X, 2).astype(np.float32)
    for model in (tk.SVM(lam=0.01), tk.LinearSVM(lam=0.01), tk.SVM(lam=0.01, kernel="laplacian")):
        dense = clone(model).fit(X.astype(float), y).decision_function(X.astype(float))
        for table in (X, sp.csr_array(X), sp.csc_array(X.astype(float)), np.asfortranarray(X)):
            found = clone(model).fit(table, y).decision_function(table)
            np.testing.assert_allclose(found, dense, atol=5e-3)


# --- degenerate data ------------------------------------------------------------------------


@pytest.mark.parametrize("model", [tk.SVM(lam=0.1), tk.LinearSVM(lam=0.1)], ids=repr)
def test_degenerate_tables_end_with_an_answer(model, rng):
    X = rng.standard_normal((10, 3))
    y = np.arange(10) % 2
    tables = {
        "duplicates with opposite labels": (np.vstack([X, X]), np.r_[y, 1 - y]),
        "two rows": (X[:2], np.array([0, 1])),
        "one of a class": (X, np.r_[1, np.zeros(9, dtype=int)]),
        "rows of zeros": (np.zeros((6, 3)), np.r_[0, 0, 0, 1, 1, 1]),
        "one column, constant": (np.ones((6, 1)), np.r_[0, 0, 0, 0, 1, 1]),
    }
    for name, (table, labels) in tables.items():
        fitted = clone(model).fit(table, labels)
        assert fitted.status_ == "converged", name
        assert fitted.certificate_.gap <= 1e-6, name
        assert np.isfinite(fitted.decision_function(table)).all()


def test_one_class_is_refused(rng):
    with pytest.raises(tk.InputError, match="1 class"):
        tk.SVM(lam=0.1).fit(rng.standard_normal((5, 2)), np.ones(5))


def test_a_strength_of_nothing_is_refused_with_the_alternative(rng):
    X, y = classes(rng, n=20)
    with pytest.raises(tk.UnsupportedError, match="lam"):
        tk.SVM(lam=0.0).fit(X, y)
    with pytest.raises(TypeError, match="takes no `C`"):
        tk.SVM(C=1.0)


def test_an_indefinite_kernel_is_named(rng):
    X, y = classes(rng, n=30)
    with pytest.raises(tk.InputError, match="eigenvalue -"):
        tk.SVM(lam=0.1, kernel=lambda A, B: -(A @ B.T)).fit(X, y)
    with pytest.raises(tk.InputError, match="eigenvalue -"):
        tk.SVM(lam=0.1, kernel="precomputed").fit(-X @ X.T, y)


def test_precomputed_and_own_kernels_are_the_kernel(rng):
    X, y = classes(rng)
    kernel = tk.kernel.RBF(0.3)
    named = {"lam": 3e-3, "tol": 1e-10, "standardize": False}
    named_kernel = tk.SVM(kernel=kernel, **named).fit(X, y)
    own = tk.SVM(kernel=lambda A, B: kernel.matrix(A, B), **named).fit(X, y)
    given = tk.SVM(kernel="precomputed", **named).fit(kernel.matrix(X), y)
    for other, table in ((own, X[:9]), (given, kernel.matrix(X[:9], X))):
        np.testing.assert_allclose(
            other.decision_function(table), named_kernel.decision_function(X[:9]), atol=1e-4
        )


# --- choice and probabilities ---------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [tk.SVM(folds=4), tk.LinearSVM(folds=4), tk.SVM(multiclass="one_vs_rest", folds=4)],
    ids=repr,
)
@pytest.mark.parametrize("count", [2, 3])
def test_the_predicted_class_has_the_largest_probability(model, count, rng):
    X = rng.standard_normal((90, 3))
    y = np.digitize(X[:, 0] + 0.4 * rng.standard_normal(90), [0.0, 0.7][: count - 1])
    fitted = clone(model).fit(X, y)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))
    assert fitted.calibration_.rows == 90


def test_probabilities_are_calibrated_on_rows_the_machine_has_not_seen(rng):
    X = rng.standard_normal((1500, 2))
    p = 1 / (1 + np.exp(-2.0 * X[:, 0]))
    y = rng.random(1500) < p
    model = tk.LinearSVM(lam=0.01, folds=5).fit(X[:1000], y[:1000])
    found = model.predict_proba(X[1000:])[:, 1]
    assert np.abs(found - p[1000:]).mean() < 0.05


def test_probabilities_without_folds_are_refused_by_name(rng):
    model = tk.SVM(lam=0.1).fit(*classes(rng, n=30))
    assert not hasattr(model, "predict_proba")


def test_cross_validation_is_the_naive_loop(rng):
    X, y = classes(rng)
    grid = tk.Grid(values=[0.1, 0.01, 0.001])
    folds = np.arange(len(y)) % 4
    for make in (tk.SVM, tk.LinearSVM):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", tk.DataWarning)  # which strength is best is no matter
            study = make(lam=grid, folds=folds, tol=1e-8).fit(X, y).study_
        for k in range(4):
            train, test = folds != k, folds == k
            for at, lam in enumerate(study.lams):
                alone = make(lam=float(lam), tol=1e-8).fit(X[train], y[train])
                assert study.scores[at, k] == pytest.approx(alone.score(X[test], y[test]))


def test_kernels_are_chosen_by_their_score(rng):
    X = rng.standard_normal((150, 2))
    y = (X**2).sum(axis=1) < 1.2
    kernels = [tk.kernel.Linear(), tk.kernel.RBF(0.5)]
    model = tk.SVM(kernel=kernels, folds=4).fit(X, y)
    assert model.kernel_ == tk.kernel.RBF(0.5)
    assert len(model.studies_) == 2
    assert model.score(X, y) > 0.9


def test_class_weights_are_sample_weights(rng):
    X, y = classes(rng)
    s = np.where(y == "yes", 3.0, 1.0)
    for model in (tk.SVM(lam=0.01), tk.LinearSVM(lam=0.01)):
        one = clone(model).set_params(class_weight={"yes": 3.0}).fit(X, y)
        other = clone(model).fit(X, y, sample_weight=s)
        np.testing.assert_allclose(one.decision_function(X), other.decision_function(X))


def test_models_survive_pickling(rng):
    X, y = classes(rng)
    for model in (tk.SVM(lam=0.01), tk.LinearSVM(lam=0.01)):
        fitted = clone(model).fit(X, y)
        twin = pickle.loads(pickle.dumps(fitted))
        np.testing.assert_array_equal(twin.decision_function(X), fitted.decision_function(X))


@pytest.mark.parametrize("cls", [tk.SVM, tk.LinearSVM, tk.SVR])
def test_constructors_stay_small(cls):
    assert len(inspect.signature(cls).parameters) <= 12


def test_the_clock_ends_a_fit_with_a_certificate(rng):
    X = rng.standard_normal((3000, 8))
    y = rng.random(3000) < 0.5
    with pytest.warns(tk.FitWarning, match=r"gap .*max_seconds"):
        model = tk.SVM(lam=1e-9, max_seconds=0.3).fit(X, y)
    assert model.status_ == "max_seconds"
    assert np.isfinite(model.certificate_.gap)


def test_partial_fit_is_pegasos_and_comes_near_the_machine(rng):
    X, y = classes(rng, n=2000)
    lam = 0.05
    model = tk.LinearSVM(lam, standardize=False, offset="none")
    for start in range(0, 2000, 100):
        part = slice(start, start + 100)
        model.partial_fit(X[part], y[part], classes=["no", "yes"])
    state = tk.solvers.Pegasos().begin(
        tk.Problem(tk.losses.Hinge(), tk.penalties.L2(), lam, intercept=False), 4
    )
    for start in range(0, 2000, 100):
        part = slice(start, start + 100)
        state.learn(X[part], np.where(y[part] == "yes", 1.0, -1.0))
    np.testing.assert_array_equal(model.coef_[0], state.coef)
    assert model.steps_ == 2000
    fitted = tk.LinearSVM(lam, standardize=False, offset="none").fit(X, y)
    problem = tk.Problem(tk.losses.Hinge(), tk.penalties.L2(), lam, intercept=False)
    sign = np.where(y == "yes", 1.0, -1.0)
    bound = tk.solvers.pegasos_bound(lam, np.linalg.norm(X, axis=1).max(), 2000)
    suboptimal = problem.value(X, sign, model.coef_[0]) - fitted.certificate_.objective
    assert 0 <= suboptimal <= bound
    assert model.score(X, y) > 0.7


def test_partial_fit_of_several_classes_survives_copying(rng):
    X = rng.standard_normal((300, 3))
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = tk.LinearSVM(0.01, standardize=False)
    model.partial_fit(X[:150], y[:150], classes=[0, 1, 2])
    twin = pickle.loads(pickle.dumps(model))
    for each in (model, twin):
        each.partial_fit(X[150:], y[150:])
    np.testing.assert_array_equal(twin.coef_, model.coef_)
    assert model.coef_.shape == (3, 3)
    with pytest.raises(ValueError, match="`classes` must name"):
        tk.LinearSVM(0.1, standardize=False).partial_fit(X, y)
    assert not hasattr(tk.LinearSVM(0.1), "partial_fit")


# --- other packages -------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.05, 2.0])
@pytest.mark.parametrize("C", [0.5, 20.0])
def test_libsvm_agrees_for_two_and_more_classes(gamma, C, rng):
    X, y = classes(rng)
    three = np.where(X[:, 0] > 1, "maybe", y)
    for labels in (y, three):
        peer = peers.SVC(C=C, gamma=gamma, tol=1e-10, decision_function_shape="ovo").fit(X, labels)
        model = tk.SVM(
            1 / (C * len(y)), kernel=tk.kernel.RBF(gamma), standardize=False, tol=1e-12
        ).fit(X, labels)
        np.testing.assert_array_equal(model.predict(X), peer.predict(X))
        if labels is y:
            np.testing.assert_allclose(
                model.decision_function(X), peer.decision_function(X), atol=1e-4
            )


def test_libsvm_agrees_on_regression(rng):
    X, _ = classes(rng)
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(len(X))
    peer = peers.SVR(C=3.0, gamma=0.2, epsilon=0.05, tol=1e-10).fit(X, y)
    kernel = tk.kernel.RBF(0.2)
    lam = 1 / (3.0 * len(y))
    model = tk.SVR(lam, kernel=kernel, epsilon=0.05, standardize=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.predict(X), peer.predict(X), atol=1e-5)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_liblinear_agrees_on_its_penalised_offset(loss, rng):
    X, y = classes(rng)
    C = 0.02 if loss == "hinge" else 0.3  # LIBLINEAR crawls on more
    peer = peers.LinearSVC(C=C, loss=loss, tol=1e-12, max_iter=10**6).fit(X, y)
    lam = 1 / (C * len(y)) if loss == "hinge" else 1 / (2 * C * len(y))
    model = tk.LinearSVM(lam, loss=loss, offset="augmented", standardize=False, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)


def _real(name):
    folder = os.environ.get("TIKHON_DATA")
    if not folder or not (Path(folder) / f"{name}.npz").exists():
        pytest.skip("TIKHON_DATA does not name the folder of real data")
    import importlib.util

    spec = importlib.util.spec_from_file_location("real_load", Path(folder) / "load.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table = module.load(name)
    return table["X"], np.where(table["y"] > 0, 1, -1)


@pytest.mark.parametrize("name", ["heart_scale", "german_numer"])
def test_libsvm_agrees_on_real_data(name):
    X, y = _real(name)
    X = np.asarray(X.todense() if sp.issparse(X) else X, dtype=float)
    X = X / np.abs(X).max(axis=0)
    kernel = tk.kernel.RBF(0.5)
    peer = peers.SVC(C=2.0, gamma=0.5, tol=1e-9).fit(X, y)
    model = tk.SVM(1 / (2.0 * len(y)), kernel=kernel, standardize=False, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a9a", "w8a", "mushrooms"])
def test_liblinear_agrees_on_real_data(name):
    X, y = _real(name)
    C = 0.1
    peer = peers.LinearSVC(
        C=C, loss="squared_hinge", tol=1e-9, max_iter=10**5, fit_intercept=False
    ).fit(X, y)
    model = tk.LinearSVM(
        1 / (2 * C * len(y)), loss="squared_hinge", offset="none", standardize=False, tol=1e-12
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
