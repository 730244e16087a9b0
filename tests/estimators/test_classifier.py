"""What all classifiers share, through least squares as a classifier."""

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.linear_model import RidgeClassifier

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.data.labels import as_classified
from tikhon.estimators.class_weight import class_factors
from tikhon.estimators.decompose import class_pairs, one_vs_one, one_vs_rest, votes


def blobs(rng, n=60, classes=3, d=4):
    y = rng.integers(0, classes, n)
    return rng.standard_normal((n, d)) + 2 * np.eye(classes, d)[y], y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 3.0}])
def test_ridge_of_classes_is_scikit_learns_at_the_translated_strength(classes, class_weight, rng):
    X, y = blobs(rng, classes=classes)
    theirs = RidgeClassifier(alpha=2.0, class_weight=class_weight).fit(X, y)
    weights = class_factors(class_weight, as_classified(X, y)[1], None)[y]
    ours = tk.RidgeClassifier(2.0 / weights.sum(), class_weight=class_weight, standardize=False)
    ours.fit(X, y)
    np.testing.assert_allclose(ours.coef_, np.atleast_2d(theirs.coef_), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("lam", ["cv", 0.1])
def test_names_of_classes_change_nothing(lam, rng):
    X, y = blobs(rng)
    plain = tk.RidgeClassifier(lam).fit(X, y)
    named = tk.RidgeClassifier(lam).fit(X, np.array(["ant", "bee", "cat"])[y])
    np.testing.assert_array_equal(plain.coef_, named.coef_)
    assert named.classes_.tolist() == ["ant", "bee", "cat"]
    assert set(named.predict(X)) <= {"ant", "bee", "cat"}


def test_the_positive_class_is_the_second(rng):
    X = rng.standard_normal((40, 1))
    model = tk.RidgeClassifier(0.01).fit(X, X[:, 0] > 0)
    assert model.coef_.shape == (1, 1)
    assert model.intercept_.shape == (1,)
    assert model.coef_[0, 0] > 0
    z = model.decision_function(X)
    assert z.shape == (40,)
    np.testing.assert_array_equal(model.predict(X), z > 0)


def test_balanced_weights_are_explicit_weights(rng):
    X, y = blobs(rng)
    s = rng.random(len(y)) + 0.1
    total = np.bincount(y, weights=s)
    explicit = s * (total.sum() / (3 * total))[y]
    balanced = tk.RidgeClassifier(class_weight="balanced").fit(X, y, sample_weight=s)
    weighted = tk.RidgeClassifier().fit(X, y, sample_weight=explicit)
    assert balanced.lam_ == pytest.approx(weighted.lam_)
    np.testing.assert_allclose(balanced.coef_, weighted.coef_, rtol=1e-9, atol=1e-12)
    assert balanced.class_weight_ == pytest.approx(total.sum() / (3 * total))


def test_weights_are_repetitions(rng):
    X, y = blobs(rng)
    s = rng.integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), s)
    for options in ({}, {"class_weight": "balanced"}):
        weighted = tk.RidgeClassifier(**options).fit(X, y, sample_weight=s)
        repeated = tk.RidgeClassifier(**options).fit(X[index], y[index])
        assert weighted.lam_ == pytest.approx(repeated.lam_)
        np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-12)


def test_wrong_class_weights_are_named(rng):
    X, y = blobs(rng)
    for wrong, message in (
        ({7: 1.0}, "names 7, which is no class of `y`; the classes are 0, 1, 2"),
        ({0: -1.0}, "positive and finite, got -1 for class 0"),
        ("even", "None, 'balanced' or a dict"),
    ):
        with pytest.raises(ValueError, match=message):
            tk.RidgeClassifier(0.1, class_weight=wrong).fit(X, y)


def test_a_strength_from_elsewhere_is_translated():
    with pytest.raises(TypeError, match=r"`lam` = 1 / \(C n\).*lam=0.0005"):
        tk.RidgeClassifier(C=2.0)


def test_a_column_of_labels_is_taken_with_a_warning(rng):
    X, y = blobs(rng)
    with pytest.warns(DataConversionWarning, match=r"shape \(60, 1\)"):
        model = tk.RidgeClassifier(0.1).fit(X, y[:, None])
    assert model.predict(X).shape == (60,)


def test_cross_validation_scores_classes_and_can_be_nested(rng):
    X, y = blobs(rng, n=90)
    model = tk.RidgeClassifier(nested=3, scoring="balanced_accuracy", rule="1se").fit(X, y)
    assert model.study_.score == "balanced_accuracy"
    assert model.study_.scores.shape == (100, 10)
    assert 0.3 < model.study_.nested_score <= 1
    assert model.lam_ == model.lam_1se_
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert tk.RidgeClassifier().fit(frame, y, groups=np.arange(90) // 3).study_.fold is not None
    with pytest.raises(tk.UnsupportedError, match="closed form for the squared error"):
        tk.RidgeClassifier(folds="loo").fit(X, y)


def test_one_class_against_the_rest(rng):
    X, y = blobs(rng)
    data = as_data(X, y)
    np.testing.assert_array_equal(one_vs_rest(data, 2).y[:, 0], np.where(y == 2, 1, -1))


def test_pairs_of_classes_hold_the_rows_of_both(rng):
    X, y = blobs(rng)
    s = rng.random(len(y))
    part = one_vs_one(as_data(X, y, sample_weight=s), 0, 2)
    kept = np.isin(y, (0, 2))
    np.testing.assert_array_equal(part.y[:, 0], np.where(y[kept] == 2, 1, -1))
    np.testing.assert_array_equal(part.s, s[kept])
    assert class_pairs(3) == [(0, 1), (0, 2), (1, 2)]


def test_confidence_breaks_ties_of_votes_and_never_a_majority():
    cycle = np.array([[1.0, -1.0, 5.0]])  # 1 beats 0, 0 beats 2, 2 beats 1 clearly
    assert votes(cycle, 3).argmax() == 2
    outvoted = np.array([[0.1, 0.1, -1e9]])  # 1 beats 0 and 2
    assert votes(outvoted, 3).argmax() == 1
