"""Soft and hard thresholding: the proximal operators of ``||w||_1`` and of the count of nonzeros.

soft(x, t) = argmin_v  t |v| + (v - x)^2 / 2      = sign(x) max(|x| - t, 0)
hard(x, t) = argmin_v  (t^2 / 2) [v != 0] + (v - x)^2 / 2   = x if |x| > t else 0
"""

import numpy as np
import numpy.typing as npt

from tikhon.typing import FloatArray


def soft_threshold(x: FloatArray, t: npt.ArrayLike) -> FloatArray:
    """Shrink `x` towards 0 by `t`, and to 0 where it is smaller.

    ``sign(x) max(|x| - t, 0)``, computed as x minus x clipped to [-t, t].

    Parameters
    ----------
    x : array
    t : float or array that broadcasts against `x`
        Thresholds, >= 0.

    Raises
    ------
    ValueError
        If a threshold is negative or NaN.

    Examples
    --------
    >>> soft_threshold(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-2.,  0.,  1.])
    """
    x = np.asarray(x)
    t = _checked(t, x)
    return np.asarray(x - np.clip(x, -t, t))


def hard_threshold(x: FloatArray, t: npt.ArrayLike) -> FloatArray:
    """Keep the entries of `x` larger than `t` in size, and set the others to 0.

    ``x if |x| > t else 0``.

    Parameters
    ----------
    x : array
    t : float or array that broadcasts against `x`
        Thresholds, >= 0.

    Raises
    ------
    ValueError
        If a threshold is negative or NaN.

    Examples
    --------
    >>> hard_threshold(np.array([-3.0, 0.5, 2.0]), 1.0)
    array([-3.,  0.,  2.])
    """
    x = np.asarray(x)
    return np.where(np.abs(x) > _checked(t, x), x, x.dtype.type(0))


def _checked(t: npt.ArrayLike, x: FloatArray) -> FloatArray:
    thresholds = np.asarray(t, dtype=x.dtype)
    if not np.all(thresholds >= 0):
        raise ValueError(f"`t` must be >= 0, got {np.min(thresholds)}.")
    return thresholds
