"""Folds: what is dealt, to whom, and what must not change it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows

PARTITIONS = [tk.folds.KFold(4), tk.folds.Stratified(3, bins=4), tk.folds.Blocked(5)]


def split(folds, X, y, groups=None, weights=None):
    data = as_data(X, y, sample_weight=weights, groups=groups)
    rule = as_folds(folds, grouped=data.groups is not None)
    return rule.split(Rows(data.design, data.y, data.used, data.groups))


def held_out_fold(split, n):
    """The test fold of each row, -1 for none."""
    fold = np.full(n, -1)
    for k in range(len(split)):
        fold[split.cells.where(split.test[k])] = k
    return fold


@pytest.mark.parametrize("folds", PARTITIONS, ids=str)
def test_every_row_is_tested_once_and_trained_on_otherwise(folds, rng):
    made = split(folds, rng.standard_normal((40, 2)), rng.standard_normal(40))
    tested = np.concatenate([made.cells.where(made.test[k]) for k in range(len(made))])
    assert sorted(tested) == list(range(40))
    for k in range(len(made)):
        both = np.concatenate([made.cells.where(made.test[k]), made.cells.where(made.train[k])])
        assert sorted(both) == list(range(40))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(10, 60), k=st.integers(2, 10))
def test_dealing_is_even(seed, n, k):
    rng = np.random.default_rng(seed)
    sizes = np.bincount(held_out_fold(split(k, rng.random((n, 2)), rng.random(n)), n))
    assert len(sizes) == k
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("folds", [tk.folds.KFold(4), tk.folds.Stratified(3, bins=4)], ids=str)
@pytest.mark.parametrize("ties", [False, True])
def test_folds_follow_the_rows_when_the_table_is_sorted_differently(folds, ties, rng):
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    if ties:
        y = np.round(y)
    order = rng.permutation(40)
    before = held_out_fold(split(folds, X, y), 40)
    after = held_out_fold(split(folds, X[order], y[order]), 40)
    np.testing.assert_array_equal(after, before[order])


@pytest.mark.parametrize("ties", [False, True])
def test_folds_do_not_change_with_units_or_storage(ties, rng):
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    X[rng.random(X.shape) < 0.5] = 0.0
    if ties:
        y = np.round(y)
    before = held_out_fold(split(5, X, y), 40)
    scale = np.array([4.0, 0.125, 1024.0])
    for other in (X * scale, np.asfortranarray(X), sp.csr_array(X), sp.csc_array(X)):
        np.testing.assert_array_equal(held_out_fold(split(5, other, y * 3.0), 40), before)


def test_rows_of_weight_0_have_no_say_in_the_folds_of_the_others(rng):
    X, y = rng.standard_normal((40, 3)), np.repeat([0.0, 1.0], 20)
    X[7] = 1e3
    used = np.delete(np.arange(40), 7)
    data = as_data(X, y, sample_weight=np.where(np.arange(40) == 7, 0.0, 1.0))
    weighted = as_folds(5).split(Rows(data.design, data.y, data.used)).labels
    np.testing.assert_array_equal(weighted[used], held_out_fold(split(5, X[used], y[used]), 39))


def test_identical_rows_stay_together(rng):
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    X2, y2 = np.vstack([X, X[:10]]), np.r_[y, y[:10]]
    fold = held_out_fold(split(5, X2, y2), 40)
    np.testing.assert_array_equal(fold[:10], fold[30:])
    np.testing.assert_array_equal(fold[:30], held_out_fold(split(5, X, y), 30))


def test_rows_of_weight_zero_are_no_rows(rng):
    X, y, s = rng.standard_normal((30, 2)), rng.standard_normal(30), np.ones(30)
    s[[3, 7, 21]] = 0.0
    kept = s > 0
    fold = held_out_fold(split(5, X, y, weights=s), 30)
    assert np.all(fold[~kept] == -1)
    np.testing.assert_array_equal(fold[kept], held_out_fold(split(5, X[kept], y[kept]), 27))


def test_copies_are_dealt_one_by_one_where_they_are_the_rule(rng):
    X = rng.integers(0, 2, (400, 2)).astype(float)
    fold = held_out_fold(split(10, X, X[:, 0]), 400)
    assert np.bincount(fold).tolist() == [40] * 10


def test_stratified_folds_hold_the_same_mixture(rng):
    y = np.repeat([0.0, 1.0, 2.0], [50, 30, 20])
    fold = held_out_fold(split(tk.folds.Stratified(5), rng.random((100, 2)), y), 100)
    for label, share in ((0.0, 10), (1.0, 6), (2.0, 4)):
        assert np.bincount(fold[y == label]).tolist() == [share] * 5
    assert np.bincount(fold).tolist() == [20] * 5


def test_groups_are_never_torn_apart(rng):
    groups = np.array(list("abcdefghij"))[rng.integers(0, 10, 60)]
    fold = held_out_fold(split(4, rng.random((60, 2)), rng.random(60), groups=groups), 60)
    assert all(len(set(fold[groups == g])) == 1 for g in np.unique(groups))
    assert set(fold) == {0, 1, 2, 3}


@pytest.mark.parametrize(
    "folds", [tk.folds.KFold(4), tk.folds.Blocked(4), tk.folds.Time(3), "loo", "gcv"], ids=str
)
def test_folds_that_would_tear_groups_apart_are_refused(folds, rng):
    with pytest.raises(tk.UnsupportedError, match="tear"):
        tk.Ridge(folds=folds).fit(rng.random((20, 2)), rng.random(20), groups=np.arange(20) // 4)


def test_time_folds_train_on_the_past_only_and_leave_the_gap(rng):
    made = split(tk.folds.Time(4, gap=3), rng.random((50, 2)), rng.random(50))
    assert len(made) == 4
    for k in range(4):
        train, test = made.cells.where(made.train[k]), made.cells.where(made.test[k])
        assert train.tolist() == list(range(train.max() + 1))
        assert test.min() - train.max() == 4
        assert test.tolist() == list(range(test.min(), test.max() + 1))


def test_own_labels_pairs_and_splitters_are_taken_as_they_are(rng):
    from sklearn.model_selection import KFold

    X, y = rng.random((20, 2)), rng.random(20)
    labels = rng.permutation(20) % 4
    np.testing.assert_array_equal(held_out_fold(split(labels, X, y), 20), labels)
    always = np.where(labels == 3, -1, labels)
    made = split(always, X, y)
    assert len(made) == 3
    assert all(set(np.flatnonzero(labels == 3)) <= set(made.cells.where(t)) for t in made.train)
    pairs = [(np.arange(10), np.arange(10, 12)), (np.arange(5, 20), np.arange(3))]
    made = split(pairs, X, y)
    for k, (train, test) in enumerate(pairs):
        np.testing.assert_array_equal(made.cells.where(made.train[k]), train)
        np.testing.assert_array_equal(made.cells.where(made.test[k]), test)
    expected = [test for _, test in KFold(4).split(X)]
    made = split(KFold(4), X, y)
    for k, test in enumerate(expected):
        np.testing.assert_array_equal(made.cells.where(made.test[k]), test)


def test_a_row_trained_on_and_tested_is_refused(rng):
    with pytest.raises(ValueError, match="fold 1: row 4 is in the training and in the test rows"):
        split([([0, 1], [2]), ([3, 4], [4, 5])], rng.random((6, 1)), rng.random(6))


@pytest.mark.parametrize("folds", [1, 0, -3, "many", 2.5, [], [0.5, 1.5]])
def test_nonsense_is_refused(folds, rng):
    with pytest.raises(ValueError, match="fold"):
        split(folds, rng.random((6, 1)), rng.random(6))


def test_a_tiny_table_has_one_fold_per_row_by_default(rng):
    assert len(split(None, rng.random((4, 1)), rng.random(4))) == 4
    assert len(split(None, rng.random((40, 1)), rng.random(40))) == 10
