"""Bad input is found whole, named, and raised once."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

import tikhon as tk
from tikhon.errors import InputError

X = np.arange(12.0).reshape(6, 2) % 5
Y = np.array([1.0, 2.0, 0.0, 4.0, 3.0, 1.5])


def problems(X, y, **more):
    with pytest.raises(InputError) as caught:
        tk.Ridge(lam=1.0).fit(X, y, **more)
    return caught.value.problems


def broken(place, value):
    table = X.copy()
    table[place] = value
    return table


@pytest.mark.parametrize(
    ("X", "y", "more", "code"),
    [
        (broken((2, 1), np.nan), Y, {}, "nonfinite"),
        (broken((2, 1), -np.inf), Y, {}, "nonfinite"),
        (sp.csr_array(broken((2, 1), np.nan)), Y, {}, "nonfinite"),
        (X, np.where(Y == 4, np.nan, Y), {}, "nonfinite"),
        (X.astype(object), Y, {"sample_weight": -Y}, "negative_weight"),
        (X, Y, {"sample_weight": np.zeros(6)}, "zero_weights"),
        (X, Y, {"sample_weight": np.full(6, np.nan)}, "nonfinite"),
        (X, Y, {"sample_weight": np.ones(5)}, "length"),
        (X, Y, {"sample_weight": np.ones((6, 2))}, "shape"),
        (X, Y, {"groups": np.ones(5)}, "length"),
        (X, Y[:5], {}, "length"),
        (X, None, {}, "missing"),
        (None, Y, {}, "missing"),
        (X[:, 0], Y, {}, "shape"),
        (X[:0], Y[:0], {}, "empty"),
        (X[:, :0], Y, {}, "empty"),
        (X + 1j, Y, {}, "complex"),
        (sp.csr_array(X + 1j), Y, {}, "complex"),
        (X, Y + 1j, {}, "complex"),
        ([["1", "red"], ["2", "blue"]], [1.0, 2.0], {}, "not_numeric"),
        (X, np.array(["a", "b", "c", "d", "e", "f"]), {}, "not_numeric"),
        ([[1.0, 2.0], [3.0]], [1.0, 2.0], {}, "shape"),
        (X, Y * 1e200, {}, "range"),
        (X * 1e160, Y, {}, "range"),
        (X * 1e-170, Y, {}, "range"),
        (X, sp.csr_array(Y[:, None]), {}, "sparse_target"),
        (pl.DataFrame({"a": Y}).lazy(), Y, {}, "lazy"),
        (np.ma.masked_array(X, X > 3), Y, {}, "nonfinite"),
        (X, np.zeros((6, 0)), {}, "shape"),
        (X, np.zeros((6, 1, 1)), {}, "shape"),
        (pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}), [1.0, 2.0], {}, "not_numeric"),
        (pd.DataFrame({"a": [1.0, None], "b": [1, 2]}), [1.0, 2.0], {}, "nonfinite"),
        (pd.DataFrame([[1.0, 2.0]] * 2, columns=["a", "a"]), [1.0, 2.0], {}, "duplicate_name"),
        (pd.DataFrame({"a": Y, "b": X[:, 0]}), Y, {}, "target_among_features"),
        (pl.DataFrame({"a": [1.0, None], "b": [1, 2]}), [1.0, 2.0], {}, "nonfinite"),
        (pa.table({"a": [1.0, 2.0], "b": ["x", None]}), [1.0, 2.0], {}, "not_numeric"),
    ],
)
def test_each_problem_has_its_code_and_a_remedy(X, y, more, code):
    found = problems(X, y, **more)
    assert code in {problem.code for problem in found}
    assert all(problem.remedy for problem in found)


def test_everything_wrong_is_reported_at_once():
    table = pd.DataFrame({"size": [1.0, np.nan, np.inf, 2.0], "name": list("abcd")})
    found = problems(table, [1.0, np.nan, 2.0], sample_weight=[1.0, -1.0, 0.0])
    assert [p.code for p in found] == [
        "nonfinite",
        "nonfinite",
        "not_numeric",
        "length",
        "nonfinite",
        "length",
        "negative_weight",
    ]


def test_a_cell_is_named_by_column_row_value_and_count():
    table = X.copy()
    table[[3, 5], 1] = np.nan
    (problem,) = problems(pd.DataFrame(table, columns=["left", "right"]), Y)
    assert (problem.column, problem.row, problem.count) == ("right", 3, 2)
    (problem,) = problems(table, Y)
    assert (problem.column, problem.row, problem.value, problem.count) == ("1", 3, "nan", 2)
    assert str(problem).endswith("Impute or drop missing values, and mend infinite ones.")


def test_the_table_is_also_json():
    with pytest.raises(InputError) as caught:
        tk.Ridge(lam=1.0).fit(broken((2, 1), np.nan), Y[:5])
    rows = json.loads(caught.value.to_json())
    assert [row["code"] for row in rows] == ["nonfinite", "length"]
    assert rows[0]["row"] == 2
    assert "2 problems" in str(caught.value)


def test_nothing_is_fitted_by_a_failed_fit():
    model = tk.Ridge(lam=1.0)
    with pytest.raises(InputError):
        model.fit(broken((0, 0), np.nan), Y)
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("lam", [-1.0, np.nan, np.inf, "best", [1.0, 2.0], [[1.0]]])
def test_a_strength_that_is_none_is_refused_by_name(lam):
    with pytest.raises(ValueError, match="`lam`"):
        tk.Ridge(lam=lam).fit(X, Y)


@pytest.mark.parametrize(
    ("folds", "groups"),
    [(7, None), (tk.folds.KFold(7), None), (4, [1, 1, 2, 2, 3, 3]), (tk.folds.Stratified(2), None)],
)
def test_more_folds_than_there_is_to_deal_is_refused(folds, groups):
    with pytest.raises(InputError, match="folds asked for") as caught:
        tk.Ridge(folds=folds).fit(X, Y, groups=groups)
    assert caught.value.problems[0].code == "too_many_folds"


def test_reordered_and_missing_columns_are_refused_when_predicting():
    table = pd.DataFrame(X, columns=["a", "b"])
    model = tk.Ridge(lam=1.0).fit(table, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["b", "a"]])
    with pytest.raises(ValueError, match="feature names|expecting 2 features"):
        model.predict(table[["a"]])
    with pytest.raises(InputError, match="NaN"):
        model.predict(pd.DataFrame(broken((0, 0), np.nan), columns=["a", "b"]))


@pytest.mark.parametrize("name", ["alpha", "C", "alphas"])
def test_a_strength_by_a_foreign_name_is_answered_with_its_translation(name):
    with pytest.raises(TypeError, match=f"takes no `{name}`.*`lam`"):
        tk.Ridge(**{name: 2.0})
    with pytest.raises(TypeError, match="unexpected"):
        tk.Ridge(gamma=2.0)
