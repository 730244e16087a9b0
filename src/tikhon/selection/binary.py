"""Predicted log-odds of two classes beside what happened: ROC, precision and recall, calibration.

Everything here is a function of weighted rows: log-odds z, whether the row is positive, its
weight. A cut c predicts the rows with ``z > c`` as positive, so there are as many predictions as
gaps between distinct log-odds, and two more for all and none. `Confusions` counts the weights of
all of them in one sort:

    tp(c) = sum of s over positive rows with z > c        fp(c) likewise over negative ones
    precision = tp / (tp + fp)     recall = tp / P     false positive rate = fp / N
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.numerics import expit
from tikhon.selection.calibration import Calibration, calibrate
from tikhon.typing import BoolArray, Float64Array

if TYPE_CHECKING:
    from tikhon.selection.thresholds import Threshold, ThresholdRule

__all__ = ["BinaryPredictions", "Confusions"]


@dataclass(frozen=True, slots=True, eq=False)
class Confusions:
    """Weighted counts at every cut, from the one that predicts all rows positive to none.

    Attributes
    ----------
    cut : ndarray of shape (C,)
        In log-odds, ascending, from -inf to inf; midway between the log-odds of rows.
    tp, fp, fn, tn : ndarray of shape (C,)
    """

    cut: Float64Array
    tp: Float64Array
    fp: Float64Array
    fn: Float64Array
    tn: Float64Array

    @classmethod
    def of(cls, z: Float64Array, positive: BoolArray, s: Float64Array) -> Confusions:
        """Count the rows at every cut."""
        values, place = np.unique(z, return_inverse=True)
        up = np.bincount(place, weights=s * positive, minlength=len(values))
        down = np.bincount(place, weights=s * ~positive, minlength=len(values))
        # Summed from the top: what lies above the cut.
        tp = np.append(np.cumsum(up[::-1])[::-1], 0.0)
        fp = np.append(np.cumsum(down[::-1])[::-1], 0.0)
        between = values[:-1] / 2.0 + values[1:] / 2.0
        cut = np.concatenate([[-np.inf], between, [np.inf]])
        return cls(cut, tp, fp, tp[0] - tp, fp[0] - fp)

    @property
    def threshold(self) -> Float64Array:
        """The cuts as probabilities."""
        return np.asarray(expit(self.cut))

    @property
    def precision(self) -> Float64Array:
        """Share of the predicted positives that are; 1 where none is predicted."""
        predicted = self.tp + self.fp
        return np.divide(self.tp, predicted, out=np.ones_like(self.tp), where=predicted > 0)

    @property
    def recall(self) -> Float64Array:
        """Share of the positives that are predicted."""
        return np.asarray(self.tp / self.tp[0])

    @property
    def false_positive_rate(self) -> Float64Array:
        """Share of the negatives that are predicted positive."""
        return np.asarray(self.fp / self.fp[0])

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.tp[0] + self.fp[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BinaryPredictions:
    """Log-odds of a class, and whether each row is of it.

    Attributes
    ----------
    z : ndarray of shape (m,)
        Log-odds of the class.
    positive : ndarray of bool, shape (m,)
    s : ndarray of shape (m,)
        Weights.
    name : str
        What the class is called.
    """

    z: Float64Array
    positive: BoolArray
    s: Float64Array
    name: str = "positive"

    def __post_init__(self) -> None:
        weight = float(self.s[self.positive].sum()), float(self.s[~self.positive].sum())
        if not min(weight) > 0:
            raise UnsupportedError(
                f"the held-out rows are all {'of' if weight[0] else 'not of'} class {self.name}: "
                "there is nothing to tell apart. Use folds that test both."
            )

    def __len__(self) -> int:
        return len(self.z)

    def __repr__(self) -> str:
        share = float(np.average(self.positive, weights=self.s))
        return f"BinaryPredictions({len(self)} rows, {share:.1%} {self.name}, auc {self.auc:.4f})"

    @property
    def p(self) -> Float64Array:
        """Probabilities of the class."""
        return np.asarray(expit(self.z))

    @property
    def confusions(self) -> Confusions:
        """Counts at every cut."""
        return Confusions.of(self.z, self.positive, self.s)

    @property
    def auc(self) -> float:
        """Area under the ROC curve: how often a positive row is ranked above a negative one."""
        at = self.confusions
        return float(np.trapezoid(at.recall[::-1], at.false_positive_rate[::-1]))

    @property
    def average_precision(self) -> float:
        """Mean precision over the positives, each at the cut that just finds it."""
        at = self.confusions
        return float(np.sum(-np.diff(at.recall) * at.precision[:-1]))

    def calibration(self, bins: int = 10) -> Calibration:
        """Compare probabilities with frequencies, in bins of about equal weight."""
        return calibrate(self.p, self.positive, self.s, bins)

    def threshold(self, rule: ThresholdRule) -> Threshold:
        """Return the threshold that a rule chooses on these rows."""
        from tikhon.selection.thresholds import choose_threshold

        return choose_threshold(rule, self)

    def plot(self, kind: str = "roc", ax: Any = None) -> Any:
        """Draw "roc", "precision_recall", "reliability" or "threshold"; return the axes."""
        from tikhon.report.class_plots import plot_predictions

        return plot_predictions(self, kind, ax)
