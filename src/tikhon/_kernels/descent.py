"""Whole paths of strengths in one call: coordinate-wise penalties on least squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tikhon import _native
from tikhon._kernels.checks import check_array
from tikhon.typing import Float64Array

__all__ = ["CONVERGED", "STALLED", "STOPPED", "GramPath", "Stop", "gram_path"]

CONVERGED, STALLED, STOPPED = 0, 1, 2
"""How the solution of one strength ended."""


class Stop(_native.Stop):
    """A request to end early, by another thread (`request`) or by the clock.

    Parameters
    ----------
    seconds : float, default infinity
        From now on, after which the time is up.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        super().__init__(seconds)


@dataclass(frozen=True, slots=True, eq=False)
class GramPath:
    """Solutions of a path, (L, m), how each ended, and how many were solved before the stop."""

    coefs: Float64Array
    status: NDArray[np.intc]
    solved: int


def gram_path(
    K: Float64Array,
    c: Float64Array,
    penalty: tuple[Float64Array, Float64Array, Float64Array, Float64Array],
    lams: Float64Array,
    *,
    relative: float,
    absolute: float,
    start: Float64Array | None = None,
    stop: Stop | None = None,
) -> GramPath:
    """Minimise ``w'Kw / 2 - c'w`` plus a coordinate penalty at each strength, in order.

    Parameters
    ----------
    K
        Symmetric, shape (m, m), rows contiguous.
    c
        Shape (m,).
    penalty
        Sizes, squares, lower and upper bounds: four arrays of shape (m,).
    lams
        Strengths, shape (L,).
    relative, absolute
        A coordinate is at rest when its slope exceeds what the penalty allows by at most
        ``relative * lam * l1 + absolute``.
    start
        Where the first strength starts, shape (m,); zeros when None.
    stop
        Ends the work early; rows of `coefs` from `solved` on then hold the last iterate.
    """
    m = len(c)
    if not (K.dtype == np.float64 and K.shape == (m, m) and K.strides[1] == K.itemsize):
        raise ValueError(f"`K` must be a float64 matrix of shape {(m, m)} with contiguous rows.")
    check_array("c", c, np.float64, (m,))
    for name, part in zip(("l1", "l2", "lower", "upper"), penalty, strict=True):
        check_array(name, part, np.float64, (m,))
    check_array("lams", lams, np.float64, (None,))
    w = np.zeros(m) if start is None else np.array(start, dtype=np.float64)
    check_array("start", w, np.float64, (m,), written=True)
    out = np.empty((len(lams), m))
    status = np.empty(len(lams), dtype=np.intc)
    solved = _native.gram_path(
        K,
        c,
        *penalty,
        lams,
        relative,
        absolute,
        w,
        out,
        status,
        stop or Stop(),
    )
    return GramPath(out, status, solved)
