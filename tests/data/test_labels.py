"""Labels of every kind become codes; what is no label is named."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tikhon as tk
from tikhon.data.labels import as_classified, as_labels
from tikhon.errors import Problems

X = np.arange(12.0).reshape(6, 2)
WORDS = ["no", "yes", "no", "yes", "yes", "no"]
SIGNS = np.array([-1.0, 1.0, -1.0, 1.0, 1.0, -1.0])

TWO_CLASSES = {
    "words": WORDS,
    "array of words": np.array(WORDS),
    "objects": np.array(WORDS, dtype=object),
    "truth values": [w == "yes" for w in WORDS],
    "objects that are truth values": np.array([w == "yes" for w in WORDS], dtype=object),
    "zeros and ones": [int(w == "yes") for w in WORDS],
    "signs": SIGNS,
    "bytes of 8 bits": np.array([w == "yes" for w in WORDS], dtype=np.uint8),
    "any two numbers": np.where(SIGNS > 0, 7, -3),
    "two fractions": np.where(SIGNS > 0, 1.5, 0.5),
    "dates": np.where(SIGNS > 0, np.datetime64("2024-02-01"), np.datetime64("2024-01-01")),
    "pandas words": pd.Series(WORDS),
    "pandas categories": pd.Series(pd.Categorical(WORDS)),
    "pandas strings": pd.Series(WORDS, dtype="string"),
    "pandas booleans": pd.Series([w == "yes" for w in WORDS], dtype="boolean"),
    "pandas integers": pd.Series([int(w == "yes") for w in WORDS], dtype="Int64"),
    "polars words": pl.Series(WORDS),
    "polars categories": pl.Series(WORDS, dtype=pl.Categorical),
    "arrow words": pa.chunked_array([WORDS]),
}


@pytest.mark.parametrize("y", TWO_CLASSES.values(), ids=TWO_CLASSES.keys())
def test_two_classes_become_signs_and_the_second_is_positive(y):
    data, labels = as_classified(X, y)
    np.testing.assert_array_equal(data.y[:, 0], SIGNS)
    assert len(labels.classes) == 2
    assert labels.classes[0] < labels.classes[1]


def test_more_classes_become_codes_in_sorted_order():
    data, labels = as_classified(X, ["b", "a", "c", "b", "c", "a"])
    assert labels.classes.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(data.y[:, 0], [1, 0, 2, 1, 2, 0])


def test_labels_keep_their_type():
    assert as_classified(X, [True, False] * 3)[1].classes.dtype == np.bool_
    assert as_classified(X, [2, 1] * 3)[1].classes.dtype.kind == "i"
    assert as_classified(X, ["u", "v"] * 3)[1].classes.dtype.kind == "U"


BAD = {
    "missing": None,
    "nonfinite": [0.0, 1.0, np.nan, 1.0, 0.0, 1.0],
    "one_class": ["a"] * 6,
    "mixed_labels": [1, "a", 1, "a", 1, "a"],
    "continuous_labels": [0.1, 0.2, 0.31, 0.44, 0.57, 0.6],
    "shape": [[0, 1]] * 6,
    "complex": np.ones(6) * 1j,
    "length": [0, 1, 0],
}


@pytest.mark.parametrize("code", BAD)
def test_what_is_no_label_is_named(code):
    with pytest.raises(tk.InputError) as caught:
        as_classified(X, BAD[code])
    assert [problem.code for problem in caught.value.problems] == [code]


@pytest.mark.parametrize(
    "absent", [None, float("nan"), pd.NA, pd.NaT, float("inf")], ids=lambda v: repr(v)
)
def test_a_missing_label_is_found_among_objects(absent):
    problems = Problems()
    assert as_labels(np.array(["a", "b", absent], dtype=object), problems) is None
    assert next(iter(problems)).row == 2


def test_a_missing_date_is_no_class():
    days = np.array(["2024-01-01", "NaT", "2024-01-02"], dtype="datetime64[D]")
    problems = Problems()
    assert as_labels(days, problems) is None
    assert [problem.code for problem in problems] == ["nonfinite"]
    assert as_labels(np.array([dt.date(2024, 1, k) for k in (1, 2)]), Problems()) is not None


def test_labels_and_table_are_complained_about_together():
    with pytest.raises(tk.InputError) as caught:
        as_classified(np.full((3, 1), np.nan), ["a", "a", "a"], sample_weight=[1, -1, 1])
    codes = [problem.code for problem in caught.value.problems]
    assert codes == ["one_class", "nonfinite", "negative_weight"]


def test_a_class_whose_rows_all_have_weight_0_is_named():
    with pytest.raises(tk.InputError, match=r"class_without_weight.*saw 'c'.*2 times"):
        as_classified(X, ["a", "b", "c", "a", "b", "c"], sample_weight=[1, 1, 0, 1, 1, 0])


def test_a_column_that_is_the_label_is_a_leak():
    y = [0, 1, 1, 0, 1, 0]
    table = pd.DataFrame({"a": X[:, 0], "copy": np.array(y, dtype=float)})
    with pytest.raises(tk.InputError, match=r"target_among_features.*column copy"):
        as_classified(table, y)
