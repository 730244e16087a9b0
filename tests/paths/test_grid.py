"""Grids of strengths."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.paths.grid import as_grid


def test_a_grid_is_geometric_from_the_top_down():
    lams = tk.Grid(size=5, ratio=1e-4).below(2.0)
    np.testing.assert_allclose(lams, [2.0, 2e-1, 2e-2, 2e-3, 2e-4])
    assert tk.Grid(size=1).below(3.0).tolist() == [3.0]


def test_given_values_are_sorted_strongest_first_without_repeats():
    assert tk.Grid(values=[0.1, 3.0, 0.1, 0.0]).below(1.0).tolist() == [3.0, 0.1, 0.0]
    assert as_grid([1.0, 2.0]).below(9.0).tolist() == [2.0, 1.0]
    assert as_grid(0.5).below(9.0).tolist() == [0.5]
    assert len(as_grid(7).below(1.0)) == 7


@pytest.mark.parametrize(
    "wrong",
    [{"size": 0}, {"size": 2.5}, {"ratio": 0.0}, {"ratio": 1.0}, {"values": []}, {"values": [-1]},
     {"values": [np.nan]}, {"values": [[1.0]]}],
)  # fmt: skip
def test_nonsense_is_refused_by_name(wrong):
    (name,) = wrong
    with pytest.raises(ValueError, match=f"`{name}`"):
        tk.Grid(**wrong)


def test_the_default_grid_spans_from_the_null_model_to_least_squares(rng):
    X, y = rng.standard_normal((60, 4)), rng.standard_normal(60)
    path = tk.Ridge().fit(X, y).path_
    assert path.df[0] < 0.1
    assert path.df[-1] > 3.999
    assert np.all(np.diff(path.lams) < 0)
