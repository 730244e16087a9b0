"""Rules that choose a decision threshold from held-out predictions; nothing is fitted.

A row is predicted positive if its probability exceeds the threshold. As with rules for the
strength, a rule is an object that looks at figures only: weighted counts at every threshold.

    Cost(fp, fn)    the smallest mean cost, for stated costs of the two errors
    Precision(q)    the largest recall with a precision of at least q
    Recall(q)       the largest precision with a recall of at least q
    F1()            the largest 2 tp / (2 tp + fp + fn)
    Youden()        the largest recall minus false positive rate

Among equals the threshold nearest to one half wins. With probabilities that are right, the best
threshold for costs is ``fp / (fp + fn)`` whatever the data; that the one chosen on rows is
elsewhere is chance, or a sign that they are not (see the reliability diagram).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.numerics import expit
from tikhon.selection.binary import BinaryPredictions, Confusions
from tikhon.typing import ArrayLike, BoolArray, Float64Array

__all__ = [
    "F1",
    "Cost",
    "Precision",
    "Recall",
    "Threshold",
    "ThresholdRule",
    "Youden",
    "choose_threshold",
]

TIE = 1e-12


@dataclass(frozen=True, slots=True)
class Threshold:
    """A threshold, and what it does on the rows it was chosen on.

    Attributes
    ----------
    value : float
        A row is positive if its probability exceeds this.
    log_odds : float
        The same in log-odds, which do not round to 0 and 1.
    precision, recall, false_positive_rate, accuracy : float
    predicted : float
        Share of the rows that are predicted positive.
    rule : ThresholdRule
    """

    value: float
    log_odds: float
    precision: float
    recall: float
    false_positive_rate: float
    accuracy: float
    predicted: float
    rule: ThresholdRule


@runtime_checkable
class ThresholdRule(Protocol):
    """Chooses a position among all cuts."""

    def merit(self, at: Confusions) -> Float64Array:
        """Return how good each cut is, larger being better, -inf where it may not be chosen."""
        ...


@dataclass(frozen=True)
class Cost:
    """The smallest mean cost.

    Parameters
    ----------
    false_positive : float, default 1
    false_negative : float, default 1
    true_positive, true_negative : float, default 0
        Costs of right predictions; a gain is a negative cost.

    Examples
    --------
    >>> Cost(false_positive=1, false_negative=4).bayes
    0.2
    """

    false_positive: float = 1.0
    false_negative: float = 1.0
    true_positive: float = 0.0
    true_negative: float = 0.0

    def __post_init__(self) -> None:
        costs = (self.false_positive, self.false_negative, self.true_positive, self.true_negative)
        if not np.all(np.isfinite(costs)):
            raise ValueError(f"costs must be finite, got {costs}.")
        if not (
            self.false_positive >= self.true_negative
            and self.false_negative >= self.true_positive
            and self.false_positive + self.false_negative > self.true_negative + self.true_positive
        ):
            raise ValueError(f"an error must cost more than being right, got {self}.")

    @classmethod
    def of(cls, matrix: ArrayLike) -> Cost:
        """Read a 2 x 2 matrix: rows are the true class, columns the predicted one."""
        costs = np.asarray(matrix, dtype=np.float64)
        if costs.shape != (2, 2):
            raise ValueError(f"a cost matrix of two classes is 2 x 2, got shape {costs.shape}.")
        (tn, fp), (fn, tp) = costs.tolist()
        return cls(fp, fn, tp, tn)

    @property
    def bayes(self) -> float:
        """The best threshold where the probabilities are right."""
        wrong = self.false_positive - self.true_negative
        return wrong / (wrong + self.false_negative - self.true_positive)

    def merit(self, at: Confusions) -> Float64Array:
        """Return minus the mean cost."""
        cost = self.false_positive * at.fp + self.false_negative * at.fn
        cost = cost + self.true_positive * at.tp + self.true_negative * at.tn
        return np.asarray(-cost / at.total)


def _share(name: str, value: float) -> None:
    if not 0 < value <= 1:
        raise ValueError(f"`{name}` must be in (0, 1], got {value}.")


def _best_where(allowed: BoolArray, merit: Float64Array, wanted: str, best: float) -> Float64Array:
    if not allowed.any():
        raise UnsupportedError(
            f"no threshold has {wanted} on the held-out rows; the best there is is {best:.3g}."
        )
    return np.where(allowed, merit, -np.inf)


@dataclass(frozen=True)
class Precision:
    """The largest recall with a precision of at least this.

    Parameters
    ----------
    at_least : float
    """

    at_least: float

    def __post_init__(self) -> None:
        _share("at_least", self.at_least)

    def merit(self, at: Confusions) -> Float64Array:
        """Return the recall, where the precision suffices and something is predicted."""
        found = at.tp > 0
        best = float(at.precision[found].max(initial=0.0))
        allowed = found & (at.precision >= self.at_least * (1 - TIE))
        return _best_where(allowed, at.recall, f"a precision of {self.at_least:g}", best)


@dataclass(frozen=True)
class Recall:
    """The largest precision with a recall of at least this.

    Parameters
    ----------
    at_least : float
    """

    at_least: float

    def __post_init__(self) -> None:
        _share("at_least", self.at_least)

    def merit(self, at: Confusions) -> Float64Array:
        """Return the precision, where the recall suffices."""
        return np.where(at.recall >= self.at_least * (1 - TIE), at.precision, -np.inf)


@dataclass(frozen=True)
class F1:
    """The largest harmonic mean of precision and recall."""

    def merit(self, at: Confusions) -> Float64Array:
        """Return ``2 tp / (2 tp + fp + fn)``."""
        return np.asarray(2 * at.tp / (2 * at.tp + at.fp + at.fn))


@dataclass(frozen=True)
class Youden:
    """The largest recall minus false positive rate."""

    def merit(self, at: Confusions) -> Float64Array:
        """Return the height above the diagonal of the ROC curve."""
        return np.asarray(at.recall - at.false_positive_rate)


def choose_threshold(rule: ThresholdRule, rows: BinaryPredictions) -> Threshold:
    """Apply a rule to held-out predictions."""
    if not isinstance(rule, ThresholdRule):
        raise ValueError(
            "`rule` must be one of tk.thresholds: Cost, Precision, Recall, F1, Youden, or an "
            f"object with `merit`; got {rule!r}."
        )
    at = rows.confusions
    merit = rule.merit(at)
    best = float(np.max(merit))
    equal = np.flatnonzero(merit >= best - TIE * max(1.0, abs(best)))
    chosen = int(equal[np.argmin(np.abs(at.cut[equal]))])
    return Threshold(
        value=float(expit(at.cut[chosen])),
        log_odds=float(at.cut[chosen]),
        precision=float(at.precision[chosen]),
        recall=float(at.recall[chosen]),
        false_positive_rate=float(at.false_positive_rate[chosen]),
        accuracy=float((at.tp[chosen] + at.tn[chosen]) / at.total),
        predicted=float((at.tp[chosen] + at.fp[chosen]) / at.total),
        rule=rule,
    )
