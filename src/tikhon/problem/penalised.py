"""Certificates of the squared loss with any penalty, many coefficient vectors to a pass.

With centred residuals r_c, ``S = sum p r_c^2``, g = X~' P r_c and the dual point ``u = t r_c``,
where t in (0, 1] makes ``R*(t g / lam)`` finite, the gap is a sum of three terms that vanish at
the optimum:

    gap = (sum p r)^2 / 2 + S (1 - t)^2 / 2 + [ lam R(w) + lam R*(t g / lam) - t w'g ]

Without an intercept r_c = r and the first term is absent. Columns without a penalty ask for g = 0
exactly, and so do columns with nothing but a bound, where they are off it: r_c is first projected
off these, which adds half of what the projection takes away.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.penalties.base import Penalty
from tikhon.problem.squared import Frame, NullModel, null_model, residual_pass
from tikhon.results import Certificate
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Certified", "penalised_certificates"]

PROJECTIONS = 5
"""Rounds in which columns with nothing but a bound may turn out to be in the way."""


@dataclass(frozen=True, slots=True, eq=False)
class Certified:
    """What a pass over the rows says of K coefficient vectors.

    Attributes
    ----------
    certificates : tuple of Certificate
    correlation : ndarray of shape (K, d, targets)
        Of the residuals with the columns of the frame.
    losses : ndarray of shape (K,)
        Mean loss on these rows, without the penalty.
    """

    certificates: tuple[Certificate, ...]
    correlation: Float64Array
    losses: Float64Array


def penalised_certificates(
    frame: Frame,
    penalty: Penalty,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
    null: NullModel | None = None,
) -> Certified:
    """Certify coefficients (K, d, targets), intercepts (K, targets) on the user's scale.

    `penalty` is the one of the user's coefficients; where the frame scales columns it penalises
    those of the scaled ones.
    """
    null = null or null_model(frame)
    penalty = penalty.on_scaled(frame.view.scale)
    W, offset = frame.from_user(coefs, intercepts)
    seen = residual_pass(frame, W, offset)
    mean = seen.mean if frame.intercept else np.zeros_like(seen.mean)
    spread = (seen.square - mean**2).sum(axis=1)
    dual = _DualPoints.of(frame, penalty, seen.correlation)
    certificates = []
    for k, lam in enumerate(lams):
        w = _flat(W[k])
        v, projected = dual.at(k, float(lam), w)
        value = penalty.value(w)
        t = penalty.dual_scale(v)
        gap = lam * (value + penalty.conjugate(t * v) - t * float(np.sum(w * v)))
        gap += (float(np.sum(mean[k] ** 2)) + projected) / 2.0
        gap += max(spread[k] - projected, 0.0) * (1.0 - t) ** 2 / 2.0
        distance = penalty.subgradient_distance(w, -_flat(seen.correlation[k]) / lam)
        kkt = np.hypot(lam * np.linalg.norm(distance), np.linalg.norm(mean[k]))
        mu = lam * penalty.strong_convexity
        gap = max(float(gap), 0.0)
        certificates.append(
            Certificate(
                gap=gap / null.objective if null.objective > 0 else gap,
                kkt=float(kkt / null.gradient if null.gradient > 0 else kkt),
                objective=float(seen.square[k].sum() / 2.0 + lam * value),
                null_objective=null.objective,
                error_bound=float(np.sqrt(2.0 * gap / mu)) if mu > 0 else None,
            )
        )
    return Certified(tuple(certificates), seen.correlation, seen.square.sum(axis=1) / 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class _DualPoints:
    """Correlations (K, d, targets) of residuals, made orthogonal to the columns that ask for it.

    `free` columns have no penalty; `bounded` ones nothing but a bound.
    """

    frame: Frame
    penalty: Penalty
    g: Float64Array
    taken: Float64Array
    free: IntArray
    bounded: BoolArray

    @classmethod
    def of(cls, frame: Frame, penalty: Penalty, g: Float64Array) -> _DualPoints:
        d = g.shape[1]
        unpenalised = penalty.unpenalised(d)
        free = np.flatnonzero(unpenalised)
        taken = np.zeros(len(g))
        if len(free):
            g, taken = _off(frame, g, free)
        form = penalty.coordinates(d)
        bounded = np.zeros(d, dtype=np.bool_)
        if form is not None:
            bounded = (form.l1 == 0) & (form.l2 == 0) & ~unpenalised
        return cls(frame, penalty, g, taken, free, bounded)

    def at(self, k: int, lam: float, w: Float64Array) -> tuple[Float64Array, float]:
        """Return ``g / lam`` for one coefficient vector, and the squares projected away."""
        g, taken, off = self.g[k], float(self.taken[k]), self.free
        if self.bounded.any():
            form = self.penalty.coordinates(len(w))
            assert form is not None
            flat = w if w.ndim == 2 else w[:, None]
            inside = np.any((flat > form.lower[:, None]) & (flat < form.upper[:, None]), axis=1)
            for _ in range(PROJECTIONS):
                upward = np.any(g > 0, axis=1) & (form.upper == np.inf)
                downward = np.any(g < 0, axis=1) & (form.lower == -np.inf)
                wrong = np.flatnonzero(self.bounded & (inside | upward | downward))
                more = np.union1d(off, wrong)
                if len(more) == len(off):
                    break
                off = more
                projected, gone = _off(self.frame, self.g[[k]], off)
                g, taken = projected[0], float(self.taken[k] + gone[0])
                g[off] = 0.0
        v = _flat(g) / lam
        v[off] = 0.0
        return v, taken


def _flat(w: Float64Array) -> Float64Array:
    """One target as a vector, which is what penalties take it for."""
    return w[:, 0].copy() if w.shape[1] == 1 else w.copy()


def _off(frame: Frame, g: Float64Array, columns: IntArray) -> tuple[Float64Array, Float64Array]:
    """Project residuals off some columns: their correlations, and the squares taken away."""
    K, d, targets = g.shape
    view = frame.view
    A = (view.base.rows_of_columns(None, columns) - view.mean[columns]) / view.scale[columns]
    p = np.full(len(A), 1.0 / len(A)) if frame.p is None else frame.p
    root = np.sqrt(p)[:, None]
    right = np.ascontiguousarray(g[:, columns].transpose(1, 0, 2)).reshape(len(columns), -1)
    # A'PA step = right, by the singular values of root A: its square would lose half the digits.
    U, e, Vt = np.linalg.svd(A * root, full_matrices=False)
    kept = e > max(A.shape) * np.finfo(np.float64).eps * max(float(e.max(initial=0.0)), 1e-300)
    half = (Vt[kept] @ right) / e[kept, None]
    taken = view.correlate((U[:, kept] @ half) * root).reshape(d, K, targets).transpose(1, 0, 2)
    squares = np.einsum("fk,fk->k", half, half).reshape(K, targets).sum(axis=1)
    return g - taken, squares
