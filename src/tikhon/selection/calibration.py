"""Whether probabilities are frequencies: reliability by bins, calibration error, Brier's parts.

Rows are sorted by probability and cut into bins of about equal weight. With p_b the mean
probability of bin b, o_b the share of positives and w_b its share of the weight:

    ECE = sum_b w_b |o_b - p_b|                    MCE = max_b |o_b - p_b|
    reliability = sum_b w_b (o_b - p_b)^2          resolution = sum_b w_b (o_b - o)^2
    Brier = reliability - resolution + uncertainty + within

where ``uncertainty = o (1 - o)`` and `within` is what the spread of probabilities inside bins adds,
so that the sum is exact for any bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.results import frame
from tikhon.typing import BoolArray, Float64Array

__all__ = ["Calibration", "calibrate"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Calibration:
    """Probabilities beside frequencies.

    Attributes
    ----------
    predicted : ndarray of shape (B,)
        Mean probability of each bin.
    observed : ndarray of shape (B,)
        Share of positives.
    se : ndarray of shape (B,)
        Standard error of that share, were the probabilities right: the size of deviations that
        chance explains.
    share : ndarray of shape (B,)
        Of the weight; sums to 1.
    brier : float
        Mean squared error of the probabilities.
    reliability, resolution, uncertainty, within : float
        ``brier = reliability - resolution + uncertainty + within``.
    """

    predicted: Float64Array
    observed: Float64Array
    se: Float64Array
    share: Float64Array
    brier: float
    reliability: float
    resolution: float
    uncertainty: float
    within: float

    def __repr__(self) -> str:
        return f"Calibration({len(self.share)} bins, ece {self.ece:.4f}, brier {self.brier:.4f})"

    @property
    def ece(self) -> float:
        """Expected calibration error: the mean distance of frequency and probability."""
        return float(self.share @ np.abs(self.observed - self.predicted))

    @property
    def mce(self) -> float:
        """The largest distance."""
        return float(np.max(np.abs(self.observed - self.predicted)))

    @property
    def expected_by_chance(self) -> float:
        """The calibration error that perfect probabilities would have with these bins.

        The mean of ``|N(0, se)|`` over bins: an error of this size says nothing.
        """
        return float(np.sqrt(2.0 / np.pi) * (self.share @ self.se))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per bin."""
        columns = {
            "predicted": self.predicted,
            "observed": self.observed,
            "se": self.se,
            "share": self.share,
        }
        return frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the reliability diagram; return the matplotlib axes."""
        from tikhon.report.class_plots import plot_calibration

        return plot_calibration(self, ax)


def calibrate(p: Float64Array, positive: BoolArray, s: Float64Array, bins: int = 10) -> Calibration:
    """Compare probabilities with frequencies in at most `bins` bins of about equal weight."""
    if not (isinstance(bins, int | np.integer) and bins >= 1):
        raise ValueError(f"`bins` must be a whole number >= 1, got {bins!r}.")
    member = _bins(p, s, bins)
    weight = np.bincount(member, weights=s)
    share = weight / s.sum()
    predicted = np.bincount(member, weights=s * p) / weight
    observed = np.bincount(member, weights=s * positive) / weight
    rate = float(share @ observed)
    # The variance of a bin's frequency, were each row positive with its probability.
    variance = np.bincount(member, weights=s**2 * p * (1.0 - p)) / weight**2
    brier = float(np.average((p - positive) ** 2, weights=s))
    reliability = float(share @ (observed - predicted) ** 2)
    resolution = float(share @ (observed - rate) ** 2)
    uncertainty = rate * (1.0 - rate)
    return Calibration(
        predicted=predicted,
        observed=observed,
        se=np.sqrt(variance),
        share=share,
        brier=brier,
        reliability=reliability,
        resolution=resolution,
        uncertainty=uncertainty,
        within=brier - reliability + resolution - uncertainty,
    )


def _bins(p: Float64Array, s: Float64Array, bins: int) -> Any:
    """The bin of each row; equal probabilities share one, and none is empty."""
    place = np.unique(p, return_inverse=True)[1]
    mass = np.bincount(place, weights=s)
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    label = np.minimum((middle * bins).astype(np.int64), bins - 1)
    return np.unique(label, return_inverse=True)[1][place]
