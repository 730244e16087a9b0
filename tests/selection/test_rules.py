"""Rules choose from figures; ties go to the simpler model."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import tikhon as tk
from tests.selection.test_cross_validation import data_of, study_of
from tikhon.selection.evidence import Evidence, Sample
from tikhon.selection.rules import Min, StandardErrors, as_rule

COST = np.array([5.0, 3.2, 2.5, 2.0, 2.0, 2.4])
SE = np.array([1.0, 1.0, 0.6, 0.6, 0.5, 0.5])
SAMPLE = Sample(tk.losses.Squared(), 100.0, 10, 1, intercept=True)


def scored(cost, se=0.0):
    cost = np.asarray(cost, dtype=float)
    se = np.broadcast_to(se, cost.shape)
    path = SimpleNamespace(df=np.arange(len(cost)), losses=np.ones_like(cost))
    return Evidence(cost, se, path, SAMPLE)


@pytest.mark.parametrize(
    ("rule", "expected"), [("min", 3), ("1se", 2), ("2se", 1), ("0.5se", 3), ("0se", 3), ("5se", 0)]
)
def test_rules_choose_the_strongest_that_is_good_enough(rule, expected):
    assert as_rule(rule).choose(scored(COST, SE)) == expected


def test_ties_go_to_the_stronger_strength():
    assert Min().choose(scored([2.0, 1.0, 1.0])) == 1
    assert Min().choose(scored([np.nan, 1.0, 1.0])) == 1


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_ties_within_rounding_go_to_the_stronger_strength(sign):
    best = sign * 7.0
    near, far = best + 7e-13, best + 7e-11
    assert Min().choose(scored([9.0, near, best])) == 1
    assert Min().choose(scored([9.0, far, best])) == 2
    assert StandardErrors(1.0).choose(scored([9.0, near + 0.5, best], 0.5)) == 1
    assert StandardErrors(1.0).choose(scored([9.0, far + 0.5, best], 0.5)) == 2


@pytest.mark.parametrize("rule", ["max", "se", "-1se", "AIC", 3, None])
def test_unknown_rules_are_refused(rule):
    with pytest.raises(ValueError, match="`rule` must be 'min', .*'ebic', 'srm', 'mdl'"):
        as_rule(rule)


def test_nonsense_is_refused_by_name():
    with pytest.raises(ValueError, match="`k`"):
        StandardErrors(-1.0)
    with pytest.raises(ValueError, match="nan"):
        Min().choose(scored([np.nan]))
    with pytest.raises(tk.UnsupportedError, match="no standard error"):
        StandardErrors(1.0).choose(scored([1.0, 2.0], np.nan))


def test_a_rule_is_applied_to_the_stored_study_without_fitting(rng, monkeypatch):
    X, y = data_of(rng, "tall")
    study = study_of(X, y, rule="1se")
    monkeypatch.setattr(np.linalg, "eigh", None)
    best, simpler = study.choose("min"), study.choose()
    assert simpler.lam >= best.lam
    assert study.choose(StandardErrors(1.0)).lam == simpler.lam
    np.testing.assert_array_equal(simpler.coef, study.path.at(simpler.lam).coef)
    assert best.certificate.gap < 1e-12
    assert study.choose("bic").lam in study.lams


def test_a_rule_of_ones_own_sees_the_evidence(rng):
    class MostThree:
        """The best score among models with at most three degrees of freedom."""

        def choose(self, evidence):
            return int(np.argmin(np.where(evidence.df <= 3, evidence.cost, np.inf)))

    X, y = rng.standard_normal((60, 6)), rng.standard_normal(60)
    model = tk.Ridge(rule=MostThree()).fit(X, y + X @ np.ones(6))
    assert model.df_ <= 3
    assert model.study_.criteria([MostThree()])[0].lam == model.lam_


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


def test_the_criteria_say_what_every_rule_chooses(rng):
    X, y = data_of(rng, "tall")
    study = tk.Ridge(rule="bic").fit(X, y).study_
    chosen = study.criteria()
    assert [choice.rule for choice in chosen] == ["min", "1se", "aic", "bic", "ebic"]
    for choice in chosen:
        at = study.index(choice.rule)
        assert (choice.lam, choice.df) == (study.lams[at], study.path.df[at])
        assert (choice.mean, choice.se) == (study.mean[at], study.se[at])
    assert list(pd.DataFrame(chosen).columns) == ["rule", "index", "lam", "df", "mean", "se"]
    gcv = tk.Ridge(folds="gcv").fit(X, y).study_
    assert [choice.rule for choice in gcv.criteria()] == ["min", "aic", "bic", "ebic"]
    krylov = study_of(X, y, solver="iterative")
    assert [choice.rule for choice in krylov.criteria()] == ["min", "1se"]
