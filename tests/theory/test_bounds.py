"""The bounds' numbers by hand, and what they say when they are used wrongly."""

import math

import numpy as np
import pytest

import tikhon as tk
from tikhon.theory import bounds
from tikhon.theory.bounds import Assumption, Bound, Standing

# Each value is worked out beside it, with numbers chosen so that it can be done on paper.
BY_HAND = [
    # 2 * 3^2 / (0.5 * 36) = 18 / 18
    (bounds.stability(3.0, 0.5, 36), 1.0),
    # 2 * 3 / (0.5 * 36) = 6 / 18
    (bounds.replacement_distance(3.0, 0.5, 36), 1 / 3),
    # 48 * 2 / (4 * 12) * 0.25 = 2 * 0.25
    (bounds.smooth_stability(2.0, 4.0, 12, 0.25), 0.5),
    # 3 * 5 * sqrt(8 / 50) = 15 * 0.4
    (bounds.oracle_excess(3.0, 5.0, 50), 6.0),
    # sqrt(2 * 9 / (25 * 50)) = sqrt(18 / 1250) = 0.12
    (bounds.suggested_strength(3.0, 5.0, 50), 0.12),
    # 8 * 9 * 25 / 0.5^2 = 1800 * 4
    (bounds.sample_size(3.0, 5.0, 0.5), 7200),
    # 150 * 4 / 0.5^2 = 600 * 4
    (bounds.ridge_sample_size(2.0, 0.5), 2400),
    # m(0.5 * 0.1) = 150 * 4 / 0.0025
    (bounds.ridge_sample_size(2.0, 0.5, 0.1), 240_000),
    # 150 * 3 * 4 / 0.25
    (bounds.smooth_oracle(3.0, 2.0, 0.5), 7200),
    # sqrt(4 * 2^2 / 1600) = 0.1 and sqrt(2 log 40 / 1600), log 40 = 3.6888795
    (bounds.hard_margin(1.0, 0.5, 1600, 0.05), 0.1 + math.sqrt(3.6888795 / 800)),
    # 0.2 + 0.5 * 4 + 2 * 9 / (0.5 * 36) = 0.2 + 2 + 1
    (bounds.soft_margin(3.0, 2.0, 36, 0.2, lam_s=0.5), 3.2),
    # sqrt(8 * 9 * 4 / 32) = sqrt(9)
    (bounds.soft_margin(3.0, 2.0, 32), 3.0),
    # log(2 e^2 / (2 e^-1 ...)): |H| = e^3, delta = 2 e^-5, so log(2 |H| / delta) = 8; sqrt(8 / 16)
    (bounds.finite_class(math.e**3, 8, 2 * math.e**-5), math.sqrt(0.5)),
    # d = 2, m = e^3 rounded would not be whole: 2 log(2 e 20 / 2) + log(4 / 0.04)
    # = 2 (1 + log 20) + log 100 = 2 + 2 * 2.9957323 + 4.6051702 = 12.5966347; times 8 / 20
    (bounds.vc(2, 20, 0.04), math.sqrt(0.4 * 12.5966347)),
    # 2 * 3 * 2 / 10 + 4 sqrt(2 * log 20 / 100), log 20 = 2.9957323
    (bounds.norm_ball(3.0, 2.0, 100, 0.1, 4.0), 1.2 + 4 * math.sqrt(0.059914646)),
    # (10 + log 20) / 200
    (bounds.mdl(10, 100, 0.1), math.sqrt(12.9957323 / 200)),
    # (10 * 0.6931472 + log 20) / 200
    (bounds.mdl(10, 100, 0.1, tight=True), math.sqrt((6.931472 + 2.9957323) / 200)),
    # no error in 3: (1 - p)^3 = 0.125 at p = 1/2
    (bounds.clopper_pearson(0, 3, 0.125), 0.5),
    # 3 errors in 3
    (bounds.clopper_pearson(3, 3, 0.05), 1.0),
    # 1 error in 2: 1 - p^2 = 0.19 at p = 0.9
    (bounds.clopper_pearson(1, 2, 0.19), 0.9),
    # losses 0, 1, 0, 1: mean 1/2, variance 1/3; log 20 = L: 1/2 + sqrt(2/3 L / 4) + 7 L / 9
    (
        bounds.empirical_bernstein([0, 1, 0, 1], 0.1),
        0.5 + math.sqrt(2.9957323 / 6) + 7 * 2.9957323 / 9,
    ),
    # k = ceil(log2 8) = 3 parts of 100, and ceil((log 32 + log 3) / 0.25): 4.5643482 * 4 = 18.26
    (bounds.boosted_sample_size(100, 0.5, 0.125), 319),
]


@pytest.mark.parametrize(("bound", "expected"), BY_HAND, ids=lambda p: getattr(p, "name", None))
def test_values_are_those_worked_out_by_hand(bound, expected):
    assert float(bound) == pytest.approx(expected, rel=1e-7)
    assert bound.statement
    assert bound.source


def test_the_suggested_strength_balances_the_two_terms():
    rho, radius, m = 3.0, 5.0, 50
    best = bounds.suggested_strength(rho, radius, m)

    def excess(lam_s):
        return lam_s * radius**2 + bounds.stability(rho, lam_s, m).value

    assert excess(best.value) == pytest.approx(bounds.oracle_excess(rho, radius, m).value)
    for factor in (0.9, 1.1):
        assert excess(factor * best.value) > excess(best.value)
    rows = bounds.sample_size(rho, radius, 0.7).value
    assert bounds.oracle_excess(rho, radius, rows).value <= 0.7
    assert bounds.oracle_excess(rho, radius, rows - 1).value > 0.7


def test_the_houses_strength_is_twice_the_lectures():
    for bound in (bounds.stability(1.0, 0.3, 10), bounds.soft_margin(1.0, 1.0, 10, lam_s=0.3)):
        assert (bound.lam, bound.lam_s) == (0.6, 0.3)
    suggested = bounds.suggested_strength(2.0, 3.0, 40)
    converted = tk.conventions.to_lam("lecture001.ridge", lambda_=suggested.value)
    assert suggested.lam == pytest.approx(converted.lam)
    assert bounds.vc(1, 10, 0.1).lam_s is None


def test_weights_of_classes_sum_to_one():
    total = sum(bounds.class_weight(d) for d in range(100_000))
    assert 0.9999 < total < 1.0


def test_competing_with_a_richer_class_takes_more_rows():
    rows = [bounds.nonuniform_sample_size(d, 0.2, 0.1).value for d in (1, 2, 5)]
    assert rows == sorted(rows)
    exact = bounds.nonuniform_sample_size(
        3, 0.2, 0.1, deviation=lambda d, m, share: bounds.finite_class(2**d, m, share)
    )
    # log(2 * 8 / (w(3) 0.1)) / (2 * 0.1^2), w(3) = 6 / (16 pi^2)
    assert exact.value == math.ceil(math.log(16 / (6 / (16 * math.pi**2) * 0.1)) / 0.02)


def test_a_sample_too_small_for_the_regime_says_so():
    small = bounds.smooth_stability(1.0, 0.01, 100, 0.1)
    (regime,) = [a for a in small.assumptions if a.what == "lam_s >= 2 beta / m"]
    assert regime.status == "not met"
    assert "m = 100 is too small, 200 rows would do" in regime.on
    assert small.status is Standing.NOT_MET
    enough = bounds.smooth_stability(1.0, 0.01, 200, 0.1)
    assert enough.status is Standing.UNKNOWN
    few = bounds.vc(50, 10, 0.1)
    assert few.vacuous
    assert "[not met] 2 m >= d (m = 10, d = 50)" in str(few)


def test_vacuous_is_said_plainly():
    bound = bounds.vc(10, 100, 0.05)
    assert bound.vacuous
    assert "vacuous: 1 is known without it" in str(bound)
    assert not bounds.vc(10, 100_000, 0.05).vacuous
    assert Bound("x", math.nan, "", "").vacuous


def test_an_assumption_is_replaced_by_what_was_found_out():
    bound = bounds.stability(1.0, 1.0, 10)
    what = bound.assumptions[1].what
    known = bound.resting_on(Assumption.checked(what, True, "a table"), ceiling=0.1)
    assert [a.status.value for a in known.assumptions] == ["cannot be checked", "met"]
    assert known.vacuous
    assert not bound.vacuous


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bounds.stability(-1.0, 1.0, 10), "`rho` must be > 0 and finite, got -1"),
        (lambda: bounds.stability(math.inf, 1.0, 10), "`rho`"),
        (lambda: bounds.stability(1.0, 0.0, 10), "`lam_s`"),
        (lambda: bounds.vc(1, 0, 0.1), "`m`"),
        (lambda: bounds.vc(1, 10, 1.0), "`delta` must be between 0 and 1, got 1"),
        (lambda: bounds.ridge_sample_size(1.0, 0.1, 2.0), "`delta`"),
        (lambda: bounds.mdl(-1, 10, 0.1), "`bits`"),
        (lambda: bounds.clopper_pearson(11, 10, 0.1), "`errors` must be a whole number"),
        (lambda: bounds.clopper_pearson(1.5, 10, 0.1), "`errors`"),
        (lambda: bounds.empirical_bernstein([0.1], 0.1), "`losses` must be 2 or more"),
        (lambda: bounds.empirical_bernstein([0.1, np.nan], 0.1), "clip them"),
        (lambda: bounds.class_weight(-1), "`d`"),
        (lambda: bounds.smooth_stability(1.0, 1.0, 10, -0.1), "`empirical_risk`"),
        (lambda: bounds.soft_margin(1.0, 1.0, 10, -0.1), "`hinge_risk`"),
    ],
)
def test_nonsense_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_losses_outside_their_range_are_noted():
    bound = bounds.empirical_bernstein([0.0, 2.0], 0.1)
    assert bound.status is Standing.NOT_MET
    assert "losses from 0 to 2" in str(bound)
