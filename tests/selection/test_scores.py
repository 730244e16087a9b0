"""Scores against scikit-learn's metrics, weighted and not; what they are scores of."""

import numpy as np
import pytest
from scipy.special import softmax
from sklearn import metrics

import tikhon as tk
from tikhon.selection.scores import as_class_score, as_score

LOGISTIC, SOFTMAX = tk.losses.Logistic(), tk.losses.Multinomial()


def p_of(z):
    return LOGISTIC.inverse_link(z)


TWO = {
    "accuracy": lambda y, z, s: metrics.accuracy_score(y, np.where(z > 0, 1, -1), sample_weight=s),
    "balanced_accuracy": lambda y, z, s: metrics.balanced_accuracy_score(
        y, np.where(z > 0, 1, -1), sample_weight=s
    ),
    "f1": lambda y, z, s: metrics.f1_score(y, np.where(z > 0, 1, -1), sample_weight=s),
    "precision": lambda y, z, s: metrics.precision_score(
        y, np.where(z > 0, 1, -1), sample_weight=s
    ),
    "recall": lambda y, z, s: metrics.recall_score(y, np.where(z > 0, 1, -1), sample_weight=s),
    "auc": lambda y, z, s: metrics.roc_auc_score(y, z, sample_weight=s),
    "brier": lambda y, z, s: metrics.brier_score_loss(y, p_of(z), sample_weight=s),
    "log_loss": lambda y, z, s: metrics.log_loss(y, p_of(z), sample_weight=s),
    "deviance": lambda y, z, s: 2 * metrics.log_loss(y, p_of(z), sample_weight=s),
    "d2": lambda y, z, s: metrics.d2_log_loss_score(y, p_of(z), sample_weight=s),
}
THREE = {
    "accuracy": lambda y, z, s: metrics.accuracy_score(y, z.argmax(1), sample_weight=s),
    "balanced_accuracy": lambda y, z, s: metrics.balanced_accuracy_score(
        y, z.argmax(1), sample_weight=s
    ),
    "f1": lambda y, z, s: metrics.f1_score(y, z.argmax(1), sample_weight=s, average="macro"),
    "precision": lambda y, z, s: metrics.precision_score(
        y, z.argmax(1), sample_weight=s, average="macro", zero_division=0
    ),
    "recall": lambda y, z, s: metrics.recall_score(
        y, z.argmax(1), sample_weight=s, average="macro"
    ),
    "auc": lambda y, z, s: metrics.roc_auc_score(
        y, softmax(z, axis=1), sample_weight=s, multi_class="ovr"
    ),
    "brier": lambda y, z, s: np.average(
        ((softmax(z, axis=1) - np.eye(3)[y.astype(int)]) ** 2).sum(1), weights=s
    ),
    "log_loss": lambda y, z, s: metrics.log_loss(y, softmax(z, axis=1), sample_weight=s),
    "deviance": lambda y, z, s: 2 * metrics.log_loss(y, softmax(z, axis=1), sample_weight=s),
}
COUNTS = {
    "poisson": (tk.losses.Poisson(), metrics.mean_poisson_deviance, metrics.d2_tweedie_score, 1),
    "gamma": (tk.losses.Gamma(), metrics.mean_gamma_deviance, metrics.d2_tweedie_score, 2),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", TWO)
def test_a_score_of_two_classes_is_scikit_learns(name, weighted, rng):
    y = np.where(rng.random(80) < 0.4, 1.0, -1.0)
    z = np.round(2 * rng.standard_normal(80) + y, 1)  # with ties
    s = rng.random(80) if weighted else None
    ours = as_score(name, LOGISTIC)(y[:, None], z[:, None], s)
    assert ours == pytest.approx(TWO[name](y, z, s), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", THREE)
def test_a_score_of_three_classes_is_scikit_learns(name, weighted, rng):
    y = rng.integers(0, 3, 90).astype(float)
    z = 2 * rng.standard_normal((90, 3)) + np.eye(3)[y.astype(int)]
    s = rng.random(90) if weighted else None
    ours = as_score(name, SOFTMAX)(y[:, None], z, s)
    assert ours == pytest.approx(THREE[name](y, z, s), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", COUNTS)
def test_a_deviance_is_scikit_learns(family, weighted, rng):
    loss, deviance, d2, power = COUNTS[family]
    z = rng.standard_normal(60)
    y = rng.poisson(np.exp(z)).astype(float) if power == 1 else rng.gamma(2.0, np.exp(z))
    s = rng.random(60) if weighted else None
    ours = as_score("deviance", loss)(y[:, None], z[:, None], s)
    assert ours == pytest.approx(deviance(y, np.exp(z), sample_weight=s), rel=1e-10)
    explained = as_score("d2", loss)(y[:, None], z[:, None], s)
    assert explained == pytest.approx(d2(y, np.exp(z), sample_weight=s, power=power), rel=1e-10)
    squared = as_score("squared_error", loss)(y[:, None], z[:, None], s)
    assert squared == pytest.approx(metrics.mean_squared_error(y, np.exp(z), sample_weight=s))


DEFAULTS = {
    tk.losses.Squared(): "squared_error",
    LOGISTIC: "deviance",
    SOFTMAX: "deviance",
    tk.losses.Poisson(): "deviance",
    tk.losses.Huber(): "mean huber loss",
    tk.losses.Hinge(): "mean hinge loss",
}


@pytest.mark.parametrize("loss", DEFAULTS, ids=repr)
def test_the_default_follows_the_loss(loss):
    assert as_score(None, loss).name == DEFAULTS[loss]


def test_a_score_that_a_loss_has_not_is_refused_with_those_it_has():
    for name, loss in [("brier", tk.losses.Hinge()), ("auc", tk.losses.Poisson()), ("best", None)]:
        with pytest.raises(ValueError, match=r"must be one of .*, a tk.Score or a callable"):
            as_score(name, loss)
    with pytest.raises(ValueError, match="no probabilities must be one of 'accuracy'"):
        as_class_score("brier")


def test_a_score_says_what_it_looks_at(rng):
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    z = rng.standard_normal(30)
    seen = {}
    for on in ("mean", "predictor", "class"):

        def keep(y, p, on=on):
            seen[on] = p
            return 0.0

        tk.Score(keep, on=on).of(LOGISTIC)(y[:, None], z[:, None], None)
    np.testing.assert_array_equal(seen["predictor"], z)
    np.testing.assert_array_equal(seen["class"], np.where(z > 0, 1, -1))
    np.testing.assert_allclose(seen["mean"], 1 / (1 + np.exp(-z)))
    with pytest.raises(ValueError, match="`on` must be"):
        tk.Score(len, on="labels")
    with pytest.raises(tk.UnsupportedError, match="has none"):
        tk.Score(len, on="class").of(tk.losses.Poisson())


def test_scikit_learns_metrics_can_be_given(rng):
    y = np.where(rng.random(30) < 0.5, 1.0, -1.0)
    z = rng.standard_normal(30)
    f1 = tk.Score(metrics.f1_score, "F1", greater_is_better=True, on="class")
    ours, theirs = (as_score(score, LOGISTIC)(y[:, None], z[:, None], None) for score in (f1, "f1"))
    assert ours == pytest.approx(theirs)
    brier = as_score(metrics.brier_score_loss, LOGISTIC)
    assert brier.name == "brier_score_loss"
    assert brier(y[:, None], z[:, None], None) == pytest.approx(
        as_score("brier", LOGISTIC)(y[:, None], z[:, None], None)
    )


def test_the_area_needs_two_classes():
    with pytest.raises(ValueError, match=r"'auc' compares rows of two classes"):
        as_score("auc", LOGISTIC)(np.ones((4, 1)), np.zeros((4, 1)), None)


def test_indicators_are_scored_as_classes(rng):
    codes = rng.integers(0, 3, 40)
    z = rng.standard_normal((40, 3))
    hot = np.where(codes[:, None] == np.arange(3), 1.0, -1.0)
    found = as_class_score("accuracy")(hot, z, None)
    assert found == pytest.approx(np.mean(codes == z.argmax(axis=1)))
    own = as_class_score(tk.Score(lambda y, p: np.mean(y != p), "missed", on="class"))
    assert own(hot, z, None) == pytest.approx(1 - found)
