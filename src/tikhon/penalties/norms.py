"""The three norms of the lectures: the count of nonzeros, the sum of sizes, the Euclidean length.

Over all entries of an array, in float64.
"""

import numpy as np

from tikhon.typing import FloatArray


def l0(w: FloatArray) -> int:
    """Return the number of nonzero entries: a count, not a norm.

    Examples
    --------
    >>> l0(np.array([3.0, 0.0, -4.0]))
    2
    """
    return int(np.count_nonzero(w))


def l1(w: FloatArray) -> float:
    """Return ``sum_j |w_j|``.

    Examples
    --------
    >>> l1(np.array([3.0, 0.0, -4.0]))
    7.0
    """
    return float(np.sum(np.abs(w), dtype=np.float64))


def l2(w: FloatArray) -> float:
    """Return ``sqrt(sum_j w_j^2)``, scaled by the largest entry so that no square overflows.

    Examples
    --------
    >>> l2(np.array([3.0, 0.0, -4.0]))
    5.0
    >>> l2(np.array([0.0, -4e200]))
    4e+200
    """
    largest = float(np.max(np.abs(w), initial=0.0))
    if largest == 0 or not np.isfinite(largest):
        return largest
    scaled = np.asarray(w, dtype=np.float64) / largest
    return largest * float(np.sqrt(np.sum(scaled * scaled)))
