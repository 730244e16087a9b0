"""Laws of a loss as a function of z: derivatives, convexity, constants, stability."""

import warnings
from collections.abc import Callable
from typing import Final

import numpy as np

from tikhon.losses import Loss
from tikhon.testing.samples import (
    EXTREMES,
    FLOAT_TYPES,
    directions,
    extreme_predictions,
    inner,
    length,
    require,
    sample_predictions,
    sample_targets,
)
from tikhon.testing.tolerances import ATTAINED, difference_step, rounding
from tikhon.typing import FloatArray

LossLaw = Callable[[Loss, np.random.Generator], None]


def _size(loss: Loss, y: FloatArray, z: FloatArray) -> FloatArray:
    return 1 + np.abs(y) + length(loss, z)


def derivative_is_the_slope(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``derivative`` to lie between the one-sided difference quotients of ``value``.

    That is exactly what a subgradient of a convex function does, so kinks need no exception.
    """
    y = sample_targets(loss, rng)
    z = sample_predictions(loss, y, rng)
    h = difference_step(z.dtype)
    here, d = loss.value(y, z), loss.derivative(y, z)
    for e in directions(loss, z):
        ahead, behind = loss.value(y, z + h * e), loss.value(y, z - h * e)
        slope = inner(loss, d, e)
        terms = np.abs(here) + np.abs(ahead) + np.abs(behind) + np.abs(slope)
        slack = rounding(z.dtype, _size(loss, y, z) * terms) / h
        holds = ((here - behind) / h - slack <= slope) & (slope <= (ahead - here) / h + slack)
        require(holds, loss, "`derivative` must be the slope of `value`")


def curvature_is_the_slope_of_the_derivative(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``curvature`` to lie between the one-sided quotients of ``derivative``."""
    y = sample_targets(loss, rng)
    z = sample_predictions(loss, y, rng)
    h = difference_step(z.dtype)
    curvature = loss.curvature(y, z)
    require(curvature.shape == z.shape, loss, "`curvature` must have the shape of z")
    for e in directions(loss, z):
        here = inner(loss, loss.derivative(y, z), e)
        ahead = inner(loss, loss.derivative(y, z + h * e), e)
        behind = inner(loss, loss.derivative(y, z - h * e), e)
        terms = np.abs(here) + np.abs(ahead) + np.abs(behind)
        slack = rounding(z.dtype, _size(loss, y, z) * terms) / h
        low = np.minimum(ahead - here, here - behind) / h - slack
        high = np.maximum(ahead - here, here - behind) / h + slack
        found = inner(loss, curvature, e)
        holds = (low <= found) & (found <= high)
        require(holds, loss, "`curvature` must be the slope of `derivative`")


def value_is_convex(loss: Loss, rng: np.random.Generator) -> None:
    """Require the loss at the mean of two predictions to be at most the mean of the losses."""
    y = sample_targets(loss, rng)
    a, b = sample_predictions(loss, y, rng), sample_predictions(loss, y, rng)
    ends = loss.value(y, a), loss.value(y, b)
    middle = loss.value(y, 0.5 * a + 0.5 * b)
    size = _size(loss, y, a) + _size(loss, y, b)
    slack = rounding(a.dtype, size, *ends)
    require(middle <= 0.5 * ends[0] + 0.5 * ends[1] + slack, loss, "`value` must be convex in z")


def tangents_lie_below(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``value(z') >= value(z) + derivative(z) (z' - z)`` for points far apart."""
    y = sample_targets(loss, rng)
    a, b = sample_predictions(loss, y, rng), sample_predictions(loss, y, rng)
    there, d = loss.value(y, a), loss.derivative(y, a)
    rise = inner(loss, d, b - a)
    size = _size(loss, y, a) * (1 + length(loss, d)) + _size(loss, y, b)
    slack = rounding(a.dtype, size, there, rise, loss.value(y, b))
    require(loss.value(y, b) >= there + rise - slack, loss, "tangents must lie below `value`")


def constants_bound_the_derivatives(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``lipschitz`` and ``smoothness`` to be attained but not exceeded."""
    y, z, dz = _wide_sample(loss, rng)
    slope = length(loss, loss.derivative(y, z))
    if loss.lipschitz is not None:
        bound = loss.lipschitz * (1 + rounding(z.dtype))
        require(slope <= bound, loss, "`lipschitz` must bound the derivative")
        close = slope.max() >= loss.lipschitz * (1 - ATTAINED)
        require(close, loss, "`lipschitz` must be approached, not merely bound the derivative")
    if loss.smoothness is not None:
        change = length(loss, loss.derivative(y, z + dz) - loss.derivative(y, z))
        slack = rounding(z.dtype, _size(loss, y, z) * (1 + slope))
        bound = loss.smoothness * length(loss, dz) + slack
        require(change <= bound, loss, "`smoothness` must bound the change of the derivative")
        close = (change / length(loss, dz)).max() >= loss.smoothness * (1 - ATTAINED)
        require(close, loss, "`smoothness` must be approached, not merely be a bound")


def _wide_sample(loss: Loss, rng: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return targets, predictions near and far from them and from ties, and small steps."""
    y = sample_targets(loss, rng)
    if loss.per_class:
        far = -1e3 * np.eye(3)
        z = np.concatenate([sample_predictions(loss, y, rng), np.zeros((3, 3)), far, -far])
        y = np.concatenate([y, np.resize([1.0, 2.0, 0.0], 9)])  # never the class on top
        dz = np.roll(np.eye(3), 1, axis=1) - np.roll(np.eye(3), 2, axis=1)  # along the ties of far
        return y, z, 1e-3 * np.resize(dz, z.shape)
    offsets = np.concatenate([[0.0], np.logspace(-2, 3, 24), -np.logspace(-2, 3, 24)])
    z = np.concatenate([np.add.outer(np.zeros_like(y), offsets), np.add.outer(y, offsets)], axis=1)
    return y[:, None], z, np.full_like(z, 1e-3)


def nothing_overflows(loss: Loss, rng: np.random.Generator) -> None:
    """Require no NaN, no warning and no broken bound at |z| in 30, 40, 710, 1e4, 1e308.

    An infinite value is allowed where it is what the loss is worth, and never below a tangent.
    """
    for dtype in FLOAT_TYPES:
        sizes = EXTREMES if dtype == np.float64 else (*EXTREMES[:-1], 1e38)
        z = extreme_predictions(loss, sizes).astype(dtype)
        y = sample_targets(loss, rng).astype(dtype)
        y, z = np.repeat(y, len(z)), np.concatenate([z] * len(y))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            value, d, c = loss.value(y, z), loss.derivative(y, z), loss.curvature(y, z)
        clean = not any(np.isnan(part).any() for part in (value, d, c))
        require(clean, loss, f"no value may be NaN at |z| up to {sizes[-1]:g}")
        require(c >= 0, loss, f"`curvature` must be >= 0 at |z| up to {sizes[-1]:g}")
        if loss.lipschitz is not None:
            bound = loss.lipschitz * (1 + rounding(dtype))
            require(length(loss, d) <= bound, loss, "`lipschitz` must hold at extreme z")
        origin = np.zeros_like(z)
        with np.errstate(over="ignore"):
            rise = inner(loss, loss.derivative(y, origin), z).astype(np.float64)
            tangent = loss.value(y, origin) + rise
            slack = rounding(dtype, np.minimum(np.abs(rise), 1e300), y)
            above = np.isposinf(value) | (value >= tangent - slack)
        require(above, loss, f"`value` must stay above its tangents at |z| up to {sizes[-1]:g}")


CALCULUS_LAWS: Final[tuple[LossLaw, ...]] = (
    derivative_is_the_slope,
    curvature_is_the_slope_of_the_derivative,
    value_is_convex,
    tangents_lie_below,
    constants_bound_the_derivatives,
    nothing_overflows,
)
