"""Scores of classifiers, of decisions or probabilities, with weights of rows.

Two classes come as y in {-1, +1} and one number per row, more as codes 0 .. K-1 and one number per
class. The row's class is where the decision is largest (positive, for two). Definitions, also for
several classes, are those of ``sklearn.metrics``:

    accuracy            share of rows whose class is predicted
    balanced_accuracy   mean over classes of the share of their rows that is
    precision, recall   of the positive class; for several classes, the mean over them
    f1                  2 tp / (2 tp + fp + fn), likewise
    auc                 P(decision of a positive > that of a negative) + half P(equal); for several
                        classes the mean over one-against-the-rest, on probabilities
    brier               mean of (p - [y = 1])^2; for several classes summed over them
    log_loss            mean of -log p_y
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["ON_DECISIONS", "ON_PROBABILITIES", "auc", "class_codes", "decided"]

Weights = Float64Array | None


def class_codes(y: Float64Array) -> IntArray:
    """Return positions of classes from -1 and +1, from codes, or from one indicator per class."""
    if y.ndim == 2:
        return np.asarray(y.argmax(axis=1))
    if y.size and y.min() < 0:
        return (y > 0).astype(np.int64)
    return y.astype(np.int64)


def decided(z: Float64Array) -> IntArray:
    """Return the position of the class that each decision means."""
    return np.asarray((z > 0).astype(np.int64) if z.ndim == 1 else z.argmax(axis=1))


def _accuracy(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    return float(np.average(class_codes(y) == decided(z), weights=sample_weight))


def _counts(y: Float64Array, z: Float64Array, s: Weights) -> tuple[Float64Array, ...]:
    """Weights of hits, of rows and of predictions of each class."""
    true, found = class_codes(y), decided(z)
    count = 2 if z.ndim == 1 else z.shape[1]
    s = np.ones(len(true)) if s is None else s
    hits = np.bincount(true, weights=s * (true == found), minlength=count)
    rows = np.bincount(true, weights=s, minlength=count)
    predicted = np.bincount(found, weights=s, minlength=count)
    return hits.astype(np.float64), rows.astype(np.float64), predicted.astype(np.float64)


def _balanced_accuracy(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    hits, rows, _ = _counts(y, z, sample_weight)
    present = rows > 0
    return float(np.mean(hits[present] / rows[present]))


def _ratio(top: Float64Array, bottom: Float64Array, binary: bool, seen: BoolArray) -> float:
    """The ratio of the positive class, or the mean over the classes seen; 0 where it is 0/0."""
    ratio = np.divide(top, bottom, out=np.zeros(len(top)), where=bottom > 0)
    return float(ratio[1] if binary else np.mean(ratio[seen]))


def _precision(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    hits, rows, predicted = _counts(y, z, sample_weight)
    return _ratio(hits, predicted, z.ndim == 1, rows + predicted > 0)


def _recall(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    hits, rows, predicted = _counts(y, z, sample_weight)
    return _ratio(hits, rows, z.ndim == 1, rows + predicted > 0)


def _f1(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    hits, rows, predicted = _counts(y, z, sample_weight)
    return _ratio(2 * hits, rows + predicted, z.ndim == 1, rows + predicted > 0)


def auc(positive: BoolArray, z: Float64Array, s: Weights = None) -> float:
    """Return the area under the ROC curve: ties count half.

    Raises
    ------
    ValueError
        If the rows are all positive or all negative.
    """
    weights = np.ones(len(z)) if s is None else s
    _, place = np.unique(z, return_inverse=True)
    above = np.bincount(place, weights=weights * positive)
    below = np.bincount(place, weights=weights * ~positive)
    total = above.sum() * below.sum()
    if not total > 0:
        raise ValueError(
            "the score 'auc' compares rows of two classes, and these held-out rows are all of one. "
            "Use fewer folds, stratified folds, or the score 'deviance'."
        )
    return float(above @ (np.cumsum(below) - 0.5 * below) / total)


def _auc(y: Float64Array, p: Float64Array, sample_weight: Weights = None) -> float:
    codes = class_codes(y)
    if p.ndim == 1:
        return auc(codes == 1, p, sample_weight)
    return float(np.mean([auc(codes == k, p[:, k], sample_weight) for k in range(p.shape[1])]))


def _brier(y: Float64Array, p: Float64Array, sample_weight: Weights = None) -> float:
    codes = class_codes(y)
    if p.ndim == 1:
        return float(np.average((p - codes) ** 2, weights=sample_weight))
    missed = p.copy()
    missed[np.arange(len(codes)), codes] -= 1.0
    return float(np.average((missed**2).sum(axis=1), weights=sample_weight))


ON_DECISIONS: dict[str, tuple[Callable[..., float], bool]] = {
    "accuracy": (_accuracy, True),
    "balanced_accuracy": (_balanced_accuracy, True),
    "f1": (_f1, True),
    "precision": (_precision, True),
    "recall": (_recall, True),
}
"""Functions of (y, decisions), and whether greater is better."""

ON_PROBABILITIES: dict[str, tuple[Callable[..., float], bool]] = {
    "auc": (_auc, True),
    "brier": (_brier, False),
}
"""Functions of (y, probabilities), and whether greater is better."""
