"""Cross-validation in shared passes equals the naive loop over folds, by another code path."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.metrics import median_absolute_error

import tikhon as tk
from tests.reference import ridge
from tikhon.data.coerce import as_data
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows

LAMS = np.array([10.0, 0.3, 0.01])
SCHEMES = {
    "number": 5,
    "blocked": tk.folds.Blocked(4),
    "time": tk.folds.Time(3, gap=1),
    "stratified": tk.folds.Stratified(3, bins=3),
    "overlapping": [(np.arange(10), np.arange(10, 14)), (np.arange(5, 20), np.arange(3))],
}
WEIGHTS = {
    "equal": lambda rng, n: None,
    "whole": lambda rng, n: np.r_[0.0, 0.0, rng.integers(1, 3, n - 2)],
    "real": lambda rng, n: rng.random(n) + 0.1,
}
SHAPES = {"tall": (60, 7), "wide": (24, 50)}


def study_of(X, y, *, weights=None, **options):
    return tk.cross_validate(
        tk.losses.Squared(),
        tk.penalties.L2(),
        X,
        y,
        lams=LAMS,
        sample_weight=weights,
        **options,
    )


def naive(X, y, folds, score, *, weights=None, standardize=False, intercept=True):
    """Scores of a loop over folds and strengths, each refitted from scratch: (L, K)."""
    data = as_data(X, y, sample_weight=weights)
    split = as_folds(folds).split(Rows(data.design, data.y, data.used))
    s = np.ones(len(y)) if weights is None else weights
    scores = np.empty((len(LAMS), len(split)))
    for k in range(len(split)):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        for i, lam in enumerate(LAMS):
            coef, b = ridge(
                X[train],
                y[train],
                lam,
                weights=s[train],
                standardize=standardize,
                intercept=intercept,
            )
            scores[i, k] = score(y[test], X[test] @ coef + b, s[test])
    return scores


def squared(y, z, s):
    return np.mean(np.average((y - z) ** 2, axis=0, weights=s))


def absolute(y, z, s):
    return np.mean(np.average(np.abs(y - z), axis=0, weights=s))


def r2(y, z, s):
    mean = np.average(y, axis=0, weights=s)
    return np.mean(
        1
        - np.average((y - z) ** 2, axis=0, weights=s)
        / np.average((y - mean) ** 2, axis=0, weights=s)
    )


def data_of(rng, shape, targets=None):
    n, d = SHAPES[shape]
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d)) + 2.0
    noise = rng.standard_normal(n if targets is None else (n, targets))
    return X, (X[:, 0] + noise.T).T


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("solver", ["tall", "wide", "iterative"])
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_the_naive_loop(rng, shape, solver, scheme, weights, intercept, standardize):
    X, y = data_of(rng, shape)
    s = WEIGHTS[weights](rng, len(y))
    how = {"weights": s, "standardize": standardize, "intercept": intercept}
    found = study_of(X, y, folds=SCHEMES[scheme], solver=solver, **how)
    expected = naive(X, y, SCHEMES[scheme], squared, **how)
    # Krylov spaces stop at a gap of 1e-14, whose square root reaches the scores
    tolerance = 3e-6 if solver == "iterative" else 1e-9
    np.testing.assert_allclose(found.scores, expected, rtol=tolerance)


@pytest.mark.parametrize(("name", "score"), [("absolute_error", absolute), ("r2", r2)])
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("solver", ["tall", "wide"])
def test_other_scores_equal_the_naive_loop(rng, solver, targets, name, score):
    X, y = data_of(rng, "tall", targets)
    s = WEIGHTS["real"](rng, len(y))
    found = study_of(X, y, folds=4, score=name, solver=solver, weights=s)
    np.testing.assert_allclose(found.scores, naive(X, y, 4, score, weights=s), rtol=1e-9)


def test_a_callable_is_a_cost_and_a_score_says_what_is_better(rng):
    X, y = data_of(rng, "tall")
    expected = naive(X, y, 4, lambda y, z, s: median_absolute_error(y, z))
    cost = study_of(X, y, folds=4, score=median_absolute_error)
    np.testing.assert_allclose(cost.scores, expected, rtol=1e-9)
    worst = tk.Score(lambda y, z: median_absolute_error(y, z), greater_is_better=True)
    assert study_of(X, y, folds=4, score=worst).index("min") == expected.mean(axis=1).argmax()


def test_sparse_dense_and_single_precision_agree(rng):
    X, y = data_of(rng, "tall")
    X = X.astype(np.float32).astype(float)
    X[rng.random(X.shape) < 0.5] = 0.0
    expected = study_of(X, y, standardize=True)
    for other in (sp.csr_array(X), sp.csc_array(X), np.asfortranarray(X), X.astype(np.float32)):
        found = study_of(other, y, standardize=True)
        np.testing.assert_allclose(found.scores, expected.scores, rtol=1e-10)
        np.testing.assert_allclose(found.path.coefs, expected.path.coefs, rtol=1e-9, atol=1e-12)


def test_a_nearly_perfect_fit_keeps_the_digits_of_its_error(rng):
    X = rng.standard_normal((200, 3))
    y = X @ np.array([1.0, 2.0, 3.0]) + 1e-7 * rng.standard_normal(200) + 1e3
    lams = np.array([1e-12])
    found = tk.cross_validate(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=lams, folds=5)
    for k in range(5):
        train = found.fold != k
        coef, b = ridge(X[train], y[train], 1e-12)
        expected = np.mean((y[~train] - X[~train] @ coef - b) ** 2)
        assert found.scores[0, k] == pytest.approx(expected, rel=1e-4)


def test_mean_and_standard_error_are_weighted_by_fold(rng):
    X, y = data_of(rng, "tall")
    s = WEIGHTS["real"](rng, len(y))
    study = study_of(X, y, folds=5, weights=s)
    weight = np.array([s[study.fold == k].sum() for k in range(5)])
    np.testing.assert_allclose(study.fold_weight, weight)
    mean = np.average(study.scores, axis=1, weights=weight)
    variance = np.average((study.scores.T - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(study.mean, mean)
    np.testing.assert_allclose(study.se, np.sqrt(variance / 4))


def test_weights_are_repetitions_for_the_whole_study(rng):
    X, y = data_of(rng, "tall")
    s = rng.integers(0, 4, len(y))
    weighted = study_of(X, y, weights=s.astype(float), folds=5, standardize=True)
    repeated = study_of(X.repeat(s, axis=0), y.repeat(s), folds=5, standardize=True)
    np.testing.assert_allclose(weighted.scores, repeated.scores, rtol=1e-10)
    np.testing.assert_allclose(weighted.path.coefs, repeated.path.coefs, rtol=1e-10)


def test_permuting_the_rows_changes_nothing(rng):
    X, y = data_of(rng, "tall")
    order = rng.permutation(len(y))
    before, after = study_of(X, y), study_of(X[order], y[order])
    np.testing.assert_allclose(after.scores, before.scores, rtol=1e-11)


def test_many_cells_and_few_cells_give_the_same_scores(rng, monkeypatch):
    X, y = data_of(rng, "tall")
    shared = study_of(X, y, folds=SCHEMES["time"], standardize=True)
    monkeypatch.setattr("tikhon.selection.ridge_study.MANY_CELLS", 1)
    own = study_of(X, y, folds=SCHEMES["time"], standardize=True)
    np.testing.assert_allclose(own.scores, shared.scores, rtol=1e-11)


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_the_number_of_threads_changes_no_bit(rng, threads, monkeypatch):
    X, y = data_of(rng, "tall")
    monkeypatch.setenv("TIKHON_NUM_THREADS", threads)
    found = study_of(X, y, standardize=True)
    monkeypatch.setenv("TIKHON_NUM_THREADS", "1")
    again = study_of(X, y, standardize=True)
    np.testing.assert_array_equal(found.scores, again.scores)
    np.testing.assert_array_equal(found.path.coefs, again.path.coefs)


def test_the_generic_loop_agrees_with_the_fast_one(rng):
    X, y = data_of(rng, "tall")
    fast = study_of(X, y, folds=4)
    slow = tk.cross_validate(
        tk.losses.Squared(), tk.penalties.ElasticNet(0.0), X, y, lams=LAMS, folds=4, tol=1e-13
    )
    np.testing.assert_allclose(slow.scores, fast.scores, rtol=1e-5)


def test_other_losses_are_cross_validated_by_their_own_loss(rng):
    X = rng.standard_normal((80, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(80) > 0, 1.0, -1.0)
    study = tk.cross_validate(tk.losses.Logistic(), tk.penalties.L1(), X, y, lams=5, folds=3)
    assert study.score == "deviance"
    assert study.scores.shape == (5, 3)
    assert study.mean.min() < study.mean[0]
    assert all(c.gap < 1e-8 for c in study.path.certificates)
