"""Weights of the adaptive lasso: columns that a first fit found important are penalised less."""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.typing import Float64Array

FLOOR = 1e-6
"""The default floor, over the largest coefficient: a zero counts as a millionth of the largest."""


def adaptive_weights(coef: Any, gamma: float = 1.0, floor: float | None = None) -> Float64Array:
    """Return the weights of the adaptive lasso, ``max(|coef_j|, floor)^-gamma``.

    For ``Weighted(L1(), adaptive_weights(first.coef_))``: a large coefficient is hardly shrunk, a
    small one is, and with a consistent first fit the support and the coefficients come out as if
    the true support had been known. Lasso with these weights is lasso on the columns multiplied
    by ``|coef_j|^gamma``.

    The weights are not scaled to a mean of 1. A common factor only renumbers the strengths (a grid
    starts at `lam_max`, which has the factor in it), while a mean would hang on the floor: on how
    many coefficients are 0, and on what a 0 counts for.

    Parameters
    ----------
    coef : array of shape (d,), or fitted model
        Coefficients of a first fit, or what has them as `coef_`: ridge, least squares, lasso. In
        the units in which the penalty will act: for columns that the second fit standardizes,
        multiply them by the columns' standard deviations.
    gamma : float, default 1
        How strongly the first fit is believed, > 0.
    floor : float, optional
        Smaller coefficients, and zeros, are taken for this large, so that every weight is finite
        and every column keeps a chance. By default 1e-6 times the largest coefficient.

    Returns
    -------
    ndarray of shape (d,)

    Raises
    ------
    ValueError
        If no finite positive weights come out: coefficients that are all 0 or not finite, or
        powers beyond the range of float64.

    Examples
    --------
    >>> from tikhon.penalties import L1, Weighted
    >>> adaptive_weights(np.array([2.0, -0.5, 0.0]), floor=0.1)
    array([ 0.5,  2. , 10. ])
    >>> Weighted(L1(), adaptive_weights([2.0, -0.5], gamma=2.0)).value(np.array([2.0, -0.5]))
    2.5
    """
    if not 0 < gamma < np.inf:
        raise ValueError(f"`gamma` must be > 0 and finite, got {gamma}.")
    sizes = np.abs(np.asarray(getattr(coef, "coef_", coef), dtype=np.float64))
    if sizes.ndim != 1:
        raise ValueError(
            f"`coef` must be one number per column, got shape {sizes.shape}. For several targets "
            "give one size per column, such as the norm of its coefficients over the targets."
        )
    if not np.isfinite(sizes).all():
        raise ValueError(f"`coef` must be finite, got {sizes[~np.isfinite(sizes)][0]}.")
    if floor is None:
        floor = FLOOR * float(sizes.max(initial=0.0))
        if floor == 0 and len(sizes):
            raise ValueError(
                "`coef` is 0 in every column, so no column is more important than another. Use a "
                "first fit with a smaller `lam`, or give a `floor` > 0."
            )
    elif not 0 < floor < np.inf:
        raise ValueError(f"`floor` must be > 0 and finite, got {floor}.")
    with np.errstate(over="ignore", under="ignore"):
        weights = np.maximum(sizes, floor) ** -gamma
    if not np.all((weights > 0) & (weights < np.inf)):
        raise ValueError(
            f"`coef` to the power -{gamma:g} leaves the range of float64, at sizes from "
            f"{max(float(sizes.min()), floor):.3g} to {sizes.max():.3g}. Use a smaller `gamma`, or "
            "a larger `floor`."
        )
    return np.asarray(weights)
