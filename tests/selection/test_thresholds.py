"""Thresholds against trying all of them; calibration against its definition."""

import numpy as np
import pytest
from sklearn import metrics

import tikhon as tk
from tikhon.selection.binary import BinaryPredictions
from tikhon.selection.calibration import calibrate


def predictions(rng, n=60, ties=True):
    z = rng.standard_normal(n)
    z = np.round(z, 1) if ties else z
    positive = rng.random(n) < 1 / (1 + np.exp(-2 * z))
    return BinaryPredictions(z, positive, rng.integers(1, 4, n).astype(float), "ill")


def counts(rows, t):
    hit = rows.z > t
    s, y = rows.s, rows.positive
    return s[hit & y].sum(), s[hit & ~y].sum(), s[~hit & y].sum(), s[~hit & ~y].sum()


def every_cut(rows):
    return np.r_[-np.inf, np.unique(rows.z)]


def test_counts_are_those_of_every_cut(rng):
    rows = predictions(rng)
    at = rows.confusions
    for cut, *figures in zip(at.cut, at.tp, at.fp, at.fn, at.tn, strict=True):
        np.testing.assert_allclose(figures, counts(rows, cut))
    assert len(at.cut) == len(np.unique(rows.z)) + 1


def test_curves_are_scikit_learns(rng):
    rows = predictions(rng)
    expected = metrics.roc_auc_score(rows.positive, rows.z, sample_weight=rows.s)
    assert rows.auc == pytest.approx(expected)
    expected = metrics.average_precision_score(rows.positive, rows.z, sample_weight=rows.s)
    assert rows.average_precision == pytest.approx(expected)


def test_the_cheapest_threshold_is_found(rng):
    rows = predictions(rng)
    for fp, fn in ((1.0, 1.0), (1.0, 5.0), (7.0, 1.0)):
        chosen = rows.threshold(tk.thresholds.Cost(fp, fn))
        costs = [fp * c[1] + fn * c[2] for c in (counts(rows, t) for t in every_cut(rows))]
        own = counts(rows, chosen.log_odds)
        assert fp * own[1] + fn * own[2] == pytest.approx(min(costs))
        assert chosen.value == pytest.approx(1 / (1 + np.exp(-chosen.log_odds)))


def test_with_true_probabilities_the_threshold_of_costs_is_theirs(rng):
    z = 2 * rng.standard_normal(40_000)
    rows = BinaryPredictions(z, rng.random(len(z)) < 1 / (1 + np.exp(-z)), np.ones(len(z)))
    rule = tk.thresholds.Cost(false_positive=1, false_negative=4)
    assert rows.threshold(rule).value == pytest.approx(rule.bayes, abs=0.05)
    assert rule.bayes == 0.2


def test_a_cost_matrix_has_true_classes_in_rows():
    rule = tk.thresholds.Cost.of([[0, 3], [8, -1]])
    assert rule == tk.thresholds.Cost(3, 8, -1, 0)
    for wrong in ([[0, 1, 2]], [[5, 1], [1, 0]]):
        with pytest.raises(ValueError, match="2 x 2|must cost more"):
            tk.thresholds.Cost.of(wrong)


@pytest.mark.parametrize("at_least", [0.6, 0.8, 0.95])
def test_precision_is_kept_with_the_largest_recall(at_least, rng):
    rows = predictions(rng)
    chosen = rows.threshold(tk.thresholds.Precision(at_least))
    found = [counts(rows, t) for t in every_cut(rows)]
    allowed = [tp for tp, fp, *_ in found if tp > 0 and tp / (tp + fp) >= at_least]
    tp, fp, fn, _ = counts(rows, chosen.log_odds)
    assert chosen.precision == pytest.approx(tp / (tp + fp))
    assert chosen.precision >= at_least
    assert tp == max(allowed)
    assert chosen.recall == pytest.approx(tp / (tp + fn))


@pytest.mark.parametrize("at_least", [0.5, 0.9, 1.0])
def test_recall_is_kept_with_the_largest_precision(at_least, rng):
    rows = predictions(rng)
    chosen = rows.threshold(tk.thresholds.Recall(at_least))
    total = rows.s[rows.positive].sum()
    found = [counts(rows, t) for t in every_cut(rows)]
    allowed = [tp / (tp + fp) for tp, fp, *_ in found if tp >= at_least * total]
    assert chosen.recall >= at_least
    assert chosen.precision == pytest.approx(max(allowed))


@pytest.mark.parametrize("rule", [tk.thresholds.F1(), tk.thresholds.Youden()], ids=repr)
def test_the_best_of_all_cuts_is_chosen(rule, rng):
    rows = predictions(rng)
    chosen = rows.threshold(rule)

    def merit(t):
        tp, fp, fn, tn = counts(rows, t)
        if rule == tk.thresholds.F1():
            return 2 * tp / (2 * tp + fp + fn)
        return tp / (tp + fn) - fp / (fp + tn)

    assert merit(chosen.log_odds) == pytest.approx(max(merit(t) for t in every_cut(rows)))


def test_a_precision_out_of_reach_names_the_best(rng):
    z = np.arange(10.0)
    rows = BinaryPredictions(z, np.isin(z, (6, 7, 8)), np.ones(10))  # the first is a negative
    with pytest.raises(
        tk.UnsupportedError, match=r"precision of 0.9 on .*; the best there is is 0.75"
    ):
        rows.threshold(tk.thresholds.Precision(0.9))


def test_rows_of_one_kind_have_no_threshold():
    with pytest.raises(tk.UnsupportedError, match="all of class ill"):
        BinaryPredictions(np.zeros(3), np.ones(3, dtype=bool), np.ones(3), "ill")
    with pytest.raises(tk.UnsupportedError, match="all not of class ill"):
        BinaryPredictions(np.zeros(3), np.zeros(3, dtype=bool), np.ones(3), "ill")


def test_a_rule_of_ones_own_is_an_object_with_merit(rng):
    class Accuracy:
        def merit(self, at):
            return (at.tp + at.tn) / at.total

    rows = predictions(rng)
    same = rows.threshold(tk.thresholds.Cost())
    assert rows.threshold(Accuracy()).accuracy == pytest.approx(same.accuracy)
    with pytest.raises(ValueError, match="must be one of tk.thresholds"):
        rows.threshold("f1")


def test_the_parts_of_briers_score_add_up(rng):
    rows = predictions(rng)
    for bins in (1, 4, 10, 1000):
        c = rows.calibration(bins)
        assert c.brier == pytest.approx(np.average((rows.p - rows.positive) ** 2, weights=rows.s))
        assert c.reliability - c.resolution + c.uncertainty + c.within == pytest.approx(c.brier)
        assert c.share.sum() == pytest.approx(1.0)
    assert c.within == pytest.approx(0.0, abs=1e-12)  # one bin for each probability
    assert rows.calibration(1).resolution == pytest.approx(0.0, abs=1e-15)


def test_bins_are_frequencies_beside_probabilities(rng):
    rows = predictions(rng, n=400)
    c = rows.calibration(5)
    edges = np.append(np.cumsum(c.share), 1.0)
    order = np.argsort(rows.p, kind="stable")
    place = np.searchsorted(edges, np.cumsum(rows.s[order]) / rows.s.sum() - 1e-9)
    for b in range(len(c.share)):
        own = order[place == b]
        assert c.predicted[b] == pytest.approx(np.average(rows.p[own], weights=rows.s[own]))
        assert c.observed[b] == pytest.approx(np.average(rows.positive[own], weights=rows.s[own]))
    assert c.ece == pytest.approx(np.sum(c.share * np.abs(c.observed - c.predicted)))
    assert c.mce >= c.ece
    assert len(c.to_frame("pandas")) == len(c.share)


def test_right_probabilities_have_the_calibration_error_of_chance(rng):
    p = rng.random(5000)
    found = [calibrate(p, rng.random(5000) < p, np.ones(5000)) for _ in range(40)]
    mean = np.mean([c.ece for c in found])
    assert mean == pytest.approx(found[0].expected_by_chance, rel=0.15)
    wrong = calibrate(p**3, rng.random(5000) < p, np.ones(5000))
    assert wrong.ece > 10 * wrong.expected_by_chance
    with pytest.raises(ValueError, match="`bins`"):
        calibrate(p, p > 0.5, np.ones(5000), 0)
