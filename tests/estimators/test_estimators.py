"""The scikit-learn face."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import estimator_checks_generator

import tikhon as tk
from tikhon.paths.ridge_path import LatePath

ESTIMATORS = [
    tk.Boosted(tk.Ridge(lam=0.1), delta=0.3),
    tk.LinearRegression(),
    tk.LinearRegression(fit_intercept=False),
    tk.Ridge(),
    tk.Ridge(rule="bic", nested=2),
    tk.Ridge(lam=0.1),
    tk.Ridge(lam=0.0),
    tk.Ridge(norm=1.0),
    tk.Ridge(lam=0.1, standardize=False, solver="wide"),
    tk.LogisticRegression(lam=0.1),
    tk.LogisticRegression(lam=tk.Grid(size=4, ratio=1e-4)),
    tk.LogisticRegression(lam=0.05, penalty="l1", multi_class="ovr", class_weight="balanced"),
    tk.PoissonRegressor(lam=0.1),
    tk.PoissonRegressor(lam=tk.Grid(values=[1.0, 0.01]), folds=3),
    tk.GammaRegressor(lam=0.01, penalty="elastic_net"),
    tk.HuberRegressor(lam=0.1),
    tk.RidgeClassifier(),
    tk.RidgeClassifier(lam=0.1, class_weight="balanced"),
    tk.RidgeClassifier(lam=0.0),
    tk.Lasso(),
    tk.Lasso(lam=0.1),
    tk.Lasso(lam=0.0),
    tk.Lasso(rule="1se", positive=True, standardize=False, nested=2),
    tk.ElasticNet(),
    tk.ElasticNet(lam=0.1),
    tk.ElasticNet(l1_ratio=[0.3, 0.9], rule="bic"),
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


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_models_survive_pickling_and_copying(estimator, rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal(30)
    if estimator.__sklearn_tags__().target_tags.positive_only:
        y = np.exp(y)
    model = clone(estimator).fit(X, y > 0 if is_classifier(estimator) else y)
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        assert twin.certificate_ == model.certificate_


def test_a_pickled_model_does_not_carry_the_data(rng, monkeypatch):
    monkeypatch.setattr("tikhon.paths.ridge_path.CERTIFY_AT_ONCE", 0)
    X = rng.standard_normal((5000, 50))
    model = tk.Ridge().fit(X, X[:, 0] + rng.standard_normal(5000))
    assert isinstance(model.path_, LatePath)
    assert len(pickle.dumps(model)) < X.nbytes / 4


@pytest.mark.parametrize(
    "cls",
    [
        tk.LinearRegression,
        tk.Ridge,
        tk.Lasso,
        tk.ElasticNet,
        tk.RidgeClassifier,
        tk.LogisticRegression,
        tk.PoissonRegressor,
        tk.GammaRegressor,
        tk.HuberRegressor,
    ],
)
def test_constructors_stay_small_and_show_their_parameters(cls):
    parameters = inspect.signature(cls).parameters
    assert 1 <= len(parameters) <= 12
    assert set(parameters) == set(cls().get_params())
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[1:])


def test_one_column_targets_keep_their_shape(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 1))
    for model in (tk.LinearRegression(), tk.Ridge(lam=0.1), tk.Ridge()):
        model.fit(X, y)
        assert (model.coef_.shape, model.predict(X).shape) == ((1, 3), (30, 1))


def test_estimators_work_in_pipelines_and_grid_searches(rng):
    x = rng.uniform(-1, 1, (60, 1))
    y = x[:, 0] ** 2 + 0.05 * rng.standard_normal(60)
    pipeline = make_pipeline(PolynomialFeatures(include_bias=False), tk.Ridge(lam=1e-6))
    search = GridSearchCV(pipeline, {"polynomialfeatures__degree": [1, 2, 3]}, cv=4).fit(x, y)
    assert search.best_params_["polynomialfeatures__degree"] in (2, 3)


def test_the_chosen_model_is_the_studys_choice_refined(rng):
    X, y = rng.standard_normal((50, 4)), rng.standard_normal(50)
    model = tk.Ridge(rule="1se").fit(X, y)
    chosen = model.study_.choose()
    assert chosen.lam == model.lam_ == model.lam_1se_
    np.testing.assert_allclose(model.coef_, chosen.coef, rtol=1e-9, atol=1e-14)
    assert model.df_ == pytest.approx(model.path_.df[model.study_.index()])


def test_groups_reach_the_folds(rng):
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    groups = np.repeat(np.arange(8), 5)
    fold = tk.Ridge(folds=4).fit(X, y, groups=groups).study_.fold
    assert all(len(set(fold[groups == g])) == 1 for g in range(8))
    assert tk.Ridge().fit(X, y, groups=groups).study_.scores.shape[1] == 8


def test_an_outcome_that_is_not_converged_warns_once_with_a_remedy(rng):
    X, y = rng.standard_normal((12, 40)), rng.standard_normal(12)
    X[:, 0] *= 1e9
    with pytest.warns(tk.FitWarning, match=r"gap .* wanted .*Use a larger `lam`") as caught:
        model = tk.Ridge(lam=1e-12, standardize=False).fit(X, y)
    assert sum(warning.category is tk.FitWarning for warning in caught) == 1
    assert model.status_ == "max_iter"


def test_predictions_before_fitting_are_refused(rng):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        tk.Ridge().predict(rng.standard_normal((3, 2)))
