"""Rules choose from figures; ties go to the simpler model."""

import numpy as np
import pytest

import tikhon as tk
from tests.selection.test_cross_validation import data_of, study_of
from tikhon.selection.rules import Min, StandardErrors, as_rule

COST = np.array([5.0, 3.2, 2.5, 2.0, 2.0, 2.4])
SE = np.array([1.0, 1.0, 0.6, 0.6, 0.5, 0.5])


@pytest.mark.parametrize(
    ("rule", "expected"), [("min", 3), ("1se", 2), ("2se", 1), ("0.5se", 3), ("0se", 3), ("5se", 0)]
)
def test_rules_choose_the_strongest_that_is_good_enough(rule, expected):
    assert as_rule(rule).choose(COST, SE) == expected


def test_ties_go_to_the_stronger_strength():
    assert Min().choose(np.array([2.0, 1.0, 1.0]), np.zeros(3)) == 1
    assert Min().choose(np.array([np.nan, 1.0, 1.0]), np.zeros(3)) == 1


@pytest.mark.parametrize("rule", ["max", "se", "-1se", 3, None])
def test_unknown_rules_are_refused(rule):
    with pytest.raises(ValueError, match="`rule`"):
        as_rule(rule)
    with pytest.raises(ValueError, match="`k`"):
        StandardErrors(-1.0)
    with pytest.raises(ValueError, match="nan"):
        Min().choose(np.array([np.nan]), np.zeros(1))


def test_a_rule_is_applied_to_the_stored_study_without_fitting(rng, monkeypatch):
    X, y = data_of(rng, "tall")
    study = study_of(X, y, rule="1se")
    monkeypatch.setattr(np.linalg, "eigh", None)
    best, simpler = study.choose("min"), study.choose()
    assert simpler.lam >= best.lam
    assert study.choose(StandardErrors(1.0)).lam == simpler.lam
    np.testing.assert_array_equal(simpler.coef, study.path.at(simpler.lam).coef)
    assert best.certificate.gap < 1e-12


def test_the_edge_of_a_given_grid_is_reported(rng):
    X = rng.standard_normal((50, 2))
    y = X @ np.ones(2) + 0.1 * rng.standard_normal(50)
    with pytest.warns(tk.DataWarning, match="smallest of the grid"):
        model = tk.Ridge(lam=tk.Grid(values=[10.0, 100.0])).fit(X, y)
    assert model.study_.at_edge == "smallest"


def test_one_se_is_always_shown_beside_the_choice(rng):
    X, y = data_of(rng, "tall")
    model = tk.Ridge().fit(X, y)
    assert model.lam_1se_ == model.study_.lam("1se") >= model.lam_
    assert np.isnan(tk.Ridge(folds="gcv").fit(X, y).lam_1se_)
