"""Cross-validation of smooth losses equals a loop over folds, refitted by proximal gradient."""

import numpy as np
import pytest

import tikhon as tk
from tests.smooth_cases import LOSSES, PENALTIES, draw
from tikhon.penalties.base import Penalty

LAMS = [0.3, 0.05]


def naive(loss, penalty: Penalty, X, y, study, *, s, offset, standardize):
    """Scores of a loop over folds and strengths: (L, folds)."""
    s = np.ones(len(y)) if s is None else s
    offset = np.zeros(len(y)) if offset is None else offset
    scores = np.empty_like(study.scores)
    for k in range(scores.shape[1]):
        train, test = (study.fold != k) & (study.fold >= 0), study.fold == k
        scale = np.ones(X.shape[1])
        if standardize:
            mean = np.average(X[train], axis=0, weights=s[train])
            scale = np.sqrt(np.average((X[train] - mean) ** 2, axis=0, weights=s[train]))
        for i, lam in enumerate(LAMS):
            found = tk.solve(
                tk.Problem(loss, penalty.on_scaled(scale), lam),
                X[train] / scale,
                y[train],
                sample_weight=s[train],
                offset=offset[train],
                solver="proximal_gradient",
                tol=1e-12,
            )
            z = ((X[test] / scale) @ found.coef + found.intercept).T + offset[test]
            scores[i, k] = np.average(loss.value(y[test], z.T), weights=s[test])
    return scores


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("extras", ["plain", "weights and offset"])
@pytest.mark.parametrize("penalty", ["l2", "l1", "groups"])
@pytest.mark.parametrize("loss", LOSSES)
def test_scores_equal_the_naive_loop(rng, loss, penalty, extras, standardize):
    loss, penalty = LOSSES[loss], PENALTIES[penalty]
    X, y = draw(rng, loss, n=60)
    s = offset = None
    if extras != "plain":
        s = np.r_[rng.random(len(y) - 1) + 0.5, 0.0]
        offset = rng.standard_normal(len(y))
    folds = tk.folds.Stratified(3) if loss.classification else 3
    study = tk.cross_validate(
        loss, penalty, X, y, lams=LAMS, folds=folds, sample_weight=s, offset=offset,
        standardize=standardize, tol=1e-11, score="loss",
    )  # fmt: skip
    expected = naive(loss, penalty, X, y, study, s=s, offset=offset, standardize=standardize)
    assert study.path.status == "converged"
    np.testing.assert_allclose(study.scores, expected, rtol=2e-5, atol=1e-7)


def test_a_class_that_a_fold_lacks_is_named(rng):
    X, y = draw(rng, LOSSES["logistic"], n=20)
    y = np.r_[1.0, -np.ones(19)]
    with pytest.raises(ValueError, match=r"class_missing_in_fold.*Stratified"):
        tk.cross_validate(LOSSES["logistic"], PENALTIES["l2"], X, y, lams=LAMS, folds=4)


def test_a_score_sees_the_linear_predictor_of_every_class(rng):
    X, y = draw(rng, LOSSES["multinomial"])
    seen = []

    def accuracy(y, z):
        seen.append((y.shape, z.shape))
        return float(np.mean(np.argmax(z, axis=1) == y))

    score = tk.Score(accuracy, greater_is_better=True, on="predictor")
    folds = tk.folds.Stratified(4)
    study = tk.cross_validate(
        LOSSES["multinomial"], PENALTIES["l2"], X, y, lams=LAMS, folds=folds, score=score
    )
    assert study.path.coefs.shape == (2, 5, 3)
    assert all(len(z) == 2 and z[1] == 3 and z[0] == y[0] for y, z in seen)
    assert 0.3 < study.mean.max() <= 1.0


def test_an_offset_for_the_squared_loss_is_refused_with_what_to_do(rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(tk.UnsupportedError, match="y - offset"):
        tk.path(tk.losses.Squared(), tk.penalties.L1(), X, X[:, 0], offset=X[:, 1])


@pytest.mark.parametrize(
    ("offset", "message"),
    [([1.0, 2.0], r"`offset` has shape \(2,\)"), (np.full(20, np.nan), "`offset` contains NaN"),
     (np.ones((20, 2)), "2 columns for 1")],
)  # fmt: skip
def test_bad_offsets_are_named(rng, offset, message):
    X = rng.standard_normal((20, 3))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    with pytest.raises(tk.InputError, match=message):
        tk.path(LOSSES["logistic"], PENALTIES["l2"], X, y, offset=offset)
