"""Certificates of any smooth loss with any penalty, many coefficient vectors to a pass.

With ``z = x~ w + b + o``, the dual point ``u = t v``, where v is the derivative of the loss at z,
balanced for the intercept, and t in (0, 1] makes ``R*(t g / lam)`` finite with ``g = -X~' P v``:

    gap = sum p [ loss(y, z) + loss*(y, u) - u o ] + lam [ R(w) + R*(t g / lam) ]

All vectors share two products with the table: one for the predictions, one for the correlations.
Where the dual asks for g = 0 exactly (strength 0, columns without a penalty, columns with nothing
but a half-open bound) no such point is at hand; the gap is nan and the KKT residual decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.problem.dual import balanced, conjugate_about, mean_floor, row_shares
from tikhon.problem.null import best_constant
from tikhon.problem.penalised import Certified
from tikhon.results import Certificate
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = [
    "SmoothFrame",
    "SmoothNull",
    "constrained_slope",
    "has_dual",
    "smooth_certificates",
    "smooth_null",
]

ENTRIES = 2**23
"""Predictions held at once."""


@dataclass(frozen=True, eq=False)
class SmoothFrame:
    """A loss on the rows of one training set, in centred and scaled coordinates.

    Attributes
    ----------
    loss : Loss
    view : StandardizedDesign
        Columns about their weighted means (about 0 without an intercept), divided by the
        penalised scale.
    y : ndarray of shape (n, targets)
    offset : ndarray of shape (n, 1) or (n, columns of z), or None
    p : ndarray of shape (n,) or None
        Row weights summing to 1; None for equal weights.
    intercept : bool
    """

    loss: Loss
    view: StandardizedDesign
    y: Float64Array
    offset: Float64Array | None
    p: Float64Array | None
    intercept: bool

    @cached_property
    def shares(self) -> Float64Array:
        """Row weights summing to 1."""
        return row_shares(len(self.y), None) if self.p is None else self.p

    @cached_property
    def used(self) -> slice | IntArray:
        """Rows of positive weight: the others may hold anything."""
        return slice(None) if self.p is None or (self.p > 0).all() else np.flatnonzero(self.p > 0)

    @property
    def outputs(self) -> int:
        """Columns of z: targets, or classes."""
        return int(self.y.max()) + 1 if self.loss.per_class else self.y.shape[1]

    def targets(self) -> Float64Array:
        """Return y so that it broadcasts against predictions (n, vectors, outputs)."""
        return self.y if self.loss.per_class else self.y[:, None, :]

    def predict(self, V: Float64Array, b: Float64Array) -> Float64Array:
        """Return predictions (n, K, outputs) of coefficients (K, d, outputs), user's scale."""
        K, d, outputs = V.shape
        flat = np.ascontiguousarray(V.transpose(1, 0, 2)).reshape(d, -1)
        early = self.view.early_shift
        constant = b if early is None else b + np.einsum("j,kjt->kt", early, V)
        Z = self.view.base.predict(flat, early).reshape(-1, K, outputs)
        Z += constant
        if self.offset is not None:
            Z += self.offset[:, None, :]
        return Z

    def mean(self, values: FloatArray) -> Float64Array:
        """Return means over rows of losses (n, K) or (n, K, targets): (K,)."""
        used = self.used
        with np.errstate(over="ignore", invalid="ignore"):
            found = np.tensordot(self.shares[used], values[used], axes=1)
        return found if found.ndim == 1 else np.asarray(found.sum(axis=-1))


@dataclass(frozen=True, slots=True, eq=False)
class SmoothNull:
    """What certificates are relative to.

    Attributes
    ----------
    objective, gradient : float
        Of the best constant prediction, and the norm of its gradient.
    worth : float
        What there is to gain: the objective less that of the best prediction row by row.
    intercept : ndarray of shape (outputs,)
    """

    objective: float
    gradient: float
    worth: float
    intercept: Float64Array


def smooth_null(frame: SmoothFrame) -> SmoothNull:
    """Measure the best constant prediction (0 without an intercept)."""
    rows = frame.used
    y = frame.y[rows] if not frame.loss.per_class else frame.y[rows, 0]
    offset = None if frame.offset is None else frame.offset[rows]
    b = np.zeros(frame.outputs)
    if frame.intercept:
        b[:] = np.atleast_1d(best_constant(frame.loss, y, frame.shares[rows], offset))
    Z = frame.predict(np.zeros((1, frame.view.shape[1], frame.outputs)), b[None])
    objective = float(frame.mean(frame.loss.value(frame.targets(), Z))[0])
    R = np.asarray(frame.loss.derivative(frame.targets(), Z)[:, 0] * frame.shares[:, None])
    gradient = float(np.linalg.norm(frame.view.correlate(_cleared(frame, R))))
    floor = mean_floor(frame.loss, frame.y[rows], frame.shares[rows])
    return SmoothNull(objective, gradient, objective - floor, b)


def _cleared(frame: SmoothFrame, R: Float64Array) -> Float64Array:
    """Weighted residuals with exact zeros where a row has no weight."""
    if frame.p is not None:
        R[frame.p == 0] = 0.0
    return R


def smooth_certificates(
    frame: SmoothFrame,
    penalty: Penalty,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
    null: SmoothNull | None = None,
) -> Certified:
    """Certify coefficients (K, d, outputs) and intercepts (K, outputs) on the user's scale.

    `penalty` is the one of the user's coefficients; where the frame scales columns it penalises
    those of the scaled ones. `Certified.correlation` is minus the gradient of the mean loss in
    the frame's coordinates.
    """
    null = null or smooth_null(frame)
    penalty = penalty.on_scaled(frame.view.scale)
    step = max(1, ENTRIES // (len(frame.y) * frame.outputs))
    parts = [
        _certified(
            frame,
            penalty,
            lams[k : k + step],
            coefs[k : k + step],
            intercepts[k : k + step],
            null,
        )
        for k in range(0, len(lams), step)
    ]
    return Certified(
        tuple(certificate for part in parts for certificate in part.certificates),
        np.concatenate([part.correlation for part in parts]),
        np.concatenate([part.losses for part in parts]),
    )


def _certified(
    frame: SmoothFrame,
    penalty: Penalty,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
    null: SmoothNull,
) -> Certified:
    loss, y, p = frame.loss, frame.targets(), frame.shares
    Z = frame.predict(coefs, intercepts)
    losses = frame.mean(loss.value(y, Z))
    V = np.asarray(loss.derivative(y, Z), dtype=np.float64)
    del Z
    gradient, slopes = _correlate(frame, V)
    dual = has_dual(loss, penalty, coefs.shape[1])
    toward = gradient
    if dual:
        V = np.asarray(loss.feasible(y, V), dtype=np.float64)
        if frame.intercept:
            V = balanced(loss, y, V, p)
        toward, _ = _correlate(frame, V)
    W = coefs * frame.view.scale[:, None]
    scales, conjugates, values = np.ones(len(lams)), np.zeros(len(lams)), np.zeros(len(lams))
    for k, lam in enumerate(lams):
        w = _flat(W[k])
        values[k] = lam * penalty.value(w) if lam > 0 else _constraint(penalty, w)
        if dual and lam > 0:
            v = -_flat(toward[k]) / lam
            scales[k] = penalty.dual_scale(v)
            conjugates[k] = lam * penalty.conjugate(scales[k] * v)
    gaps = np.full(len(lams), np.nan)
    if dual:
        V *= scales[:, None]
        offset = None if frame.offset is None else frame.offset[:, None, :]
        worth = frame.mean(conjugate_about(loss, y, V, offset))
        with np.errstate(invalid="ignore"):
            gaps = np.where(lams > 0, np.maximum(losses + worth + values + conjugates, 0.0), np.nan)
    certificates = tuple(
        _certificate(frame, penalty, float(lam), _flat(W[k]), _flat(gradient[k]), slopes[k],
                     float(gaps[k]), float(losses[k] + values[k]), null)
        for k, lam in enumerate(lams)
    )  # fmt: skip
    return Certified(certificates, -gradient, losses)


def _certificate(
    frame: SmoothFrame,
    penalty: Penalty,
    lam: float,
    w: Float64Array,
    g: Float64Array,
    slope: Float64Array,
    gap: float,
    objective: float,
    null: SmoothNull,
) -> Certificate:
    if lam > 0:
        left = lam * float(np.linalg.norm(penalty.subgradient_distance(w, g / lam)))
    else:
        left = float(np.linalg.norm(constrained_slope(penalty, w, g)))
    kkt = float(np.hypot(left, np.linalg.norm(slope))) if frame.intercept else left
    mu = lam * penalty.strong_convexity
    bound = float(np.sqrt(2.0 * gap / mu)) if mu > 0 and np.isfinite(gap) else None
    return Certificate(
        gap=gap / null.worth if null.worth > 0 else gap,
        kkt=kkt / null.gradient if null.gradient > 0 else kkt,
        objective=objective,
        null_objective=null.objective,
        error_bound=bound,
    )


def _correlate(frame: SmoothFrame, V: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return ``X~' P V`` as (K, d, outputs), and the sums over rows, (K, outputs)."""
    n, K, outputs = V.shape
    R = _cleared(frame, (V * frame.shares[:, None, None]).reshape(n, K * outputs))
    G = frame.view.correlate(R).reshape(-1, K, outputs).transpose(1, 0, 2)
    return np.ascontiguousarray(G), R.sum(axis=0).reshape(K, outputs)


def has_dual(loss: Loss, penalty: Penalty, d: int) -> bool:
    """Whether a dual point of the form above is feasible for a solution that is nearly exact."""
    if not (loss.has_conjugate and penalty.has_conjugate) or penalty.unpenalised(d).any():
        return False
    form = penalty.coordinates(d)
    if form is None:
        return True
    half_open = np.isinf(form.lower) | np.isinf(form.upper)
    return not np.any((form.l1 == 0) & (form.l2 == 0) & half_open)


def _constraint(penalty: Penalty, w: Float64Array) -> float:
    """At strength 0 a constraint stays a constraint."""
    value = penalty.value(w)
    return value if np.isinf(value) else 0.0


def constrained_slope(penalty: Penalty, w: Float64Array, g: Float64Array) -> Float64Array:
    """Return the gradient where the bounds of a penalty, which hold at strength 0, let w move."""
    form = penalty.coordinates(len(w))
    if form is None:
        return g
    lower, upper = (part.reshape(-1, *(1,) * (w.ndim - 1)) for part in (form.lower, form.upper))
    blocked = ((w <= lower) & (g > 0)) | ((w >= upper) & (g < 0))
    return np.where(blocked, 0.0, g)


def _flat(w: Float64Array) -> Float64Array:
    """One output as a vector, which is what penalties take it for."""
    return w[:, 0].copy() if w.shape[1] == 1 else w.copy()
