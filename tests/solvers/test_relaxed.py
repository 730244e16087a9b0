"""Least squares on the supports of a path: in every fold, with bounds, and certified."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows

SQUARED, L1 = tk.losses.Squared(), tk.penalties.L1()
SHAPES = [(60, 8), (30, 60)]


def data_of(rng, n=60, d=8):
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d) / 2) + 1.0
    return X, X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2] + rng.standard_normal(n)


def refit(X, y, support, s=None):
    """Least squares with an intercept on some columns."""
    root = np.sqrt(np.ones(len(y)) if s is None else s)
    A = np.column_stack([np.ones(len(y)), X[:, support]])
    found = np.linalg.lstsq(A * root[:, None], (y.T * root).T, rcond=None)[0]
    coef = np.zeros((X.shape[1], *y.shape[1:]))
    coef[support] = found[1:]
    return coef, found[0]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_every_point_is_least_squares_on_its_support(shape, kind, rng):
    X, y = data_of(rng, *shape)
    s = rng.integers(0, 3, len(y)).astype(float)
    lams = tk.path(SQUARED, L1, X, y, lams=tk.Grid(12, 0.1), sample_weight=s).lams
    shrunk = tk.path(SQUARED, L1, kind(X), y, lams=lams, sample_weight=s)
    path = tk.path(SQUARED, L1, kind(X), y, lams=lams, sample_weight=s, relaxed=1.0)
    assert max(c.gap for c in path.certificates) <= 1e-8
    assert "relaxed" in path.solver
    for k, w in enumerate(shrunk.coefs):
        coef, b = refit(X, y, np.flatnonzero(w), s)
        np.testing.assert_allclose(path.coefs[k], coef, atol=1e-9)
        assert path.intercepts[k] == pytest.approx(b, abs=1e-9)
        loss = np.average((y - X @ coef - b) ** 2, weights=s) / 2
        assert path.losses[k] == pytest.approx(loss, rel=1e-9)
        assert path.df[k] == np.count_nonzero(w)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_share_is_mixed_in(shape, rng):
    X, y = data_of(rng, *shape)
    how = {"lams": tk.Grid(6, 0.1)}
    none, half, whole = (
        tk.path(SQUARED, L1, X, y, relaxed=share, **how) for share in (0.0, 0.5, 1.0)
    )
    np.testing.assert_allclose(half.coefs, (none.coefs + whole.coefs) / 2, atol=1e-12)
    np.testing.assert_allclose(half.intercepts, (none.intercepts + whole.intercepts) / 2)
    at = half[3]
    np.testing.assert_array_equal(at.coef, half.coefs[3])
    assert max(c.gap for c in half.certificates) <= 1e-8


@pytest.mark.parametrize("score", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("share", [0.3, 1.0])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_folds_are_refitted_on_their_own_supports(shape, share, score, rng):
    X, y = data_of(rng, *shape)
    study = tk.cross_validate(
        SQUARED, L1, X, y, lams=tk.Grid(6, 0.2), folds=3, relaxed=share, score=score,
        standardize=True,
    )  # fmt: skip
    data = as_data(X, y)
    split = as_folds(3).split(Rows(data.design, data.y, data.used, None))
    for k in range(3):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        sd = X[train].std(axis=0)
        for i, lam in enumerate(study.lams):
            problem = tk.Problem(SQUARED, L1, lam)
            naive = tk.solve(
                problem, X[train] / sd, y[train], solver="proximal_gradient", tol=1e-13
            )
            coef, b = refit(X[train], y[train], np.flatnonzero(naive.coef))
            z = share * (X[test] @ coef + b)
            z += (1 - share) * (X[test] @ (naive.coef / sd) + naive.intercept)
            error = (y[test] - z) ** 2 if score == "squared_error" else np.abs(y[test] - z)
            assert study.scores[i, k] == pytest.approx(error.mean(), rel=1e-4)


def test_bounds_are_kept(rng):
    from scipy.optimize import lsq_linear

    X, y = data_of(rng)
    penalty = tk.penalties.Sum(L1, tk.penalties.Box(-1.0, 0.4))
    path = tk.path(SQUARED, penalty, X, y, lams=tk.Grid(10, 0.01), relaxed=1.0)
    shrunk = tk.path(SQUARED, penalty, X, y, lams=path.lams)
    assert path.coefs.min() >= -1.0
    assert path.coefs.max() <= 0.4
    assert max(c.gap for c in path.certificates) <= 1e-8
    for k in range(1, 10):
        support = np.flatnonzero(shrunk.coefs[k])
        A = X[:, support] - X[:, support].mean(axis=0)
        found = lsq_linear(A, y - y.mean(), (-1.0, 0.4), method="bvls", tol=1e-14).x
        np.testing.assert_allclose(path.coefs[k, support], found, atol=1e-7)


@pytest.mark.parametrize(
    "penalty",
    [tk.penalties.Group([0, 0, 1, 1, 2, 2, 3, 3]), tk.penalties.MultiTask()],
    ids=lambda p: p.name,
)
def test_coupled_coefficients_are_refitted_together(penalty, rng):
    X, y = data_of(rng)
    Y = np.column_stack([y, X[:, 3] + rng.standard_normal(len(y))])
    shrunk, path = (
        tk.path(SQUARED, penalty, X, Y, lams=tk.Grid(6, 0.1), relaxed=share) for share in (0, 1)
    )
    for k in range(6):
        coef, _ = refit(X, Y, np.flatnonzero(shrunk.coefs[k].any(axis=1)))
        np.testing.assert_allclose(path.coefs[k], coef, atol=1e-8)


def test_more_columns_than_rows_give_the_solution_of_least_norm(rng):
    X = np.repeat(rng.standard_normal((20, 3)), 2, axis=1)
    y = X[:, 0] + 0.1 * rng.standard_normal(20)
    net = tk.penalties.ElasticNet(0.5)  # which takes both copies of a column
    path = tk.path(SQUARED, net, X, y, lams=tk.Grid(5, 1e-3), relaxed=1.0)
    np.testing.assert_allclose(path.coefs[:, ::2], path.coefs[:, 1::2], atol=1e-8)
    assert max(c.gap for c in path.certificates) <= 1e-8


def test_estimators_choose_the_share_and_show_every_study(rng):
    X, y = data_of(rng, 30, 60)
    shares = [0.0, 0.5, 1.0]
    model = tk.Lasso(relaxed=shares).fit(X, y)
    assert sorted(model.studies_) == shares
    best = min(shares, key=lambda share: model.studies_[share].best_cost)
    assert model.relaxed_ == best
    assert model.study_ is model.studies_[best]
    for share in shares:
        alone = tk.Lasso(relaxed=share).fit(X, y)
        np.testing.assert_array_equal(alone.study_.scores, model.studies_[share].scores)


def test_true_is_all_and_false_is_none(rng):
    X, y = data_of(rng)
    for one, other in ((True, 1.0), (False, 0.0)):
        a, b = tk.Lasso(relaxed=one).fit(X, y), tk.Lasso(relaxed=other).fit(X, y)
        np.testing.assert_array_equal(a.coef_, b.coef_)
        assert a.relaxed_ == b.relaxed_ == other


def test_a_given_strength_is_refitted_as_on_the_path(rng):
    X, y = data_of(rng)
    chosen = tk.Lasso(relaxed=True, rule="1se").fit(X, y)
    given = tk.Lasso(chosen.lam_, relaxed=True).fit(X, y)
    np.testing.assert_allclose(given.coef_, chosen.coef_, atol=1e-10)
    assert given.df_ == chosen.df_ == len(given.support_)
    coef, b = refit(X, y, given.support_)
    np.testing.assert_allclose(given.coef_, coef, atol=1e-10)
    assert given.intercept_ == pytest.approx(b)


def test_refitting_finds_a_smaller_model_where_shrinkage_hides_it():
    """Few strong columns: the lasso needs a weak strength, and takes noise in with it."""
    data = tk.datasets.linear(80, 200, nonzero=4, seed=3)
    lasso, relaxed = tk.Lasso().fit(data.X, data.y), tk.Lasso(relaxed=True).fit(data.X, data.y)
    assert len(relaxed.support_) < len(lasso.support_)
    assert relaxed.study_.best_cost < lasso.study_.best_cost


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (tk.GeneralizedLinear(relaxed=True), "relaxed.*Squared with L2.*use|relaxed"),
        (tk.GeneralizedLinear(lam=0.1, relaxed=True), "which Squared with L2 is not"),
        (
            tk.GeneralizedLinear(tk.losses.Huber(), tk.penalties.L1(), relaxed=0.5),
            "which Huber with L1 is not",
        ),
    ],
    ids=str,
)
def test_what_has_no_support_is_refused(model, message, rng):
    with pytest.raises(tk.UnsupportedError, match=message):
        model.fit(*data_of(rng))


@pytest.mark.parametrize("share", [-0.1, 1.5, "yes"])
def test_shares_lie_between_0_and_1(share, rng):
    X, y = data_of(rng)
    with pytest.raises(ValueError):
        tk.Lasso(relaxed=share).fit(X, y)
    with pytest.raises(ValueError, match="`relaxed` must be a share between 0 and 1"):
        tk.path(SQUARED, L1, X, y, relaxed=share)


def test_several_shares_need_a_choice(rng):
    with pytest.raises(ValueError, match="chosen from by cross-validation"):
        tk.Lasso(0.1, relaxed=[0, 1]).fit(*data_of(rng))
