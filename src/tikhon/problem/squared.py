"""The squared loss over many coefficient vectors in one pass over the rows.

For centred, scaled data x~ = (x - mean) / scale, weights p (summing to 1), r = y - x~ w - b and
``r_c = r - sum p r``, the gradient of the loss is -g with ``g = X~' P r_c``. With the L2 penalty
the dual point u = r_c gives

    gap = (sum p r)^2 / 2 + ||lam w - g||^2 / (2 lam)        (Fenchel, all cross terms cancel)

so the certificate is a sum of squares: no cancellation, exact down to rounding. Without an
intercept r_c = r and the first term is absent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.results import Certificate
from tikhon.typing import Float64Array

__all__ = [
    "Frame",
    "NullModel",
    "ResidualPass",
    "least_squares_certificate",
    "null_model",
    "residual_pass",
    "ridge_certificates",
]

COLUMNS_AT_ONCE = 256
"""Coefficient vectors per product: the block of residuals stays in cache."""

WHOLE_BYTES = 2**23
"""Residuals up to this size are taken of all rows at once."""

FEW = 4
"""All columns over those in use, from which a product with these alone is cheaper."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """The centred, scaled coordinates of one training set: where least squares is solved.

    Attributes
    ----------
    view : StandardizedDesign
        Columns about their weighted means (about 0 without an intercept), divided by the
        penalised scale (1 unless standardising).
    y : ndarray of shape (n, targets)
        Targets, as given.
    y_mean : ndarray of shape (targets,)
        What the intercept absorbs; 0 without an intercept.
    p : ndarray of shape (n,) or None
        Row weights summing to 1; None for equal weights.
    weight : float
        Total sample weight.
    intercept : bool
    """

    view: StandardizedDesign
    y: Float64Array
    y_mean: Float64Array
    p: Float64Array | None
    weight: float
    intercept: bool

    @property
    def base(self) -> Design:
        """The table itself."""
        return self.view.base

    def to_user(
        self, W: Float64Array, offset: float | Float64Array = 0.0
    ) -> tuple[Float64Array, Float64Array]:
        """Coefficients (..., d, targets) here -> coefficients and intercepts on the user's scale.

        `offset` is what the intercept adds to the mean of the targets; 0 at the optimum.
        """
        V = W / self.view.scale[:, None]
        if not self.intercept:
            return V, np.zeros(V.shape[:-2] + V.shape[-1:])
        return V, self.y_mean + offset - np.einsum("j,...jt->...t", self.view.mean, V)

    def from_user(self, V: Float64Array, b: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Invert `to_user`: returns coefficients and offset."""
        W = V * self.view.scale[:, None]
        if not self.intercept:
            return W, np.zeros_like(b)
        return W, b - self.y_mean + np.einsum("j,...jt->...t", self.view.mean, V)


@dataclass(frozen=True, slots=True, eq=False)
class ResidualPass:
    """What one pass over the rows says about K coefficient vectors: sums over rows.

    Attributes
    ----------
    correlation : ndarray of shape (K, d, targets)
        ``g = X~' P r_c``.
    mean : ndarray of shape (K, targets)
        Mean residual.
    square : ndarray of shape (K, targets)
        Mean square residual.
    intercept : bool
        Whether there is an intercept, whose optimality asks for a mean of 0.
    """

    correlation: Float64Array
    mean: Float64Array
    square: Float64Array
    intercept: bool


def residual_pass(frame: Frame, W: Float64Array, offset: Float64Array) -> ResidualPass:
    """Residuals of W (K, d, targets) and their correlations with the columns, in one pass."""
    K, _, targets = W.shape
    step = max(1, COLUMNS_AT_ONCE // targets)
    parts = [
        _residual_pass(frame, W[k : k + step], offset[k : k + step]) for k in range(0, K, step)
    ]
    return ResidualPass(
        np.concatenate([part.correlation for part in parts]),
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.square for part in parts]),
        frame.intercept,
    )


def _residual_pass(frame: Frame, W: Float64Array, offset: Float64Array) -> ResidualPass:
    K, d, targets = W.shape
    view, p = frame.view, frame.p
    early = view.early_shift
    V = np.ascontiguousarray((W / view.scale[:, None]).transpose(1, 0, 2)).reshape(d, -1)
    constant = offset.ravel() if early is not None else offset.ravel() - view.mean @ V
    correlation, mean, square = np.zeros_like(V), np.zeros_like(constant), np.zeros_like(constant)
    whole = _whole(view.base, early, V.shape[1])
    for rows, chunk in _chunks(view.base, early, whole=whole):
        R = _sparse_product(view.base, V) if whole else chunk.predict(V)
        R += constant
        stacked = R.reshape(len(R), K, targets)
        np.subtract((frame.y[rows] - frame.y_mean)[:, None, :], stacked, out=stacked)
        if p is None:
            mean += R.sum(axis=0)
            square += np.einsum("ik,ik->k", R, R)
            correlation += chunk.correlate(R)
        else:
            weights = p[rows]
            mean += weights @ R
            square += np.einsum("i,ik,ik->k", weights, R, R)
            R *= weights[:, None]
            correlation += chunk.correlate(R)
    if p is None:
        for sums in (mean, square, correlation):
            sums /= view.shape[0]
    if early is None:
        correlation -= np.outer(view.mean, mean)
    correlation /= view.scale[:, None]
    return ResidualPass(
        np.ascontiguousarray(correlation.reshape(d, K, targets).transpose(1, 0, 2)),
        mean.reshape(K, targets),
        square.reshape(K, targets),
        frame.intercept,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """A dense block with the two products of a design."""

    rows: Float64Array

    def predict(self, V: Float64Array) -> Float64Array:
        return np.asarray(self.rows @ V)

    def correlate(self, R: Float64Array) -> Float64Array:
        return np.asarray(self.rows.T @ R)


def _whole(base: Design, early: Float64Array | None, vectors: int) -> bool:
    """Whether products with all rows at once need neither a copy nor much room."""
    return base.is_sparse or (
        early is None and base.direct and base.shape[0] * vectors * 8 <= WHOLE_BYTES
    )


def _sparse_product(base: Design, V: Float64Array) -> Float64Array:
    """``X V`` from the columns that are used, where these are few."""
    used = np.flatnonzero(V.any(axis=1))
    if base.is_sparse or FEW * len(used) > len(V):
        return base.predict(V)
    return np.asarray(base.rows_of_columns(None, used) @ V[used])


def _chunks(
    base: Design, early: Float64Array | None, *, whole: bool
) -> Iterator[tuple[slice, Design | _Rows]]:
    """Hand out row ranges: all at once, or blocks."""
    if whole:
        yield slice(0, base.shape[0]), base
        return
    for block in base.blocks(early):
        yield slice(block.start, block.stop), _Rows(block.rows)


@dataclass(frozen=True, slots=True)
class NullModel:
    """What certificates are relative to: objective and gradient norm of the best constant."""

    objective: float
    gradient: float


def null_model(frame: Frame) -> NullModel:
    """Measure the best constant prediction (0 without an intercept) in a pass over the rows."""
    d, targets = frame.view.shape[1], frame.y.shape[1]
    seen = residual_pass(frame, np.zeros((1, d, targets)), np.zeros((1, targets)))
    return NullModel(float(seen.square.sum()) / 2.0, float(np.linalg.norm(seen.correlation)))


def ridge_certificates(
    lams: Float64Array,
    W: Float64Array,
    seen: ResidualPass,
    null: NullModel,
    inverse_form: Callable[[Float64Array], Float64Array],
) -> list[Certificate]:
    """Certificates of ridge solutions W (K, d, targets) at `lams` (K, targets), from a pass.

    At strength 0 a dual point must be orthogonal to the columns. The residual's projection is,
    and gives ``gap = g' (X~' P X~)^+ g / 2``, which is ``P - P*`` itself; `inverse_form` takes g
    (d, targets) to that quadratic form.
    """
    lam = lams[:, None, :]
    violation = lam * W - seen.correlation
    square = np.einsum("kjt,kjt->kt", violation, violation)
    gap = np.divide(square, 2.0 * lams, out=np.zeros_like(square), where=lams > 0)
    for k in np.flatnonzero(np.any(lams == 0, axis=1)):
        exact = inverse_form(seen.correlation[k]) / 2.0
        gap[k] = np.where(lams[k] == 0, exact, gap[k])
    if seen.intercept:
        gap += seen.mean**2 / 2.0
    penalty = lams * np.einsum("kjt,kjt->kt", W, W) / 2.0
    objective = seen.square.sum(axis=1) / 2.0 + penalty.sum(axis=1)
    left = np.sqrt(square.sum(axis=1))
    return [
        Certificate(
            gap=_relative(float(gap[k].sum()), null.objective),
            kkt=_relative(float(left[k]), null.gradient),
            objective=float(objective[k]),
            null_objective=null.objective,
            error_bound=_error_bound(float(gap[k].sum()), float(lams[k].min())),
        )
        for k in range(len(lams))
    ]


def least_squares_certificate(
    frame: Frame,
    V: Float64Array,
    b: Float64Array,
    inverse_form: Callable[[Float64Array], Float64Array],
) -> Certificate:
    """Certificate of a solution without penalty, given on the user's scale, from two passes."""
    W, offset = frame.from_user(V[None], b[None])
    seen = residual_pass(frame, W, offset)
    zero = np.zeros_like(offset)
    return ridge_certificates(zero, W, seen, null_model(frame), inverse_form)[0]


def _relative(value: float, reference: float) -> float:
    """Divide by the null model's figure; by 1 where that is 0 (a constant target)."""
    return value / reference if reference > 0 else value


def _error_bound(gap: float, lam: float) -> float | None:
    """``sqrt(2 gap / mu)`` with mu = lam, the modulus of strong convexity."""
    return float(np.sqrt(2.0 * gap / lam)) if lam > 0 else None
