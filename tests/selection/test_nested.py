"""Nested cross-validation equals a naive double loop, and is honest."""

import numpy as np
import pytest

import tikhon as tk
from tests.reference import ridge
from tests.selection.test_cross_validation import LAMS, WEIGHTS, absolute, data_of, squared
from tikhon.data.coerce import as_data
from tikhon.report.summary import summary
from tikhon.selection.folds import as_folds
from tikhon.selection.nested import nest
from tikhon.selection.scores import as_score
from tikhon.selection.split import Rows

SQUARED, L2 = tk.losses.Squared(), tk.penalties.L2()


def cut(folds, X, y, weights=None, groups=None):
    """The (training rows, test rows) of a rule."""
    data = as_data(X, y, sample_weight=weights, groups=groups)
    rule = as_folds(folds, grouped=groups is not None)
    split = rule.split(Rows(data.design, data.y, data.used, data.groups))
    return [
        (split.cells.where(a), split.cells.where(b))
        for a, b in zip(split.train, split.test, strict=True)
    ]


def double_loop(X, y, inner, outer, score, *, weights=None, standardize=False, groups=None):
    """Strengths chosen and scores of a loop in a loop, each fit by the normal equations."""
    s = np.ones(len(y)) if weights is None else weights
    lams, scores = [], []
    for train, test in cut(outer, X, y, weights, groups):
        own = None if groups is None else groups[train]
        cost, weight = np.zeros(len(LAMS)), 0.0
        for a, b in cut(inner, X[train], y[train], s[train], own):
            fit, judged = train[a], train[b]
            for i, lam in enumerate(LAMS):
                how = {"weights": s[fit], "standardize": standardize}
                coef, offset = ridge(X[fit], y[fit], lam, **how)
                error = score(y[judged], X[judged] @ coef + offset, s[judged])
                cost[i] += s[judged].sum() * error
            weight += s[judged].sum()
        lams.append(LAMS[np.argmin(cost / weight)])
        how = {"weights": s[train], "standardize": standardize}
        coef, offset = ridge(X[train], y[train], lams[-1], **how)
        scores.append(score(y[test], X[test] @ coef + offset, s[test]))
    return np.array(lams), np.array(scores)


@pytest.mark.parametrize(
    ("folds", "nested", "outer"),
    [
        (5, True, 5),
        (4, 3, 3),
        (tk.folds.Blocked(4), True, tk.folds.Blocked(4)),
        (tk.folds.Time(3), True, tk.folds.Time(3)),
        (tk.folds.Time(2, gap=1), 4, tk.folds.Time(4, gap=1)),
        (tk.folds.Stratified(3, bins=2, seed=5), 2, tk.folds.Stratified(2, bins=2, seed=5)),
    ],
    ids=str,
)
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("shape", [(60, 7), (72, 80)], ids=["tall", "wide"])
def test_nested_scores_equal_a_double_loop(rng, shape, weights, folds, nested, outer):
    X = rng.standard_normal(shape) * np.exp(rng.standard_normal(shape[1])) + 2.0
    y = X[:, 0] + rng.standard_normal(len(X))
    s = WEIGHTS[weights](rng, len(y))
    found = tk.cross_validate(
        SQUARED, L2, X, y, lams=LAMS, folds=folds, nested=nested, sample_weight=s, standardize=True
    ).nested
    lams, scores = double_loop(X, y, folds, outer, squared, weights=s, standardize=True)
    np.testing.assert_array_equal(found.lams, lams)
    np.testing.assert_allclose(found.scores, scores, rtol=1e-9)
    np.testing.assert_allclose(found.mean, np.average(scores, weights=found.fold_weight))
    assert found.spread == (lams.min(), lams.max())
    assert (found.supports, found.support_sizes, found.frequency) == (None, None, None)


@pytest.mark.parametrize("targets", [None, 2])
def test_groups_are_whole_in_outer_and_inner_folds(rng, targets):
    X, y = data_of(rng, "tall", targets)
    groups = rng.integers(0, 12, len(y))
    study = tk.cross_validate(
        SQUARED, L2, X, y, lams=LAMS, folds=4, nested=5, groups=groups, score="absolute_error"
    )
    lams, scores = double_loop(X, y, 4, 5, absolute, groups=groups)
    np.testing.assert_array_equal(study.nested.lams, lams)
    np.testing.assert_allclose(study.nested.scores, scores, rtol=1e-9)
    assert len(study.nested) == 5
    assert study.scores.shape[1] == 4
    for group in np.unique(groups):
        assert len(set(study.nested.fold[groups == group])) == 1


def test_the_inner_procedure_sees_rows_of_the_outer_training_set_only(rng):
    """Any function of rows plugs in; what it is given never holds a row it is judged on."""
    X, y = data_of(rng, "tall")
    data = as_data(X, y, groups=np.arange(len(y)) // 3)
    seen = []

    def inner(part):
        seen.append(part)
        return tk.cross_validate(SQUARED, L2, X[:20], y[:20], lams=LAMS, folds=2)

    outer = as_folds(4, grouped=True)
    study = nest(inner(data), data, inner, outer, as_score(None), supports=True)
    for k, part in enumerate(seen[1:]):
        kept = study.nested.fold != k
        np.testing.assert_array_equal(part.y[:, 0], y[kept])
        np.testing.assert_array_equal(part.groups, data.groups[kept])
        z = X[~kept] @ study.choose().coef + study.choose().intercept
        assert study.nested.scores[k] == pytest.approx(np.mean((y[~kept] - z) ** 2))
    assert study.nested.supports.all()


def test_time_is_respected_twice(rng):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    seen = []

    def inner(part):
        seen.append(part.y[:, 0])
        return tk.cross_validate(SQUARED, L2, X, y, lams=LAMS, folds=2)

    data = as_data(X, y)
    study = nest(inner(data), data, inner, tk.folds.Time(4), as_score(None), supports=False)
    for k, past in enumerate(seen[1:]):
        np.testing.assert_array_equal(past, y[: len(past)])
        assert np.flatnonzero(study.nested.fold == k).min() == len(past)


def test_the_studys_rule_chooses_within_each_outer_fold(rng):
    X, y = data_of(rng, "tall")
    y = y + 3 * X[:, 1]
    bold = tk.Ridge(nested=4).fit(X, y).study_.nested
    careful = tk.Ridge(rule="2se", nested=4).fit(X, y).study_.nested
    assert np.all(careful.lams > bold.lams)
    by_bic = tk.Ridge(rule="bic", nested=4).fit(X, y).study_.nested
    train, _ = cut(4, X, y)[2]
    assert by_bic.lams[2] == tk.Ridge(rule="bic").fit(X[train], y[train]).lam_
    assert by_bic.df[2] == pytest.approx(tk.Ridge(rule="bic").fit(X[train], y[train]).df_)


def test_supports_are_counted_for_penalties_with_exact_zeros(rng):
    X = rng.standard_normal((90, 6))
    y = 4 * X[:, 1] - 3 * X[:, 4] + rng.standard_normal(90)
    study = tk.cross_validate(
        SQUARED, tk.penalties.L1(), X, y, lams=15, folds=3, rule="1se", nested=5, tol=1e-6
    )
    found = study.nested
    assert found.supports.shape == (5, 6)
    np.testing.assert_array_equal(found.support_sizes, found.supports.sum(axis=1))
    np.testing.assert_allclose(found.frequency, found.supports.mean(axis=0))
    assert found.frequency[[1, 4]].tolist() == [1, 1]
    assert found.frequency[[0, 2, 3, 5]].max() < 1
    np.testing.assert_array_equal(found.df, found.support_sizes)
    table = found.to_frame("pandas")
    assert list(table.columns) == ["score", "lam", "df", "columns"]
    assert study.nested_score == found.mean == pytest.approx(table["score"].mean())


def test_other_losses_are_judged_by_their_own(rng):
    X = rng.standard_normal((90, 3))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(90) > 0, 1.0, -1.0)
    loss = tk.losses.Logistic()
    study = tk.cross_validate(
        loss, tk.penalties.L1(), X, y, lams=[0.1, 0.01], folds=3, nested=True, tol=1e-10
    )
    for k in range(3):
        rest = study.nested.fold != k
        problem = tk.Problem(loss, tk.penalties.L1(), study.nested.lams[k])
        own = tk.solve(problem, X[rest], y[rest], tol=1e-10)
        expected = 2 * np.mean(loss.value(y[~rest], own.predict(X[~rest])))
        assert study.nested.scores[k] == pytest.approx(expected, rel=1e-4)
    assert study.nested.score == "deviance"


def test_the_honest_score_of_noise_is_worse_than_the_best_of_many(rng):
    """On noise the best of a hundred mean scores is luck; a fresh fold does not share it."""
    flattery = []
    for _ in range(30):
        X, y = rng.standard_normal((30, 8)), rng.standard_normal(30)
        study = tk.Ridge(folds=5, nested=True).fit(X, y).study_
        flattery.append(study.nested_score - study.mean.min())
    flattery = np.array(flattery)
    assert flattery.mean() > 3 * flattery.std() / np.sqrt(len(flattery))


def test_a_fit_is_the_same_with_and_without_nesting(rng):
    X, y = data_of(rng, "tall")
    plain, nested = tk.Ridge(folds=5).fit(X, y), tk.Ridge(folds=5, nested=True).fit(X, y)
    np.testing.assert_array_equal(plain.coef_, nested.coef_)
    np.testing.assert_array_equal(plain.study_.scores, nested.study_.scores)
    assert plain.study_.nested is None
    with pytest.raises(tk.UnsupportedError, match="no `nested_score`.*nested=True"):
        plain.study_.nested_score  # noqa: B018


def test_a_summary_and_a_representation_show_it(rng):
    X, y = data_of(rng, "tall")
    model = tk.Ridge(folds=5, nested=3).fit(X, y)
    found = model.study_.nested
    text = summary(model, "Nested", tuple("abcdefg"))
    assert f"3 outer folds chose lam = {found.spread[0]:.4g} to {found.spread[1]:.4g}" in text
    assert f"{found.mean:.6g} +- {found.se:.2g}" in text
    assert repr(found).startswith(f"Nested(3 outer folds, squared_error {found.mean:.6g} +- ")
    assert "outer folds" not in summary(tk.Ridge().fit(X, y), "Plain", tuple("abcdefg"))


def test_a_splitter_cuts_twice_and_keeps_its_number(rng):
    from sklearn.model_selection import KFold, ShuffleSplit

    X, y = data_of(rng, "tall")
    study = tk.Ridge(folds=KFold(4), nested=True).fit(X, y).study_
    np.testing.assert_array_equal(study.nested.fold, np.repeat(np.arange(4), 15))
    shuffled = ShuffleSplit(3, random_state=0)
    assert tk.Ridge(folds=shuffled, nested=True).fit(X, y).study_.nested.fold is None
    with pytest.raises(tk.UnsupportedError, match="nested=3 cannot change .* KFold"):
        tk.Ridge(folds=KFold(4), nested=3).fit(X, y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": "loo", "nested": True}, "folds='loo' has none; use folds=10"),
        ({"folds": "gcv", "nested": 5}, "folds='gcv' has none; use folds=10"),
        ({"nested": 1}, "`nested` must be True, False or a number of outer folds >= 2, got 1"),
        ({"nested": 0}, "`nested` must be True, False .* got 0"),
        ({"nested": 2.5}, "`nested` must be True, False .* got 2.5"),
        ({"nested": "yes"}, "`nested` must be True, False .* got 'yes'"),
        ({"folds": np.arange(60) % 4, "nested": True}, "of your own .* use a number"),
        ({"folds": [([0, 1, 2], [3, 4])], "nested": True}, "of your own .* use a number"),
    ],
)
def test_what_cannot_be_nested_is_refused(rng, options, message):
    X, y = data_of(rng, "tall")
    with pytest.raises(ValueError, match=message):
        tk.Ridge(**options).fit(X, y)
    with pytest.raises(ValueError, match=message):
        tk.cross_validate(SQUARED, L2, X, y, lams=LAMS, **options)


def test_a_given_strength_leaves_nothing_to_judge(rng):
    X, y = data_of(rng, "tall")
    for options in ({"lam": 1.0}, {"norm": 1.0}, {"lam": 0.0}):
        with pytest.raises(tk.UnsupportedError, match="nothing to choose; use lam='cv'"):
            tk.Ridge(nested=True, **options).fit(X, y)


def test_an_error_of_an_inner_study_says_where(rng):
    X, y = data_of(rng, "tall")
    groups = np.arange(60) // 15
    with pytest.raises(tk.InputError, match="4 folds asked for, but there are 3") as error:
        tk.Ridge(folds=4, nested=True).fit(X, y, groups=groups)
    assert "outer fold 0 of 4" in error.value.__notes__[0]
