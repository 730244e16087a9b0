"""Oddities of a table: named, with a number, and only where they are there."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import tikhon as tk

N = 60


@pytest.fixture
def table(rng):
    X = rng.standard_normal((N, 4))
    return X, X @ [1.0, 2.0, 0.0, -1.0] + rng.standard_normal(N)


def codes(model):
    return {finding.code for finding in model.findings_}


def fitted(X, y, code, **options):
    """Fit a table that has one oddity, and return what was found."""
    with pytest.warns(tk.DataWarning, match=rf"\[{code}\]"):
        model = tk.Ridge(lam=options.pop("lam", 1.0), **options).fit(X, y)
    return next(finding for finding in model.findings_ if finding.code == code)


def test_an_ordinary_table_has_no_findings(table, recwarn):
    X, y = table
    assert tk.Ridge().fit(X, y).findings_ == ()
    assert tk.Ridge(standardize=False).fit(sparse.csr_array(X), y).findings_ == ()
    assert not recwarn.list


def test_constant_columns_are_named(table):
    X, y = table
    frame = pd.DataFrame(np.c_[X, np.full(N, 3.0)], columns=["a", "b", "c", "d", "three"])
    assert fitted(frame, y, "constant").columns == ("three",)


@pytest.mark.parametrize("factor", [1.0, -2.5])
@pytest.mark.parametrize("noise", [0.0, 1e-6])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csc_array])
def test_columns_that_repeat_another_are_named(table, factor, noise, kind, rng):
    X, y = table
    twin = factor * X[:, 1] + noise * rng.standard_normal(N)
    found = fitted(kind(np.c_[X, twin]), y, "duplicate")
    assert found.columns == ("1", "4")
    assert found.value > 1 - 1e-9


def test_columns_that_are_merely_alike_are_not_duplicates(table, rng):
    X, y = table
    alike = X[:, 1] + 1e-3 * rng.standard_normal(N)
    assert "duplicate" not in codes(tk.Ridge(lam=1.0).fit(np.c_[X, alike], y))


def test_a_column_that_alone_predicts_the_target_is_named(table, rng):
    X, y = table
    found = fitted(np.c_[X, 5 - 3 * y + 0.01 * rng.standard_normal(N)], y, "leak")
    assert found.columns == ("4",)
    assert found.value > 0.999


def test_a_column_that_counts_the_rows_is_named(table, rng):
    X, y = table
    assert fitted(np.c_[X, rng.permutation(N) + 17.0], y, "id").columns == ("4",)


def test_spreads_matter_only_to_a_penalty_in_the_columns_own_units(table):
    X, y = table
    X = X * [1.0, 1.0, 1e6, 1.0]
    found = fitted(X, y, "scale", standardize=False)
    assert found.value > 1e5
    assert "2" in found.columns
    assert codes(tk.Ridge(lam=1.0).fit(X, y)) == set()


def test_contiguous_folds_of_a_sorted_target_are_named(table):
    X, y = table
    order = np.argsort(y)
    fitted(X[order], y[order], "sorted_target", lam="cv", folds=tk.folds.Blocked(5))
    assert tk.Ridge(folds=5).fit(X[order], y[order]).findings_ == ()
    assert tk.Ridge(folds=tk.folds.Blocked(5)).fit(X, y).findings_ == ()


def test_copies_in_another_fold_are_counted(table):
    X, y = table
    X, y = np.vstack([X, X[:7]]), np.r_[y, y[:7]]
    found = fitted(X, y, "copies", lam="cv", folds=tk.folds.Blocked(5))
    assert found.value == 7
    assert tk.Ridge(folds=5).fit(X, y).findings_ == ()


def test_rows_of_weight_zero_do_not_hide_an_oddity(table, rng):
    X, y = table
    X = np.vstack([np.c_[X, X[:, 0]], rng.standard_normal((5, 5))])
    y = np.r_[y, np.zeros(5)]
    weight = np.r_[np.ones(N), np.zeros(5)]
    with pytest.warns(tk.DataWarning, match="duplicate"):
        model = tk.Ridge(lam=1.0).fit(X, y, sample_weight=weight)
    assert codes(model) == {"duplicate"}


def test_columns_that_differ_at_prediction_are_listed(table):
    X, y = table
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = tk.Ridge(lam=1.0).fit(frame, y)
    with pytest.raises(tk.InputError) as caught:
        model.predict(frame.rename(columns={"c": "z"}))
    listed = {(problem.code, problem.column) for problem in caught.value.problems}
    assert {("missing_column", "c"), ("unexpected_column", "z")} <= listed


@pytest.mark.parametrize("model", [tk.Ridge(fit_intercept="no"), tk.Ridge(lam=True)])
def test_options_of_another_type_are_refused(model, table):
    with pytest.raises(ValueError, match="fit_intercept|lam"):
        model.fit(*table)
