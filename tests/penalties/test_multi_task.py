"""The multi-task lasso and elastic net: rows of coefficients, in or out for all targets."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.penalties import L1, ElasticNet, Group, MultiTask

SQUARED = tk.losses.Squared()


def data_of(rng, n=60, d=12, targets=3):
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d) / 2) + 1.0
    W = np.zeros((d, targets))
    W[:3] = rng.standard_normal((3, targets))
    return X, X @ W + 0.5 * rng.standard_normal((n, targets))


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_with_one_target_it_is_the_lasso_or_the_elastic_net(ratio, rng):
    w, g = rng.standard_normal(5), rng.standard_normal(5)
    rows, single = MultiTask(ratio), ElasticNet(ratio)
    assert rows.value(w) == pytest.approx(single.value(w))
    np.testing.assert_allclose(rows.prox(w, 0.3), single.prox(w, 0.3))
    np.testing.assert_allclose(rows.subgradient_distance(w, g), single.subgradient_distance(w, g))
    assert rows.lam_max(g) == pytest.approx(single.lam_max(g))


def test_it_is_a_group_lasso_whose_groups_are_the_columns(rng):
    W, G = rng.standard_normal((4, 3)), rng.standard_normal((4, 3))
    rows, groups = MultiTask(), Group(np.arange(4))
    assert rows.value(W) == pytest.approx(groups.value(W))
    np.testing.assert_allclose(rows.prox(W, 0.5), groups.prox(W, 0.5))
    np.testing.assert_allclose(rows.entry_strengths(G), groups.entry_strengths(G))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l1_ratio": 1.5}, "`l1_ratio` must be between 0 and 1, got 1.5"),
        ({"weights": [1.0, -2.0]}, "`weights` must be >= 0 and finite, got -2.0"),
        ({"weights": [[1.0]]}, "one number per column, got shape"),
    ],
)
def test_bad_parameters_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        MultiTask(**parameters)


def test_as_many_weights_as_columns_are_asked_for(rng):
    X, Y = data_of(rng)
    with pytest.raises(ValueError, match="`weights` has 2 entries for 12 coefficients"):
        tk.GeneralizedLinear(penalty=MultiTask(weights=[1.0, 2.0])).fit(X, Y)


@pytest.mark.parametrize("shape", [(60, 12), (20, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_strength_of_the_null_model_is_exact(shape, ratio, rng):
    X, Y = data_of(rng, *shape)
    centred = X - X.mean(axis=0)
    rows = np.linalg.norm(centred.T @ Y / len(X), axis=1)
    top = tk.path(SQUARED, MultiTask(ratio), X, Y, lams=2).lams[0]
    assert top == pytest.approx(rows.max() / ratio, rel=1e-12)
    below = tk.path(SQUARED, MultiTask(ratio), X, Y, lams=[top * (1 + 1e-9), top * (1 - 1e-6)])
    assert not below.coefs[0].any()
    support = np.flatnonzero(below.coefs[1].any(axis=1))
    np.testing.assert_array_equal(support, [np.argmax(rows)])


@pytest.mark.parametrize("shape", [(60, 12), (20, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize(
    "penalty", [MultiTask(), MultiTask(0.4), MultiTask(0.0)], ids=lambda p: str(p.l1_ratio)
)
def test_every_point_of_a_path_is_certified_and_agrees_with_proximal_gradient(penalty, shape, rng):
    X, Y = data_of(rng, *shape)
    s = rng.integers(0, 3, len(X)).astype(float)
    lams = [0.5, 0.05]
    path = tk.path(SQUARED, penalty, X, Y, lams=lams, sample_weight=s)
    assert max(c.gap for c in path.certificates) <= 1e-8
    for lam, certificate in zip(lams, path.certificates, strict=True):
        slow = tk.solve(
            tk.Problem(SQUARED, penalty, lam), X, Y,
            sample_weight=s, solver="proximal_gradient", tol=1e-7,
        )  # fmt: skip
        assert certificate.objective <= slow.objective * (1 + 1e-9)
        assert slow.objective <= certificate.objective + 1e-7 * certificate.null_objective


def test_columns_enter_for_all_targets_together(rng):
    X, Y = data_of(rng, 20, 40)
    model = tk.GeneralizedLinear(penalty=MultiTask(), lam=tk.Grid(10), folds=3).fit(X, Y)
    chosen = model.coef_ != 0
    assert model.coef_.shape == (3, 40)
    assert np.all(chosen == chosen[0])
    np.testing.assert_array_equal(model.support_, np.flatnonzero(chosen[0]))
    assert 0 < len(model.support_) < 40
    assert model.study_.scores.shape == (10, 3)


def test_free_columns_are_not_shrunk(rng):
    X, Y = data_of(rng)
    weights = np.ones(12)
    weights[:2] = 0.0
    top = tk.path(SQUARED, MultiTask(weights=weights), X, Y, lams=2).lams[0]
    found = tk.solve(tk.Problem(SQUARED, MultiTask(weights=weights), 1.01 * top), X, Y).coef
    A = np.column_stack([np.ones(len(X)), X[:, :2]])
    free = np.linalg.lstsq(A, Y, rcond=None)[0]
    np.testing.assert_allclose(found[:2], free[1:], atol=1e-7)
    assert not found[2:].any()


def test_degrees_of_freedom_are_the_derivative_of_the_predictions(rng):
    X, Y = data_of(rng, 40, 6)
    problem = tk.Problem(SQUARED, MultiTask(0.7), 0.2)

    def predictions(targets):
        solution = tk.solve(problem, X, targets, tol=1e-14)
        return X @ solution.coef + solution.intercept

    path = tk.path(SQUARED, MultiTask(0.7), X, Y, lams=[0.2], tol=1e-13)
    step, total = 1e-5, 0.0
    for i in range(len(X)):
        for t in range(3):
            up, down = Y.copy(), Y.copy()
            up[i, t] += step
            down[i, t] -= step
            total += (predictions(up)[i, t] - predictions(down)[i, t]) / (2 * step)
    assert 3 * (path.df[0] + 1) == pytest.approx(total, rel=1e-4)


@pytest.mark.peer
@pytest.mark.parametrize("shape", [(60, 12), (20, 40)], ids=["tall", "wide"])
@pytest.mark.parametrize("ratio", [1.0, 0.3])
def test_scikit_learn_agrees(shape, ratio, rng):
    from sklearn.linear_model import MultiTaskElasticNet

    X, Y = data_of(rng, *shape)
    for lam in (0.5, 0.1):
        ours = tk.solve(tk.Problem(SQUARED, MultiTask(ratio), lam), X, Y)
        theirs = MultiTaskElasticNet(alpha=lam, l1_ratio=ratio, tol=1e-14, max_iter=100_000)
        theirs.fit(X, Y)
        np.testing.assert_allclose(ours.coef, theirs.coef_.T, atol=1e-7)
        np.testing.assert_array_equal(ours.coef != 0, theirs.coef_.T != 0)


def test_the_lasso_with_several_targets_chooses_columns_target_by_target(rng):
    X, Y = data_of(rng, 20, 40)
    together = tk.Lasso(lam=0.2).fit(X, Y)
    for t in range(3):
        alone = tk.Lasso(lam=0.2).fit(X, Y[:, t])
        np.testing.assert_allclose(together.coef_[t], alone.coef_, atol=1e-6)
    assert tk.path(SQUARED, L1(), X, Y, lams=3).coefs.shape == (3, 40, 3)
