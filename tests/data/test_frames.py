"""DataFrames of every make give the same fit, with names."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tikhon as tk

COLUMNS = {"size": [1.0, 2.0, 4.0, 3.5], "count": [1, 5, 2, 2], "open": [True, False, True, True]}
Y = [1.0, 3.0, 2.0, 2.5]
MAKERS = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda c: pd.DataFrame(c).convert_dtypes(),
    "polars": pl.DataFrame,
    "arrow": pa.table,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_every_frame_gives_the_fit_of_its_numbers(make):
    X = np.column_stack([np.asarray(v, dtype=float) for v in COLUMNS.values()])
    plain = tk.Ridge(lam=0.1).fit(X, Y)
    framed = tk.Ridge(lam=0.1).fit(make(COLUMNS), Y)
    np.testing.assert_allclose(framed.coef_, plain.coef_, rtol=1e-14)
    np.testing.assert_allclose(framed.predict(make(COLUMNS)), plain.predict(X), rtol=1e-14)
    assert framed.path_.feature_names == ("size", "count", "open")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_feature_names_are_kept_as_scikit_learn_keeps_them(make):
    model = tk.LinearRegression().fit(make(COLUMNS).__class__(COLUMNS), Y)
    assert model.feature_names_in_.tolist() == list(COLUMNS)


def test_float32_frames_stay_float32(rng):
    table = pd.DataFrame(rng.standard_normal((20, 2)).astype(np.float32), columns=["a", "b"])
    assert tk.Ridge(lam=0.1).fit(table, rng.standard_normal(20)).predict(table).dtype == np.float64


def test_targets_may_be_series_too():
    X = pd.DataFrame(COLUMNS)
    expected = tk.Ridge(lam=0.1).fit(X, Y).coef_
    for y in (pd.Series(Y), pl.Series(Y), pa.array(Y)):
        np.testing.assert_array_equal(tk.Ridge(lam=0.1).fit(X, y).coef_, expected)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_paths_and_studies_become_frames(rng, backend):
    X, y = rng.standard_normal((30, 2)), rng.standard_normal(30)
    model = tk.Ridge().fit(X, y)
    path, study = model.path_.to_frame(backend), model.study_.to_frame(backend)
    assert path.shape == (100, 5)
    assert study.shape == (100, 14)
