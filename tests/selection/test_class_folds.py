"""Folds for classes: every class in every training set, or a sentence."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.selection.class_folds import class_folds
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows


def rows_of(y, rng, weights=None, groups=None):
    data = as_data(rng.standard_normal((len(y), 2)), y, sample_weight=weights, groups=groups)
    return Rows(data.design, data.y, data.used, data.groups)


def cut(y, rng, folds=None, *, weights=None, groups=None):
    codes = tuple(np.unique(y))
    rule = class_folds(folds, codes, tuple(f"{c:g}" for c in codes), grouped=groups is not None)
    return rule.split(rows_of(y, rng, weights, groups))


def trained_and_tested(split, y):
    train = [np.unique(y[split.cells.where(part)]).tolist() for part in split.train]
    test = [np.unique(y[split.cells.where(part)]).tolist() for part in split.test]
    return train, test


def test_classes_are_dealt_evenly(rng):
    y = np.repeat([-1.0, 1.0], [63, 37])[rng.permutation(100)]
    split = cut(y, rng)
    assert len(split) == 10
    for part in split.test:
        tested = y[split.cells.where(part)]
        assert np.sum(tested == 1) in (3, 4)
        assert np.sum(tested == -1) in (6, 7)


def test_the_default_asks_for_no_more_folds_than_two_classes_have_rows(rng):
    assert len(cut(np.repeat([-1.0, 1.0], [40, 4]), rng)) == 4
    assert len(cut(np.repeat([0.0, 1.0, 2.0], [40, 30, 3]), rng)) == 10


def test_a_rare_class_is_trained_on_in_every_fold(rng):
    y = np.repeat([0.0, 1.0, 2.0], [40, 30, 3])
    train, test = trained_and_tested(cut(y, rng), y)
    assert all(classes == [0, 1, 2] for classes in train)
    assert sum(2.0 in classes for classes in test) == 3


def test_a_single_row_of_a_class_is_never_tested_and_said_so(rng):
    y = np.repeat([0.0, 1.0, 2.0], [20, 20, 1])
    with pytest.warns(tk.DataWarning, match=r"class 2 has 1 distinct row of 41"):
        split = cut(y, rng)
    train, test = trained_and_tested(split, y)
    assert all(2.0 in classes for classes in train)
    assert not any(2.0 in classes for classes in test)


def test_one_positive_in_nine_cannot_be_cross_validated(rng):
    y = np.r_[1.0, -np.ones(8)]
    with pytest.raises(tk.InputError, match=r"class 1 has 1 distinct row of 9.*`lam` as a number"):
        cut(y, rng)


def test_more_folds_than_rows_of_the_smaller_class_are_refused(rng):
    with pytest.raises(tk.InputError, match=r"10 folds.*class 1 has 4.*at most 4 folds"):
        cut(np.repeat([-1.0, 1.0], [40, 4]), rng, 10)


def test_a_training_set_without_a_class_is_refused(rng):
    y = np.repeat([0.0, 1.0, 2.0], 4)
    with pytest.raises(tk.InputError) as caught:
        cut(y, rng, tk.folds.Blocked(3))
    assert caught.value.problems[0].code == "class_missing_in_fold"
    assert "class 0" in str(caught.value)
    with pytest.raises(tk.InputError, match="class_missing_in_fold"):
        cut(y, rng, groups=y)


def test_weights_are_repetitions_and_zero_is_no_row(rng):
    X = rng.standard_normal((12, 2))
    y = np.repeat([-1.0, 1.0], 6)
    weights = np.array([1, 2, 1, 1, 0, 3, 2, 1, 1, 1, 1, 0])
    rule = class_folds(None, (-1.0, 1.0), ("a", "b"), grouped=False)
    index = np.repeat(np.arange(12), weights)

    def labels(data):
        return rule.split(Rows(data.design, data.y, data.used)).labels

    weighted = labels(as_data(X, y, sample_weight=weights.astype(float)))
    repeated = labels(as_data(X[index], y[index]))
    np.testing.assert_array_equal(weighted[index], repeated)
    assert weighted[4] == weighted[11] == -1


def test_indicators_are_read_as_classes(rng):
    y = np.repeat([0.0, 1.0, 2.0], [12, 13, 14])
    codes = class_folds(5, (0.0, 1.0, 2.0), ("a", "b", "c"), grouped=False)
    hot = np.where(y[:, None] == np.arange(3), 1.0, -1.0)
    X = rng.standard_normal((len(y), 2))
    one, other = (as_data(X, target) for target in (y, hot))
    for data in (one, other):
        split = codes.split(Rows(data.design, data.y, data.used))
        train, _ = trained_and_tested(split, y)
        assert len(split) == 5
        assert all(len(classes) == 3 for classes in train)


def test_a_rule_for_classes_is_taken_as_it_is():
    rule = class_folds(3, (-1.0, 1.0), ("a", "b"), grouped=False)
    assert as_folds(rule) is rule
    assert as_folds(rule, grouped=True) is rule
