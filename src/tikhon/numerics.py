"""Scalar functions that neither overflow nor cancel, applied elementwise.

``log(1 + exp(t))``, ``1 / (1 + exp(-t))`` and their neighbours, in branches that keep the full
relative accuracy of the float type they are given. Losses and penalties build on these; nothing
here knows of either. Every function is elementwise, keeps float32 as float32, and is silent: a
result that truly exceeds the float range is ``inf``, without a warning.
"""

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import special

from tikhon.typing import FloatArray

DOMAIN_SLACK: Final = 8
"""Units in the last place by which a point may leave a domain and still be clipped into it."""


def log1pexp(t: FloatArray) -> FloatArray:
    """Return ``log(1 + exp(t))``.

    Computed as ``max(t, 0) + log1p(exp(-|t|))``: relatively accurate on both sides.

    Examples
    --------
    >>> log1pexp(np.array([-40.0, 0.0, 1e308]))
    array([4.24835426e-018, 6.93147181e-001, 1.00000000e+308])
    """
    result: FloatArray = np.logaddexp(0.0, t)
    return result


def expit(t: FloatArray) -> FloatArray:
    """Return ``1 / (1 + exp(-t))``.

    Examples
    --------
    >>> expit(np.array([-1e308, 0.0, 1e308]))
    array([0. , 0.5, 1. ])
    """
    result: FloatArray = special.expit(t)
    return result


def logit(p: FloatArray) -> FloatArray:
    """Return ``log(p / (1 - p))``, ``-inf`` at 0 and ``inf`` at 1.

    Examples
    --------
    >>> logit(np.array([0.0, 0.5, 1.0]))
    array([-inf,   0.,  inf])
    """
    result: FloatArray = special.logit(p)
    return result


def exp(z: FloatArray) -> FloatArray:
    """Return ``exp(z)``, ``inf`` where that exceeds the float range, without a warning.

    Examples
    --------
    >>> exp(np.array([-1e308, 0.0, 1e308]))
    array([ 0.,  1., inf])
    """
    with np.errstate(over="ignore"):
        result: FloatArray = np.exp(z)
    return result


def log(x: FloatArray) -> FloatArray:
    """Return ``log(x)``, ``-inf`` at 0, without a warning.

    Examples
    --------
    >>> log(np.array([0.0, 1.0]))
    array([-inf,   0.])
    """
    with np.errstate(divide="ignore"):
        result: FloatArray = np.log(x)
    return result


def xlogx(x: FloatArray) -> FloatArray:
    """Return ``x log(x)``, 0 at 0.

    Examples
    --------
    >>> xlogx(np.array([0.0, 1.0]))
    array([0., 0.])
    """
    result: FloatArray = special.xlogy(x, x)
    return result


def xlog1py(x: FloatArray, t: FloatArray) -> FloatArray:
    """Return ``x log(1 + t)``, 0 where ``x`` is 0 even if ``t`` is -1.

    Examples
    --------
    >>> xlog1py(np.array([0.0]), np.array([-1.0]))
    array([0.])
    """
    result: FloatArray = special.xlog1py(x, t)
    return result


def times(a: npt.ArrayLike, b: npt.ArrayLike) -> FloatArray:
    """Return ``a b`` with ``0 * inf = 0``: the convention of convex analysis.

    Examples
    --------
    >>> times(np.array([0.0, 2.0]), np.array([np.inf, -np.inf]))
    array([  0., -inf])
    """
    with np.errstate(over="ignore", invalid="ignore"):
        product: FloatArray = np.multiply(a, b)
    zero = np.equal(a, 0) | np.equal(b, 0)
    return np.where(zero, product.dtype.type(0), product)


def clip_within(
    x: FloatArray,
    low: npt.ArrayLike,
    high: npt.ArrayLike,
    scale: npt.ArrayLike = 1.0,
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Clip ``x`` to ``[low, high]`` and tell which entries were inside, but for rounding.

    An entry counts as inside when it leaves the interval by at most ``8 eps scale``, with ``eps``
    that of the float type of ``x`` and ``scale`` the magnitude of the numbers it was computed
    from. NaN is outside.

    Returns
    -------
    clipped : array
        ``min(max(x, low), high)``, in the float type of ``x``.
    inside : array of bool

    Examples
    --------
    >>> clip_within(np.array([1 + 2e-16, 1.1]), 0.0, 1.0)
    (array([1., 1.]), array([ True, False]))
    """
    x = np.asarray(x)
    low = np.asarray(low, dtype=x.dtype)
    high = np.asarray(high, dtype=x.dtype)
    slack = DOMAIN_SLACK * np.finfo(x.dtype).eps * np.asarray(scale, dtype=x.dtype)
    inside = (x >= low - slack) & (x <= high + slack)
    return np.clip(x, low, high), inside
