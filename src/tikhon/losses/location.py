"""Best constant predictions: weighted means, weighted quantiles, and a safe root in one dimension.

Every `Loss.null_prediction` is one of these. Weights `s` have shape (n,) and are normalised before
use, in float64, so that neither their scale nor the float type of the targets matters.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from tikhon.numerics import log
from tikhon.typing import FloatArray

_LARGEST: Final = 1e300
_BOUNDED: Final = 1e60


def normalised_weights(y: FloatArray, s: FloatArray | None) -> FloatArray:
    """Return float64 weights of shape (n,) that sum to one; equal ones when `s` is None.

    Raises
    ------
    ValueError
        If `s` has another length than `y`, a negative or infinite entry, or no positive one.
    """
    n = len(y)
    weights = np.ones(n) if s is None else np.asarray(s, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"`s` must have one weight per row, shape ({n},), got {weights.shape}.")
    total = float(weights.sum())
    if not (0 < total < np.inf and weights.min() >= 0):
        raise ValueError(f"`s` must be non-negative with a positive finite sum, got sum {total}.")
    return weights / total


def weighted_mean(y: FloatArray, s: FloatArray | None) -> FloatArray:
    """Return ``sum_i s_i y_i / sum_i s_i``, one per target, in float64."""
    weights = normalised_weights(y, s)
    return np.asarray(weights @ np.asarray(y, dtype=np.float64))


def class_log_odds(y: FloatArray, s: FloatArray | None) -> FloatArray:
    """Return ``log(weight of +1) - log(weight of -1)``, one per target; infinite for one class."""
    weights = normalised_weights(y, s)
    positive = np.asarray(weights @ np.greater(y, 0))
    negative = np.asarray(weights @ np.less_equal(y, 0))
    return np.asarray(log(positive) - log(negative))


def weighted_quantile(values: FloatArray, weights: FloatArray, q: float) -> float:
    """Return a minimiser of ``sum_i s_i [q (v_i - z)_+ + (1 - q) (z - v_i)_+]`` over z.

    The smallest value whose cumulated weight exceeds q; where a cumulated weight equals q, but
    for rounding, every point up to the next value is a minimiser and the middle is returned, so
    that the median of an even sample is the usual one.

    Examples
    --------
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0, 9.0]), np.full(4, 0.25), 0.5)
    2.5
    """
    kept = weights > 0
    values, weights = values[kept], weights[kept]
    order = np.argsort(values, kind="stable")
    values, cumulated = values[order], np.cumsum(weights[order])
    level = q * cumulated[-1]
    rounding = 4 * len(values) * float(np.finfo(np.float64).eps)
    last = len(values) - 1
    first = min(int(np.searchsorted(cumulated, level - rounding)), last)
    if abs(cumulated[first] - level) <= rounding and first < last:
        return float(values[first] + 0.5 * (values[first + 1] - values[first]))
    return float(values[first])


def root_of_increasing(slope: Callable[[float], float]) -> float:
    """Return z where the non-decreasing `slope` changes sign, ``inf`` or ``-inf`` if it never does.

    The bracket grows sixteenfold from [-1, 1] and Brent's method closes it. Values are bounded
    first, so that an infinite slope cannot poison the interpolation: Brent's method then needs no
    smoothness, and finds the jump of a discontinuous slope as well. A slope that underflows to
    zero far out counts as zero there.
    """
    from scipy import optimize  # slow to import, and most losses never come here

    middle = slope(0.0)
    if middle == 0:
        return 0.0
    direction = -1.0 if middle > 0 else 1.0
    near, far = 0.0, direction
    while slope(far) * direction < 0:
        near, far = far, 16 * far
        if abs(far) > _LARGEST:
            return direction * np.inf
    root = optimize.brentq(
        lambda z: min(max(slope(z), -_BOUNDED), _BOUNDED),
        near,
        far,
        xtol=1e-300,
        rtol=4 * np.finfo(np.float64).eps,
        maxiter=5000,
    )
    return float(root)


def per_target(
    y: FloatArray, s: FloatArray | None, minimise: Callable[[FloatArray, FloatArray], float]
) -> FloatArray:
    """Apply ``minimise(values, weights)`` to each column of `y`; shape () or (n_targets,)."""
    weights = normalised_weights(y, s)
    targets = np.asarray(y, dtype=np.float64)
    if targets.ndim == 1:
        return np.asarray(minimise(targets, weights))
    return np.array([minimise(column, weights) for column in targets.T])
