"""Logistic regression: the optimum of scikit-learn, probabilities, odds, thresholds, weights."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score

import tikhon as tk

GRID = tk.Grid(size=6, ratio=1e-3)


def classes_of(rng, n=90, d=4, classes=2):
    X = rng.standard_normal((n, d))
    centres = 1.2 * np.eye(classes, d)
    y = (X @ centres.T + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return X, y


def theirs(X, y, C, l1_ratio=0.0, **options):
    solver = "lbfgs" if l1_ratio == 0 else "saga"
    made = LogisticRegression(
        C=C, l1_ratio=l1_ratio, solver=solver, tol=1e-10, max_iter=100_000, **options
    )
    return made.fit(X, y)


PENALTIES = {"l2": 0.0, "l1": 1.0, "elastic_net": 0.5}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_it_is_scikit_learns_at_the_translated_strength(classes, penalty, rng):
    X, y = classes_of(rng, classes=classes)
    other = theirs(X, y, C=1.5, l1_ratio=PENALTIES[penalty])
    model = tk.LogisticRegression(
        1 / (1.5 * len(y)), penalty=penalty, standardize=False, tol=1e-12
    ).fit(X, y)
    assert model.certificate_.gap < 1e-11
    np.testing.assert_allclose(model.predict_proba(X), other.predict_proba(X), atol=2e-6)
    if not (penalty == "l1" and classes == 3):  # there a row of coefficients is free to move
        np.testing.assert_allclose(model.coef_, other.coef_, atol=2e-5)


@pytest.mark.parametrize("classes", [2, 3])
def test_class_weights_fit_as_scikit_learns(classes, rng):
    X, y = classes_of(rng, classes=classes)
    s = rng.random(len(y)) + 0.2
    total = np.bincount(y, weights=s)
    explicit = s * (total.sum() / (classes * total))[y]
    other = theirs(X, y, C=1.5).fit(X, y, sample_weight=explicit)
    options = {"standardize": False, "tol": 1e-12}
    lam = 1 / (1.5 * explicit.sum())
    balanced = tk.LogisticRegression(lam, class_weight="balanced", **options)
    balanced.fit(X, y, sample_weight=s)
    np.testing.assert_allclose(balanced.coef_, other.coef_, atol=2e-5)
    np.testing.assert_array_equal(balanced.predict(X), other.predict(X))
    weighted = tk.LogisticRegression(lam, **options).fit(X, y, sample_weight=explicit)
    np.testing.assert_allclose(balanced.coef_, weighted.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(
        balanced.predict_proba(X, weighted=True), other.predict_proba(X), atol=2e-6
    )


@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_do_not_follow_class_weights(classes, rng):
    """Weights shift the intercept of a model that is right, and the correction takes it back."""
    X, y = classes_of(rng, n=4000, d=3, classes=classes)
    plain = tk.LogisticRegression(1e-6).fit(X, y)
    weighted = tk.LogisticRegression(1e-6, class_weight={0: 6.0}).fit(X, y)
    shifted = weighted.predict_proba(X, weighted=True)
    assert np.abs(shifted - plain.predict_proba(X)).max() > 0.2
    assert np.abs(weighted.predict_proba(X) - plain.predict_proba(X)).max() < 0.06
    assert np.mean(weighted.predict(X) == 0) > np.mean(plain.predict(X) == 0) + 0.1
    np.testing.assert_allclose(
        weighted.predict_proba(X).mean(axis=0), np.bincount(y) / len(y), atol=0.02
    )


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_sum_to_one_and_decide(multi_class, classes, rng):
    X, y = classes_of(rng, classes=classes)
    model = tk.LogisticRegression(0.01, multi_class=multi_class).fit(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[p.argmax(axis=1)])
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), p)
    odds = model.log_odds(X)
    expected = np.log(p / (1 - p))
    np.testing.assert_allclose(odds, expected[:, 1] if classes == 2 else expected, atol=1e-9)


@pytest.mark.parametrize("multi_class", ["softmax", "ovr"])
@pytest.mark.parametrize("classes", [2, 3])
def test_probabilities_of_far_away_rows_are_finite_numbers(multi_class, classes, rng):
    X, y = classes_of(rng, classes=classes)
    model = tk.LogisticRegression(0.01, multi_class=multi_class).fit(X, y)
    far = (
        np.sign(rng.standard_normal((6, X.shape[1])))
        * np.array([[1e2, 1e3, 1e10, 1e100, 1e250, 1e305]]).T
    )
    for values in (model.predict_proba(far), model.decision_function(far), model.log_odds(far)):
        assert np.isfinite(values).all()
    log_p = model.predict_log_proba(far)
    assert not np.isnan(log_p).any()
    np.testing.assert_allclose(model.predict_proba(far).sum(axis=1), 1.0)


def test_one_against_the_rest_is_a_model_for_each_class(rng):
    X, y = classes_of(rng, classes=3)
    model = tk.LogisticRegression(GRID, multi_class="ovr", folds=3).fit(X, y)
    for k, part in enumerate(model.models_):
        alone = tk.LogisticRegression(GRID, folds=3).fit(X, y == k)
        assert model.lam_[k] == alone.lam_ == part.lam_
        np.testing.assert_allclose(model.coef_[k], alone.coef_[0])
    single = np.column_stack([part.predict_proba(X)[:, 1] for part in model.models_])
    expected = single / single.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-10)
    with pytest.raises(tk.UnsupportedError, match="models_"):
        model.held_out()


def test_odds_ratios_say_what_one_unit_does(rng):
    X, y = classes_of(rng)
    model = tk.LogisticRegression(0.01).fit(X, y)
    moved = X.copy()
    moved[:, 1] += 1.0
    factor = np.exp(model.log_odds(moved) - model.log_odds(X))
    np.testing.assert_allclose(factor, model.odds_ratios()[1])
    np.testing.assert_allclose(model.odds_ratios(reference=1), 1 / model.odds_ratios())
    X, y = classes_of(rng, classes=3)
    three = tk.LogisticRegression(0.01).fit(X, np.array(["a", "b", "c"])[y])
    ratios = three.odds_ratios(reference="b")
    assert ratios.shape == (3, 4)
    np.testing.assert_allclose(ratios[1], 1.0)
    p, q = three.predict_proba(X), three.predict_proba(X + np.eye(4)[0])
    np.testing.assert_allclose((q[:, 2] / q[:, 1]) / (p[:, 2] / p[:, 1]), ratios[2, 0])
    with pytest.raises(ValueError, match="'d' is none of the classes"):
        three.odds_ratios(reference="d")


def test_separable_classes_are_named_without_a_strength_and_sensible_with_one(rng):
    X = np.r_[rng.standard_normal((20, 2)) - 4, rng.standard_normal((20, 2)) + 4]
    y = np.repeat(["left", "right"], 20)
    with pytest.warns(tk.FitWarning, match="separable"):
        free = tk.LogisticRegression(0.0).fit(X, y)
    assert free.status_ == "separable"
    assert np.isfinite(free.coef_).all()
    model = tk.LogisticRegression(0.01).fit(X, y)
    assert model.status_ == "converged"
    assert model.score(X, y) == 1.0
    chosen = tk.LogisticRegression(GRID, folds=4).fit(X, y)
    assert chosen.status_ == "converged"


LAYOUTS = {
    "float32": (lambda X: X.astype(np.float32), 1e-5),
    "Fortran order": (np.asfortranarray, 1e-9),
    "CSR": (sp.csr_array, 1e-7),
    "CSC": (sp.csc_array, 1e-7),
    "pandas": (pd.DataFrame, 1e-9),
}


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layouts_of_the_table_change_nothing(layout, classes, rng):
    X, y = classes_of(rng, classes=classes)
    X[rng.random(X.shape) < 0.3] = 0.0
    make, tolerance = LAYOUTS[layout]
    options = {"penalty": "elastic_net", "tol": 1e-12}
    plain = tk.LogisticRegression(0.02, **options).fit(X, y)
    other = tk.LogisticRegression(0.02, **options).fit(make(X), y)
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=10 * tolerance)
    assert other.predict_proba(make(X)).dtype == np.float64


@pytest.mark.parametrize("classes", [2, 3])
def test_weights_are_repetitions(classes, rng):
    X, y = classes_of(rng, classes=classes)
    s = rng.integers(0, 4, len(y))
    index = np.repeat(np.arange(len(y)), s)
    model = tk.LogisticRegression(GRID, folds=4, tol=1e-12)
    weighted = model.fit(X, y, sample_weight=s)
    scores, coef, held = weighted.study_.mean, weighted.coef_, weighted.study_.held_out()
    repeated = tk.LogisticRegression(GRID, folds=4, tol=1e-12).fit(X[index], y[index])
    np.testing.assert_allclose(repeated.study_.mean, scores, rtol=1e-6)
    np.testing.assert_allclose(repeated.coef_, coef, atol=1e-6)
    assert held.s.sum() == len(index) == len(repeated.study_.held_out())


def test_names_of_classes_change_nothing(rng):
    X, y = classes_of(rng, classes=3)
    plain = tk.LogisticRegression(GRID, folds=3).fit(X, y)
    words = np.array(["low", "mid", "top"])
    for labels in (words[y], pd.Series(pd.Categorical(words[y])), pd.Series(words[y])):
        named = tk.LogisticRegression(GRID, folds=3).fit(X, labels)
        assert list(named.classes_) == list(words)
        np.testing.assert_array_equal(named.coef_, plain.coef_)
        assert list(named.predict(X)) == list(words[plain.predict(X)])


def test_held_out_predictions_are_those_of_the_other_folds(rng):
    X, y = classes_of(rng)
    model = tk.LogisticRegression(GRID, folds=4).fit(X, y)
    held = model.study_.held_out()
    assert sorted(held.rows) == list(range(len(y)))
    np.testing.assert_array_equal(model.study_.fold[held.rows], held.fold)
    for k in range(4):
        rest = model.study_.fold != k
        alone = tk.LogisticRegression(model.lam_).fit(X[rest], y[rest])
        rows = held.rows[held.fold == k]
        np.testing.assert_allclose(
            held.z[held.fold == k], alone.decision_function(X[rows]), atol=1e-4
        )
    scores = [2 * np.mean(held.loss.value(held.y, held.z)[held.fold == k]) for k in range(4)]
    np.testing.assert_allclose(scores, model.study_.scores[model.study_.index()], rtol=1e-4)


def test_held_out_predictions_survive_pickling_and_the_rows_do_not(rng):
    X, y = rng.standard_normal((3000, 8)), rng.integers(0, 2, 3000)
    model = tk.LogisticRegression(tk.Grid(size=3, ratio=1e-2), folds=2).fit(X, y)
    before = model.held_out()
    stored = pickle.dumps(model)
    again = pickle.loads(stored)
    np.testing.assert_array_equal(again.held_out().z, before.z)
    assert len(stored) < X.nbytes
    with pytest.raises(tk.UnsupportedError, match="before the study was stored"):
        again.study_.held_out(again.study_.lams[-1])


def test_held_out_figures_are_scikit_learns(rng):
    X, y = classes_of(rng)
    s = rng.random(len(y)) + 0.5
    model = tk.LogisticRegression(GRID, folds=4).fit(X, y, sample_weight=s)
    held, rows = model.held_out(), model.study_.held_out().rows
    assert held.auc == pytest.approx(roc_auc_score(y[rows], held.z, sample_weight=s[rows]))
    assert model.calibration().brier == pytest.approx(
        brier_score_loss(y[rows], held.p, sample_weight=s[rows])
    )
    np.testing.assert_allclose(held.s, s[rows])


def test_held_out_probabilities_of_one_class_of_several(rng):
    X, y = classes_of(rng, n=150, classes=3)
    model = tk.LogisticRegression(GRID, folds=3, class_weight="balanced").fit(X, y)
    with pytest.raises(tk.UnsupportedError, match="two classes"):
        model.held_out()
    parts = [model.held_out(label) for label in model.classes_]
    np.testing.assert_allclose(sum(part.p for part in parts), 1.0)
    np.testing.assert_array_equal(sum(part.positive for part in parts), 1)
    np.testing.assert_allclose(parts[0].s, 1.0)
    assert model.calibration(label=2).ece < 0.3


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_chosen_threshold_is_used(class_weight, rng):
    X, y = classes_of(rng, n=200)
    model = tk.LogisticRegression(GRID, folds=4, class_weight=class_weight).fit(X, y)
    before = model.predict(X)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(before, p > model.threshold_)
    chosen = model.choose_threshold(tk.thresholds.Recall(0.95))
    assert model.threshold_ == pytest.approx(chosen.value)
    assert chosen.recall >= 0.95
    np.testing.assert_array_equal(model.predict(X), p > model.threshold_)
    held = model.held_out()
    assert np.mean(held.p[held.positive] > model.threshold_) == pytest.approx(chosen.recall)
    model.threshold_ = 0.5
    np.testing.assert_array_equal(model.predict(X), p > 0.5)
    model.threshold_ = 0.0
    assert np.all(model.predict(X) == 1)
    with pytest.raises(ValueError, match="must be a probability"):
        model.threshold_ = 1.5


def test_what_needs_a_study_says_so(rng):
    X, y = classes_of(rng)
    model = tk.LogisticRegression(0.1).fit(X, y)
    with pytest.raises(tk.UnsupportedError, match="nothing was held out"):
        model.choose_threshold(tk.thresholds.F1())
    three = tk.LogisticRegression(0.1).fit(*classes_of(rng, classes=3))
    with pytest.raises(tk.UnsupportedError, match="largest probability decides"):
        three.choose_threshold(tk.thresholds.F1())


def test_scores_rules_and_nested_folds_work_together(rng):
    X, y = classes_of(rng, n=120)
    for scoring in ("accuracy", "auc", "brier", "log_loss", "balanced_accuracy", "f1"):
        model = tk.LogisticRegression(GRID, folds=3, scoring=scoring, rule="1se").fit(X, y)
        assert model.study_.score == scoring
        assert model.lam_ == model.lam_1se_
    nested = tk.LogisticRegression(GRID, folds=3, nested=True).fit(X, y)
    assert np.isfinite(nested.study_.nested_score)
    sparse = tk.LogisticRegression(GRID, folds=3, penalty="l1", rule="bic").fit(X, y)
    assert sparse.study_.criteria()
    own = tk.LogisticRegression(GRID, folds=3, scoring=lambda y, p: np.mean((p - (y > 0)) ** 2))
    brier = tk.LogisticRegression(GRID, folds=3, scoring="brier").fit(X, y)
    np.testing.assert_allclose(own.fit(X, y).study_.mean, brier.study_.mean)


def test_folds_of_ones_own_and_groups_reach_the_study(rng):
    X, y = classes_of(rng)
    groups = np.arange(len(y)) // 3
    fold = tk.LogisticRegression(GRID, folds=3).fit(X, y, groups=groups).study_.fold
    assert all(len(set(fold[groups == g])) == 1 for g in np.unique(groups))
    own = np.arange(len(y)) % 3
    np.testing.assert_array_equal(tk.LogisticRegression(GRID, folds=own).fit(X, y).study_.fold, own)
    with pytest.raises(ValueError, match="folds"):
        tk.LogisticRegression(folds="loo").fit(X, y)


def test_wrong_options_are_named(rng):
    X, y = classes_of(rng)
    for options, message in (
        ({"penalty": "l3"}, "must be 'l2', 'l1', 'elastic_net'"),
        ({"multi_class": "ovo"}, "must be 'softmax' or 'ovr'"),
        ({"lam": "best"}, "'cv', a number or a tk.Grid"),
        ({"scoring": "r2"}, "for the logistic loss must be one of"),
    ):
        with pytest.raises(ValueError, match=message):
            tk.LogisticRegression(**options).fit(X, y)
    with pytest.raises(TypeError, match=r"`lam` = 1 / \(C n\)"):
        tk.LogisticRegression(C=1.0)


def test_a_rare_class_of_three_is_kept_in_training(rng):
    X, y = classes_of(rng, n=80)
    y[:3] = 2
    model = tk.LogisticRegression(GRID).fit(X, y)
    assert model.study_.scores.shape == (6, 10)
    y[1:3] = 0
    with pytest.warns(tk.DataWarning, match="class 2 has 1 distinct row"):
        model = tk.LogisticRegression(GRID).fit(X, y)
    assert model.coef_.shape == (3, 4)


def test_every_plot_is_drawn(rng):
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = classes_of(rng)
    model = tk.LogisticRegression(GRID, folds=3).fit(X, y)
    for kind in ("roc", "precision_recall", "reliability", "threshold"):
        ax = model.held_out().plot(kind)
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        assert len(ax.lines) >= 2
    assert model.calibration(5).plot().get_ylabel() == "frequency on held-out rows"
    with pytest.raises(ValueError, match="`kind` must be one of 'roc'"):
        model.held_out().plot("pie")
    plt.close("all")
