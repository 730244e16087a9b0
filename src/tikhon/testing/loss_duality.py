"""Laws of the conjugate of a loss: Fenchel-Young, supremum, domain."""

from typing import Final

import numpy as np
from scipy import optimize

from tikhon.losses import Loss
from tikhon.testing.loss_calculus import LossLaw
from tikhon.testing.samples import (
    FLOAT_TYPES,
    inner,
    length,
    require,
    sample_predictions,
    sample_targets,
)
from tikhon.testing.tolerances import eps, rounding
from tikhon.typing import FloatArray

_TERNARY_STEPS: Final = 120
_ESCAPE: Final = 1e8
_OUTSIDE: Final = 1e-2


def fenchel_young(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``value(z) + conjugate(u) >= u z``, with equality at the derivative."""
    if not loss.has_conjugate:
        return
    y = sample_targets(loss, rng)
    z = sample_predictions(loss, y, rng)
    for tight, u in (
        (False, loss.feasible(y, sample_predictions(loss, y, rng))),
        (True, loss.derivative(y, z)),
    ):
        value, conjugate, product = loss.value(y, z), loss.conjugate(y, u), inner(loss, u, z)
        size = (1 + np.abs(y) + length(loss, z)) * (1 + length(loss, u))
        slack = rounding(z.dtype, size, value, conjugate)
        excess = value + conjugate - product
        require(excess >= -slack, loss, "Fenchel-Young: value(z) + conjugate(u) >= u z")
        if tight:
            require(excess <= slack, loss, "Fenchel-Young must be equal at u = derivative(z)")


def conjugate_is_the_supremum(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``conjugate(u)`` to be the largest ``u z - value(z)``, by search over z.

    u is taken between the derivatives at two points; for a single z the best one is then between
    these points, and a ternary search cannot miss it.
    """
    if not loss.has_conjugate:
        return
    y = sample_targets(loss, rng)
    a, b = sample_predictions(loss, y, rng), sample_predictions(loss, y, rng)
    share = rng.uniform(0.05, 0.95, size=(len(y),) + (1,) * (a.ndim - 1))
    u = share * loss.derivative(y, a) + (1 - share) * loss.derivative(y, b)
    search = _search_rows if loss.per_class else _search_line
    best = search(loss, y, u, a, b)
    found = loss.conjugate(y, u)
    size = (1 + np.abs(y) + length(loss, a) + length(loss, b)) * (1 + length(loss, u))
    slack = rounding(a.dtype, size, best)
    # A quasi-Newton search over classes stops at a gradient of 1e-9, hence an error of its square.
    require(np.abs(found - best) <= slack, loss, "`conjugate` must be sup_z u z - value(z)")


def _search_line(
    loss: Loss, y: FloatArray, u: FloatArray, a: FloatArray, b: FloatArray
) -> FloatArray:
    low, high = np.minimum(a, b), np.maximum(a, b)
    for _ in range(_TERNARY_STEPS):
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        rising = u * left - loss.value(y, left) < u * right - loss.value(y, right)
        low, high = np.where(rising, left, low), np.where(rising, high, right)
    candidates = [u * z - loss.value(y, z) for z in (low, high, a, b)]
    return np.asarray(np.max(candidates, axis=0))


def _search_rows(
    loss: Loss, y: FloatArray, u: FloatArray, a: FloatArray, b: FloatArray
) -> FloatArray:
    def best(row: int) -> float:
        target, slope = y[row : row + 1], u[row]

        def lost(z: FloatArray) -> tuple[float, FloatArray]:
            value = float(loss.value(target, z[None])[0] - slope @ z)
            return value, loss.derivative(target, z[None])[0] - slope

        start = 0.5 * a[row] + 0.5 * b[row]
        return -float(optimize.minimize(lost, start, jac=True, options={"gtol": 1e-9}).fun)

    return np.array([best(row) for row in range(len(y))])


def domain_is_where_the_supremum_is_finite(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``conjugate`` to be ``inf`` exactly where ``u z - value(z)`` has no bound.

    `feasible` leads into the domain by the shortest way, so the way back out is a direction in
    which z escapes; and it moves nothing that is inside.
    """
    if not loss.has_conjugate:
        return
    y = sample_targets(loss, rng)
    u = sample_predictions(loss, y, rng)
    nearest = loss.feasible(y, u)
    require(np.isfinite(loss.conjugate(y, nearest)), loss, "`feasible` must reach the domain")
    again = loss.feasible(y, nearest)
    slack = rounding(u.dtype, y, length(loss, u))
    require(length(loss, again - nearest) <= slack, loss, "`feasible` must leave its image alone")
    distance = length(loss, u - nearest)
    outside, inside = distance > _OUTSIDE, distance == 0
    require(np.isinf(loss.conjugate(y, u)[outside]), loss, "`conjugate` must be inf off its domain")
    require(np.isfinite(loss.conjugate(y, u)[inside]), loss, "`conjugate` must be finite inside")
    z = _ESCAPE * (u - nearest)
    reached = inner(loss, u, z) - loss.value(y, z)
    escapes = reached >= 0.5 * _ESCAPE * distance**2
    require(escapes[outside], loss, "the supremum must be infinite where `feasible` moves u")


def rounding_does_not_leave_the_domain(loss: Loss, rng: np.random.Generator) -> None:
    """Require a finite conjugate at each derivative, and one ulp off, in float32 too."""
    if not loss.has_conjugate:
        return
    for dtype in FLOAT_TYPES:
        y = sample_targets(loss, rng).astype(dtype)
        z = sample_predictions(loss, y, rng, scale=10.0).astype(dtype)
        u = loss.derivative(y, z)
        moderate = length(loss, u) < np.sqrt(np.finfo(dtype).max)  # its conjugate is a float
        y, u = y[moderate], u[moderate]
        finite = np.isfinite(loss.conjugate(y, u))
        require(finite, loss, "the derivative must be in the domain of the conjugate")
        nudged = u * dtype.type(1 + eps(dtype))
        finite = np.isfinite(loss.conjugate(y, nudged))
        require(finite, loss, "one ulp must not leave the domain of the conjugate")


DUALITY_LAWS: Final[tuple[LossLaw, ...]] = (
    fenchel_young,
    conjugate_is_the_supremum,
    domain_is_where_the_supremum_is_finite,
    rounding_does_not_leave_the_domain,
)
