"""Hard cases of penalised least squares, and bad input: right, or named."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk

SQUARED, L1 = tk.losses.Squared(), tk.penalties.L1()
REGIMES = ("tall", "working_set", "columns")


def data_of(rng, n=40, d=6):
    X = rng.standard_normal((n, d))
    return X, X[:, 0] - X[:, 1] + 0.3 * rng.standard_normal(n)


def solved(X, y, regime, lam=0.05, penalty=L1):
    return tk.solve(tk.Problem(SQUARED, penalty, lam), X, y, solver=regime, tol=1e-11)


@pytest.mark.parametrize("regime", REGIMES)
def test_duplicated_columns(regime, rng):
    X, y = data_of(rng)
    twice = solved(np.hstack([X, X]), y, regime)
    once = solved(X, y, regime, lam=0.05)
    assert twice.status == "converged"
    assert twice.certificate.gap <= 1e-8
    np.testing.assert_allclose(twice.coef[:6] + twice.coef[6:], once.coef, atol=1e-6)
    net = solved(np.hstack([X, X]), y, regime, penalty=tk.penalties.ElasticNet(0.5))
    np.testing.assert_allclose(net.coef[:6], net.coef[6:], atol=1e-4)


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("correlation", [0.9999, 1 - 1e-9])
def test_columns_of_correlation_near_one(regime, correlation, rng):
    common = rng.standard_normal((60, 1))
    X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.standard_normal((60, 20))
    y = X[:, 0] - X[:, 1] + common[:, 0] + 0.1 * rng.standard_normal(60)
    path = tk.path(SQUARED, L1, X, y, lams=tk.Grid(20, 1e-4), solver=regime)
    assert path.status == "converged"
    assert max(c.gap for c in path.certificates) <= 1e-8


@pytest.mark.parametrize("model", [tk.Lasso(), tk.ElasticNet(l1_ratio=[0.2, 0.9])], ids=repr)
def test_five_rows(model, rng):
    X, y = data_of(rng, 5, 8)
    model.fit(X, y)
    assert model.status_ == "converged"
    assert model.study_.scores.shape[1] == 5
    assert len(model.support_) <= 4 or isinstance(model, tk.ElasticNet)


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_two_hundred_thousand_columns(kind, rng):
    d = 200_000
    X = rng.standard_normal((30, d), dtype=np.float32)
    X[rng.random((30, d)) < 0.7] = 0.0
    y = X[:, :3].sum(axis=1) + 0.01 * rng.standard_normal(30)
    model = tk.Lasso(tk.Grid(10, 0.3), folds=3, tol=1e-8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tk.DataWarning)
        model.fit(kind(X), y)
    assert model.status_ == "converged"
    assert model.coef_.shape == (d,)
    assert model.certificate_.gap <= 1e-8


@pytest.mark.parametrize("regime", REGIMES)
def test_constant_columns_and_a_single_nonzero_entry(regime, rng):
    X, y = data_of(rng)
    X[:, 2], X[:, 3] = 7.0, 0.0
    X[:, 4] = 0.0
    X[5, 4] = 1.0
    y[5] += 5.0
    found = solved(X, y, regime, lam=1e-3)
    assert found.certificate.gap <= 1e-8
    assert found.coef[2] == found.coef[3] == 0.0
    assert found.coef[4] != 0.0
    model = tk.Lasso().fit(X, y)
    assert model.coef_[2] == model.coef_[3] == 0.0
    assert model.status_ == "converged"


@pytest.mark.parametrize("model", [tk.Lasso(), tk.Lasso(lam=0.1), tk.ElasticNet()], ids=repr)
def test_only_constant_columns_give_the_null_model(model):
    y = np.arange(10.0)
    model.fit(np.ones((10, 3)), y)
    assert not model.coef_.any()
    assert model.intercept_ == pytest.approx(4.5)


def test_one_column(rng):
    x = rng.standard_normal((30, 1))
    y = 2.0 * x[:, 0] + 0.1 * rng.standard_normal(30)
    sd = x.std()
    slope = (x - x.mean()).T @ (y - y.mean()) / 30 / sd
    found = tk.Lasso(0.1).fit(x, y)
    assert found.coef_[0] == pytest.approx((slope[0] - 0.1) / sd, rel=1e-10)


def test_a_constant_target_has_the_null_model(rng):
    X, _ = data_of(rng)
    for model in (tk.Lasso(), tk.Lasso(lam=0.1), tk.ElasticNet()):
        model.fit(X, np.full(40, 3.0))
        assert not model.coef_.any()
        assert model.intercept_ == pytest.approx(3.0)
        assert model.status_ == "converged"


def test_above_lam_max_nothing_is_left(rng):
    X, y = data_of(rng)
    model = tk.Lasso(lam=1e9).fit(X, y)
    assert len(model.support_) == 0
    assert model.intercept_ == pytest.approx(y.mean())
    assert model.status_ == "converged"


def test_without_a_strength_more_columns_than_rows_say_so(rng):
    X, y = data_of(rng, 10, 30)
    model = tk.Lasso(lam=0.0).fit(X, y)
    assert model.status_ == "rank_deficient"
    assert "do not determine 30 coefficients" in model.status_.message
    assert "least norm" in model.status_.message
    np.testing.assert_allclose(model.predict(X), y, atol=1e-9)
    least = np.linalg.pinv(X - X.mean(axis=0)) @ (y - y.mean())
    np.testing.assert_allclose(model.coef_, least, atol=1e-9)


@pytest.mark.parametrize("shape", [(60, 9), (20, 40)], ids=["tall", "wide"])
def test_columns_on_scales_from_1e_minus_8_to_1e8(shape, rng):
    X, y = data_of(rng, *shape)
    scale = 10.0 ** np.linspace(-8, 8, shape[1])
    plain, scaled = tk.Lasso().fit(X, y), tk.Lasso().fit(X * scale, y)
    assert scaled.status_ == "converged"
    assert scaled.lam_ == pytest.approx(plain.lam_, rel=1e-9)
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, atol=1e-7)
    raw = tk.Lasso(standardize=False).fit(X * scale, y)
    assert raw.certificate_.gap <= 1e-8


def test_unpenalised_columns_alone_are_least_squares(rng):
    X, y = data_of(rng)
    model = tk.Lasso(lam=0.3, weights=np.zeros(6)).fit(X, y)
    free = tk.LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_, free.coef_, atol=1e-8)
    assert model.certificate_.gap <= 1e-8


@pytest.mark.parametrize("model", [tk.Lasso(), tk.ElasticNet(), tk.GeneralizedLinear(penalty=L1)])
class TestBadInput:
    """What is wrong is named, all of it at once, and nothing is fitted."""

    def test_everything_wrong_is_listed_at_once(self, model, rng):
        X, y = data_of(rng)
        X[3, 1], y[7] = np.nan, np.inf
        with pytest.raises(tk.InputError) as caught:
            model.fit(X, y, sample_weight=np.full(40, -1.0))
        codes = {problem.code for problem in caught.value.problems}
        assert {"nonfinite", "negative_weight"} <= codes
        assert not hasattr(model, "coef_")

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"lam": -1.0}, "`lam` must be finite and >= 0, got -1.0"),
            ({"lam": float("nan")}, "`lam` must be finite and >= 0, got nan"),
            ({"lam": [0.1, 0.2]}, r"`lam` must be 'cv', a number or a tk\.Grid"),
            ({"rule": "best"}, "`rule` must be 'min'"),
            ({"folds": 100}, "100"),
            ({"tol": 0.0}, "`tol` must be > 0, got 0.0"),
            ({"max_seconds": 0}, "`max_seconds` must be > 0 or None, got 0"),
            ({"standardize": "yes"}, "`standardize` must be True or False, got 'yes'"),
        ],
        ids=lambda part: str(part)[:20],
    )
    def test_parameters_are_checked(self, model, change, message, rng):
        from sklearn.base import clone

        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**change).fit(*data_of(rng))

    def test_columns_that_float64_cannot_hold_are_named(self, model, rng):
        X, y = data_of(rng)
        X[:, 2] *= 1e200
        with pytest.raises(tk.InputError, match="range.*column.*2"):
            model.fit(X, y)

    def test_predicting_needs_the_columns_of_the_fit(self, model, rng):
        X, y = data_of(rng)
        with pytest.raises(ValueError, match="6 features"):
            model.fit(X, y).predict(X[:, :5])
