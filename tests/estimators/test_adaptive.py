"""Adaptive weights: made anew in every fold, so that no held-out row has a say in them."""

import numpy as np
import pytest
from sklearn.base import clone

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows


def data_of(rng, n=60, d=6):
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d) / 2) + 1.0
    return X, X[:, 0] - 2.0 * X[:, 1] + rng.standard_normal(n)


def by_hand(first, X, y, lam, *, gamma=1.0):
    """The adaptive lasso at one strength, its weights from the same rows."""
    model = clone(first).fit(X, y)
    sizes = np.abs(model.coef_) * X.std(axis=0)
    weights = tk.penalties.adaptive_weights(sizes, gamma) if sizes.any() else None
    return tk.Lasso(lam, weights=weights).fit(X, y)


@pytest.mark.parametrize("shape", [(60, 6), (30, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("first", [tk.Ridge(), tk.Lasso(folds=3)], ids=repr)
def test_each_fold_makes_its_own_weights(shape, first, rng):
    X, y = data_of(rng, *shape)
    adaptive = tk.Adaptive(first, gamma=0.5)
    study = tk.Lasso(tk.Grid(8, 1e-5), weights=adaptive, folds=3).fit(X, y).study_
    data = as_data(X, y)
    split = as_folds(3).split(Rows(data.design, data.y, data.used, None))
    for k in range(3):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        for i, lam in enumerate(study.lams):
            model = by_hand(first, X[train], y[train], lam, gamma=0.5)
            error = np.mean((y[test] - model.predict(X[test])) ** 2)
            assert study.scores[i, k] == pytest.approx(error, rel=1e-6)
    whole = by_hand(first, X, y, study.lam(), gamma=0.5)
    np.testing.assert_allclose(study.choose().coef, whole.coef_, atol=1e-6)


def test_held_out_rows_have_no_say_in_the_weights():
    """A column that predicts the target by chance, in all rows: weights from all rows know it."""
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 120)), rng.standard_normal(40)
    honest = tk.Lasso(weights=tk.Adaptive(), folds=5).fit(X, y).study_
    first = tk.Ridge(folds=5).fit(X, y)
    weights = tk.penalties.adaptive_weights(first.coef_ * X.std(axis=0))
    leaking = tk.Lasso(weights=weights, folds=5).fit(X, y).study_
    assert leaking.best_cost < 0.7 * y.var()
    assert honest.best_cost > 0.9 * y.var()


def test_a_given_strength_takes_weights_from_all_rows(rng):
    X, y = data_of(rng)
    model = tk.Lasso(0.1, weights=tk.Adaptive()).fit(X, y)
    np.testing.assert_allclose(model.coef_, by_hand(tk.Ridge(), X, y, 0.1).coef_, atol=1e-9)


@pytest.mark.parametrize("nested", [False, 3])
def test_elastic_nets_and_refits_take_them_as_well(nested, rng):
    X, y = data_of(rng)
    how = {"weights": tk.Adaptive(), "folds": 3, "nested": nested, "lam": tk.Grid(8, 1e-5)}
    net = tk.ElasticNet(l1_ratio=[0.5, 1.0], **how).fit(X, y)
    lasso = tk.Lasso(relaxed=[0.0, 1.0], positive=True, **how).fit(X, y)
    assert sorted(net.studies_) == [0.5, 1.0]
    assert lasso.coef_.min() >= 0.0
    assert (net.study_.nested is not None) == (lasso.study_.nested is not None) == bool(nested)
    np.testing.assert_array_equal(net.studies_[1.0].scores, tk.Lasso(**how).fit(X, y).study_.scores)


def test_several_targets_share_the_weights(rng):
    X, y = data_of(rng)
    Y = np.column_stack([y, X[:, 2]])
    first = tk.Ridge().fit(X, Y)
    weights = tk.penalties.adaptive_weights(np.linalg.norm(first.coef_ * X.std(axis=0), axis=0))
    adaptive = tk.Lasso(0.1, weights=tk.Adaptive()).fit(X, Y)
    np.testing.assert_allclose(
        adaptive.coef_, tk.Lasso(0.1, weights=weights).fit(X, Y).coef_, atol=1e-9
    )


def test_without_an_intercept_scales_are_about_zero(rng):
    X, y = data_of(rng)
    first = tk.Ridge(fit_intercept=False)
    model = tk.Lasso(0.1, weights=tk.Adaptive(first), fit_intercept=False).fit(X, y)
    sizes = np.abs(first.fit(X, y).coef_) * np.sqrt((X**2).mean(axis=0))
    weights = tk.penalties.adaptive_weights(sizes)
    again = tk.Lasso(0.1, weights=weights, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(model.coef_, again.coef_, atol=1e-9)


def test_bad_parameters_are_refused(rng):
    from sklearn.linear_model import LassoCV

    with pytest.raises(ValueError, match="`gamma` must be > 0 and finite, got 0"):
        tk.Adaptive(gamma=0)
    with pytest.raises(tk.UnsupportedError, match=r"weights`=tk\.penalties\.adaptive_weights"):
        tk.Adaptive(LassoCV())
    X, y = data_of(rng)
    with pytest.raises(ValueError, match=r"`weights` must be one number per column, or tk\.Adap"):
        tk.Lasso(weights="adaptive").fit(X, y)


def test_a_first_fit_that_finds_nothing_leaves_the_lasso(rng):
    X, y = data_of(rng)
    nothing = tk.Lasso(weights=tk.Adaptive(tk.Lasso(lam=1e6))).fit(X, y)
    np.testing.assert_array_equal(nothing.coef_, tk.Lasso().fit(X, y).coef_)
