r"""Probabilities from decisions, fitted on decisions for rows that the machine has not seen.

A decision d of two classes becomes ``1 / (1 + exp(-a d))`` with one slope a for positive and one
for negative decisions; K decisions become ``softmax(a d)``. Slopes maximise the likelihood of
held-out labels, smoothed as Platt does (N positives count as ``(N + 1) / (N + 2)`` of one).

Platt's own sigmoid has a slope and a shift. The shift would move the probability 1/2 away from the
decision 0, and a class could be predicted whose probability is the smaller one. Here the predicted
class always has the largest probability, and the order of rows is that of their decisions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_softmax, softmax

from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Calibration", "calibrate"]

STEPS = 60


@dataclass(frozen=True, slots=True)
class Calibration:
    """How decisions become probabilities.

    Attributes
    ----------
    above, below : float
        Slopes for positive and for negative decisions; equal for more than two classes.
    rows : int
        How many held-out decisions they were fitted on.
    """

    above: float
    below: float
    rows: int

    def probabilities(self, decisions: Float64Array) -> Float64Array:
        """Return (n, K) probabilities from (n,) or (n, K) decisions."""
        if decisions.ndim == 2:
            return np.asarray(softmax(self.above * decisions, axis=1))
        slope = np.where(decisions > 0, self.above, self.below)
        positive = expit(slope * decisions)
        return np.column_stack([1.0 - positive, positive])


def calibrate(decisions: Float64Array, classes: IntArray, s: Float64Array) -> Calibration:
    """Fit slopes on held-out decisions.

    Parameters
    ----------
    decisions : ndarray of shape (n,) or (n, K)
        nan for rows that were never held out.
    classes : ndarray of int, shape (n,)
        Positions of the true classes.
    s : ndarray of shape (n,)
        Weights.
    """
    seen = np.isfinite(decisions if decisions.ndim == 1 else decisions[:, 0]) & (s > 0)
    d, y, s = decisions[seen], classes[seen], s[seen]
    if d.ndim == 2:
        slope = _temperature(d, y, s)
        return Calibration(slope, slope, len(d))
    total = np.bincount(y, weights=s, minlength=2)
    smooth = np.where(y == 1, (total[1] + 1) / (total[1] + 2), 1 / (total[0] + 2))
    return Calibration(_side(d > 0, d, smooth, s), _side(d < 0, d, smooth, s), len(d))


def _side(chosen: BoolArray, d: Float64Array, target: Float64Array, s: Float64Array) -> float:
    """The slope a >= 0 that maximises the likelihood of the decisions of one sign."""
    d, target, s = d[chosen], target[chosen], s[chosen]
    if not len(d):
        return 1.0

    def slope(a: float) -> float:
        return float((s * d) @ (expit(a * d) - target))

    return _root(slope, float(np.abs(d).mean()))


def _temperature(d: Float64Array, y: IntArray, s: Float64Array) -> float:
    """The factor of all decisions that maximises the likelihood of the classes."""
    centred = d - d.max(axis=1, keepdims=True)
    hit = np.take_along_axis(centred, y[:, None], axis=1)[:, 0]

    def slope(a: float) -> float:
        share = np.exp(log_softmax(a * centred, axis=1))
        return float(s @ ((share * centred).sum(axis=1) - hit))

    return _root(slope, float(-centred.mean()))


def _root(slope: object, size: float) -> float:
    """The zero of an increasing function on [0, 100 / size], or the end it lies beyond."""
    assert callable(slope)
    low, high = 0.0, 100.0 / max(size, 1e-300)
    if slope(high) <= 0:
        return high
    if slope(low) >= 0:
        return 1e-5 * high  # decisions that are worse than none: hardly any confidence
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return 0.5 * (low + high)
