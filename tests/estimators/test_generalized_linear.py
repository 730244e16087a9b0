"""One estimator for every loss of a numeric target and every penalty."""

import inspect
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk

PENALTIES = {
    "L2": tk.penalties.L2(),
    "L1": tk.penalties.L1(),
    "elastic net": tk.penalties.ElasticNet(0.4),
    "weights": tk.penalties.Weighted(tk.penalties.L1(), [0.0, 1.0, 2.0, 0.5, 1.0, 3.0]),
    "group": tk.penalties.Group([0, 0, 1, 1, 2, 2]),
    "sparse group": tk.penalties.SparseGroup([0, 0, 1, 1, 2, 2], 0.3),
    "positive": tk.penalties.Sum(tk.penalties.L1(), tk.penalties.Nonnegative()),
    "box": tk.penalties.Sum(tk.penalties.ElasticNet(0.5), tk.penalties.Box(-0.3, 0.6)),
    "scaled": tk.penalties.Scaled(tk.penalties.L1(), 2.0),
}
ESTIMATORS = [
    tk.GeneralizedLinear(),
    tk.GeneralizedLinear(lam=0.1),
    tk.GeneralizedLinear(penalty=tk.penalties.L1()),
    tk.GeneralizedLinear(penalty=tk.penalties.ElasticNet(0.5), lam=0.1),
    tk.GeneralizedLinear(tk.losses.Huber(), tk.penalties.L1(), lam=0.1, tol=1e-12),
]
CHECKS = [
    (estimator, check)
    for estimator in ESTIMATORS
    for _, check in estimator_checks_generator(estimator, legacy=True)
]


def data_of(rng, n=60, d=6):
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d)) + 2.0
    return X, X[:, 0] - 0.5 * X[:, 1] + rng.standard_normal(n)


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


def test_the_constructor_stays_small():
    parameters = inspect.signature(tk.GeneralizedLinear).parameters
    assert len(parameters) <= 12
    assert list(parameters)[:3] == ["loss", "penalty", "lam"]
    assert set(parameters) == set(tk.GeneralizedLinear().get_params())


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "no intercept"])
def test_every_penalty_is_chosen_and_certified(penalty, intercept, rng):
    X, y = data_of(rng)
    model = tk.GeneralizedLinear(penalty=PENALTIES[penalty], fit_intercept=intercept).fit(X, y)
    assert model.status_ == "converged"
    assert model.certificate_.gap <= 1e-8
    assert max(c.gap for c in model.path_.certificates) <= 1e-8
    assert model.lam_ == model.study_.lam()
    again = tk.GeneralizedLinear(
        penalty=PENALTIES[penalty], lam=model.lam_, fit_intercept=intercept
    ).fit(X, y)
    np.testing.assert_allclose(again.coef_, model.coef_, atol=1e-5 * np.abs(model.coef_).max())


@pytest.mark.parametrize("penalty", PENALTIES)
def test_standardizing_is_scaling_the_columns_beforehand(penalty, rng):
    X, y = data_of(rng)
    sd = X.std(axis=0)
    penalised = PENALTIES[penalty]
    inside = tk.GeneralizedLinear(penalty=penalised, lam=0.05).fit(X, y)
    if penalty == "box":  # bounds are bounds of the coefficients that are returned
        bounds = tk.penalties.Box(-0.3 * sd, 0.6 * sd)
        penalised = tk.penalties.Sum(tk.penalties.ElasticNet(0.5), bounds)
    outside = tk.GeneralizedLinear(penalty=penalised, lam=0.05, standardize=False).fit(X / sd, y)
    np.testing.assert_allclose(inside.coef_ * sd, outside.coef_, atol=1e-6)
    assert inside.certificate_.objective == pytest.approx(outside.certificate_.objective)


@pytest.mark.parametrize("penalty", ["L1", "elastic net", "positive", "weights"])
def test_proximal_gradient_standardizes_alike(penalty, rng):
    """The generic route and the machine of the squared loss choose the same in the same folds."""
    X, y = data_of(rng)
    s = rng.integers(0, 3, len(y)).astype(float)
    how = {"lams": 8, "folds": 4, "standardize": True, "sample_weight": s, "tol": 1e-9}
    loss, penalised = tk.losses.Squared(), PENALTIES[penalty]
    fast = tk.cross_validate(loss, penalised, X, y, **how)
    slow = tk.cross_validate(loss, penalised, X, y, solver="proximal_gradient", **how)
    np.testing.assert_allclose(slow.lams, fast.lams, rtol=1e-12)
    np.testing.assert_allclose(slow.scores, fast.scores, rtol=1e-4)
    np.testing.assert_allclose(slow.path.coefs, fast.path.coefs, atol=1e-4)


def test_the_squared_loss_with_l1_is_the_lasso(rng):
    X, y = data_of(rng)
    general, lasso = tk.GeneralizedLinear(penalty=tk.penalties.L1()).fit(X, y), tk.Lasso().fit(X, y)
    np.testing.assert_array_equal(general.coef_, lasso.coef_)
    np.testing.assert_array_equal(general.study_.scores, lasso.study_.scores)


def test_the_default_is_ridge(rng):
    X, y = data_of(rng)
    general, ridge = tk.GeneralizedLinear().fit(X, y), tk.Ridge().fit(X, y)
    assert general.lam_ == ridge.lam_
    np.testing.assert_allclose(general.coef_, ridge.coef_, rtol=1e-9)
    given = tk.GeneralizedLinear(lam=0.3).fit(X, y)
    np.testing.assert_allclose(given.coef_, tk.Ridge(0.3).fit(X, y).coef_, rtol=1e-9)


def test_predictions_go_through_the_link(rng):
    X = rng.standard_normal((200, 3))
    y = rng.poisson(np.exp(0.5 * X[:, 0] + 1.0))
    model = tk.GeneralizedLinear(tk.losses.Poisson(), tk.penalties.L2(), lam=0.01).fit(X, y)
    np.testing.assert_allclose(model.predict(X), np.exp(X @ model.coef_ + model.intercept_))
    assert model.predict(X).mean() == pytest.approx(y.mean(), rel=1e-3)


def test_losses_without_a_machine_choose_by_cross_validation(rng):
    X, y = data_of(rng)
    model = tk.GeneralizedLinear(
        tk.losses.Huber(1.0), tk.penalties.L1(), tk.Grid(8), folds=3, tol=1e-6
    ).fit(X, y)
    assert model.study_.score == "mean huber loss"
    assert model.status_ == "converged"
    naive = tk.cross_validate(
        tk.losses.Huber(1.0), tk.penalties.L1(), X, y,
        lams=model.study_.lams, folds=3, tol=1e-6, standardize=True,
    )  # fmt: skip
    np.testing.assert_array_equal(naive.scores, model.study_.scores)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (
            tk.GeneralizedLinear(tk.losses.Logistic()),
            r"loss of classes; use tk\.LogisticRegression",
        ),
        (tk.GeneralizedLinear(tk.losses.Quantile(0.5)), "not differentiable.*Huber"),
        (
            tk.GeneralizedLinear(penalty=tk.penalties.NoPenalty()),
            r"one model; use tk\.LinearRegression",
        ),
        (tk.GeneralizedLinear(penalty=tk.penalties.Nonnegative()), "constraint without a strength"),
        (tk.GeneralizedLinear(penalty=tk.penalties.NormBall(1.0)), "constraint without a strength"),
        (tk.GeneralizedLinear(lam=0.1, nested=True), "nothing to choose"),
        (tk.GeneralizedLinear(penalty=tk.penalties.L1(), folds="loo"), "for ridge only"),
    ],
    ids=str,
)
def test_what_does_not_exist_is_refused_with_what_does(model, message, rng):
    with pytest.raises(tk.UnsupportedError, match=message):
        model.fit(*data_of(rng))


def test_components_of_the_wrong_kind_are_refused(rng):
    X, y = data_of(rng)
    with pytest.raises(ValueError, match=r"`loss` must be one of tk\.losses.*got 'squared'"):
        tk.GeneralizedLinear("squared").fit(X, y)
    with pytest.raises(ValueError, match=r"`penalty` must be one of tk\.penalties.*got 'l1'"):
        tk.GeneralizedLinear(penalty="l1").fit(X, y)


def test_a_constraint_alone_takes_any_one_strength(rng):
    X, y = data_of(rng)
    model = tk.GeneralizedLinear(penalty=tk.penalties.Nonnegative(), lam=1.0).fit(X, y)
    from scipy.optimize import nnls

    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(model.coef_, nnls(centred, y - y.mean())[0], atol=1e-7)
