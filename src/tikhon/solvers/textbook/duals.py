"""A dual point for losses with kinks: the mean of the slopes a row was found to have.

At the optimum of a loss with kinks many rows sit at the kink, where the derivative is any number
in between and the one the loss returns says nothing. On the way there a stochastic solver finds
each of these rows now on one side, now on the other, as often as the optimal dual point asks for:
for the hinge, ``alpha_i`` is the share of draws at which row i was inside the margin.
"""

from __future__ import annotations

import numpy as np

from tikhon.typing import Float64Array, IntArray

__all__ = ["FoundSlopes"]


class FoundSlopes:
    """Sums of the slopes of each row, the early ones forgotten whenever the draws have doubled."""

    def __init__(self, n: int) -> None:
        self._sums = np.zeros((2, n))
        self._counts = np.zeros((2, n))
        self._draws = 0
        self._next = n

    def record(self, index: IntArray, slopes: Float64Array) -> None:
        """Add what rows were found to have."""
        n = self._sums.shape[1]
        self._sums[0] += np.bincount(index, slopes, n)
        self._counts[0] += np.bincount(index, minlength=n)
        self._draws += len(index)
        if self._draws >= self._next:
            self._sums = np.stack([np.zeros(n), self._sums[0]])
            self._counts = np.stack([np.zeros(n), self._counts[0]])
            self._next = 2 * self._draws

    def mean(self, otherwise: Float64Array) -> Float64Array:
        """Return each row's mean slope; `otherwise` where it was not drawn."""
        sums, counts = self._sums.sum(axis=0), self._counts.sum(axis=0)
        return np.where(counts > 0, sums / np.maximum(counts, 1.0), otherwise)
