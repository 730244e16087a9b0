"""Laws of the conjugate of a penalty, and of the strength at which every coefficient vanishes."""

from typing import Final

import numpy as np

from tikhon.penalties import Penalty
from tikhon.testing.penalty_calculus import STEPS, PenaltyLaw, shapes
from tikhon.testing.samples import require, sample_coefficients, sample_gradient
from tikhon.testing.tolerances import STRENGTH_MARGIN, rounding
from tikhon.typing import FloatArray

_ASCENT_STEPS: Final = 60
_FAR: Final = 1e6
_CLEARLY_OUTSIDE: Final = 0.9


def moreau_identity(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``w = p + step q`` with ``p = prox(w)`` and ``R(p) + R*(q) = <p, q>``.

    q is then the prox of the conjugate, ``prox_{R*/step}(w / step)``.
    """
    if not penalty.has_conjugate:
        return
    for shape in shapes(n_features):
        w = 3 * rng.normal(size=shape)
        for step in STEPS:
            p = penalty.prox(w, step)
            q = (w - p) / step
            scale = penalty.dual_scale(q)
            slack = rounding(w.dtype, np.abs(w).max() / step) * n_features
            require(scale >= 1 - slack, penalty, "(w - prox(w)) / step must be in the dual domain")
            value, conjugate = penalty.value(p), penalty.conjugate(scale * q)
            terms = rounding(w.dtype, value, conjugate, np.abs(p) @ np.abs(q).T) * n_features
            gap = value + conjugate - scale * np.sum(p * q)
            close = abs(gap) <= terms.max() + slack * value
            require(close, penalty, "Moreau: R(p) + R*(q) = <p, q> for w = p + step q")


def fenchel_young(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``R(w) + R*(v) >= <w, v>``."""
    if not penalty.has_conjugate:
        return
    for shape in shapes(n_features):
        w, v = sample_coefficients(penalty, shape, rng), sample_gradient(shape, rng)
        v = _dual_point(penalty, v)
        value, conjugate = penalty.value(w), penalty.conjugate(v)
        slack = rounding(w.dtype, value, np.sum(np.abs(w * v)))
        holds = value + conjugate >= np.sum(w * v) - slack
        require(holds, penalty, "Fenchel-Young: R(w) + R*(v) >= <w, v>")


def conjugate_is_the_supremum(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``conjugate(v)`` to be the largest ``<w, v> - R(w)``, by ascent.

    Proximal steps of growing length climb to the supremum; off the domain they escape to infinity.
    """
    if not penalty.has_conjugate:
        return
    for shape in shapes(n_features):
        for v in (sample_gradient(shape, rng), -np.abs(sample_gradient(shape, rng))):
            inside = _dual_point(penalty, v)
            found = penalty.conjugate(inside)
            reached, size = _ascend(penalty, inside)
            # The last step s leaves at most ||w||^2 / s to climb: 2^-60 of it.
            slack = rounding(v.dtype, found, size) * n_features
            require(abs(found - reached) <= slack, penalty, "`conjugate` must be sup <w, v> - R(w)")
            if penalty.dual_scale(v) < _CLEARLY_OUTSIDE:
                require(np.isinf(penalty.conjugate(v)), penalty, "`conjugate` must be inf outside")
                escapes = _ascend(penalty, v)[0] > _FAR
                require(escapes, penalty, "`conjugate` may be inf only where the supremum is")


def _dual_point(penalty: Penalty, v: FloatArray) -> FloatArray:
    """Return v scaled into the domain, its entries that no scale rescues set to 0."""
    if penalty.dual_scale(v) > 0:
        return np.asarray(penalty.dual_scale(v) * v)
    kept = v.copy()
    for row in range(len(v)):
        alone = np.zeros_like(v)
        alone[row] = v[row]
        if penalty.dual_scale(alone) == 0:
            kept[row] = np.minimum(v[row], 0)
            alone[row] = kept[row]
        if penalty.dual_scale(alone) == 0:
            kept[row] = 0
    return np.asarray(penalty.dual_scale(kept) * kept)


def _ascend(penalty: Penalty, v: FloatArray) -> tuple[float, float]:
    """Return the highest ``<w, v> - R(w)`` met, and the size of its terms there."""
    w = penalty.prox(np.zeros_like(v), 1.0)
    best = (-np.inf, 0.0)
    for k in range(_ASCENT_STEPS):
        step = 2.0**k
        w = penalty.prox(w + step * v, step)
        value = penalty.value(w)
        best = max(best, (float(np.sum(w * v)) - value, value + float(np.sum(np.abs(w * v)))))
    return best


def dual_scale_is_exact(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``conjugate(t v)`` to be finite at ``t = dual_scale(v)`` and infinite beyond."""
    if not penalty.has_conjugate:
        return
    for shape in shapes(n_features):
        for v in (sample_gradient(shape, rng), -np.abs(sample_gradient(shape, rng))):
            t = penalty.dual_scale(v)
            require(0 <= t <= 1, penalty, "`dual_scale` must be between 0 and 1")
            finite = np.isfinite(penalty.conjugate(t * v))
            require(finite, penalty, "`dual_scale` must lead into the domain")
            narrow = v.astype(np.float32)
            finite = np.isfinite(penalty.conjugate(penalty.dual_scale(narrow) * narrow))
            require(finite, penalty, "`dual_scale` must lead into the domain in float32")
            beyond = max(t * (1 + STRENGTH_MARGIN), STRENGTH_MARGIN)
            if t < 1:
                infinite = np.isinf(penalty.conjugate(beyond * v))
                require(infinite, penalty, "`dual_scale` must be the largest scale")


def lam_max_is_exact(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require 0 to be optimal at lam_max, and not at a strength one millionth smaller."""
    for shape in shapes(n_features):
        for g in (sample_gradient(shape, rng), np.abs(sample_gradient(shape, rng))):
            lam = penalty.lam_max(g)
            bound = ~penalty.unpenalised(n_features)
            zero = np.zeros(shape)
            if np.isinf(lam):
                left = penalty.subgradient_distance(zero, g / _FAR)[bound]
                require(left.max() > 0, penalty, "`lam_max` is inf only if no strength suffices")
            elif lam == 0:
                left = penalty.subgradient_distance(zero, g * _FAR)[bound]
                require(left == 0, penalty, "`lam_max` is 0 only if every strength suffices")
            else:
                at = penalty.subgradient_distance(zero, g / lam)[bound]
                slack = rounding(g.dtype, np.abs(g).max() / lam)
                require(at <= slack, penalty, "0 must be optimal at `lam_max`")
                below = lam * (1 - STRENGTH_MARGIN)
                left = penalty.subgradient_distance(zero, g / below)[bound]
                require(left.max() > slack, penalty, "0 must not be optimal below `lam_max`")


DUALITY_LAWS: Final[tuple[PenaltyLaw, ...]] = (
    moreau_identity,
    fenchel_young,
    conjugate_is_the_supremum,
    dual_scale_is_exact,
    lam_max_is_exact,
)
