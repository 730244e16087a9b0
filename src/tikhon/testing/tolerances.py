"""How closely a law must hold: every tolerance of the tests, derived from the float type.

A quantity computed in a few operations from numbers of size m is trusted to ``ULPS eps m``. A
difference quotient of step h divides that by h, and adds what Taylor's formula leaves out. The few
numbers that are not derived are sizes of the experiments themselves, and stated where they stand.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from tikhon.typing import FloatArray

ULPS: Final = 64
"""Rounding granted to one evaluation, in units of the last place of its largest term."""

STRENGTH_MARGIN: Final = 1e-6
"""How far below lam_max zero must already fail to be optimal, relatively."""

ATTAINED: Final = 1e-2
"""How closely some sampled point must come to a stated constant, relatively."""

TINY_PROX_STEP: Final = 2.0**-20
"""Step of the proximal operator that measures the distance to the subdifferential.

Its truncation error is this times the curvature of the penalty, its rounding eps over this.
"""


def eps(dtype: npt.DTypeLike) -> float:
    """Return the spacing of floats at 1.

    Examples
    --------
    >>> eps(np.float32) > eps(np.float64)
    True
    """
    return float(np.finfo(np.dtype(dtype).type).eps)


def rounding(dtype: npt.DTypeLike, *terms: npt.ArrayLike) -> FloatArray:
    """Return the rounding granted to a sum of `terms` of known size; at least that of 1."""
    size = np.ones(()) + sum(np.abs(np.asarray(term, dtype=np.float64)) for term in terms)
    return np.asarray(ULPS * eps(dtype) * size)


def difference_step(dtype: npt.DTypeLike) -> float:
    """Return the step of difference quotients: the power of two nearest ``eps^(1/3)``.

    One-sided quotients bracket the derivative of a convex function, so the step balances only
    rounding ``eps / h`` against the width ``h`` of the bracket; a power of two adds no rounding.
    """
    return float(2.0 ** np.round(np.log2(eps(dtype)) / 3))


def truncation(step: float, *derivatives: npt.ArrayLike) -> FloatArray:
    """Return what a quotient of this step leaves out, given the size of what it neglects."""
    size = np.ones(()) + sum(np.abs(np.asarray(d, dtype=np.float64)) for d in derivatives)
    return np.asarray(step * size)
