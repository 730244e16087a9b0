"""Ridge solutions from a prepared table: whole paths, and single strengths refined to the end.

An eigendecomposition gives every strength to about cond * 1e-16. A pass over the rows then shows
the true gradient, and one correction with the same decomposition removes what is wrong: this is
the second rung of the accuracy ladder, and its pass is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.problem.squared import (
    Frame,
    NullModel,
    ResidualPass,
    residual_pass,
    ridge_certificates,
)
from tikhon.results import Certificate
from tikhon.solvers.spectrum import Eigenspace
from tikhon.typing import Float64Array

__all__ = ["RidgeFit", "ridge_certified", "ridge_refined"]

MAX_CORRECTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """Certified ridge solutions, on the user's scale.

    Attributes
    ----------
    coefs : ndarray of shape (L, d, targets)
    intercepts : ndarray of shape (L, targets)
    certificates : tuple of Certificate
    losses : ndarray of shape (L,)
        Mean loss on the rows, summed over targets.
    passes : float
        Passes over the rows, the certificate's included.
    """

    coefs: Float64Array
    intercepts: Float64Array
    certificates: tuple[Certificate, ...]
    losses: Float64Array
    passes: float


def ridge_refined(
    frame: Frame, spectrum: Eigenspace, lams: Float64Array, *, tol: float, corrections: int
) -> RidgeFit:
    """Solve for each strength in `lams`, (L,) or (L, targets), certify and correct on the rows.

    At least `corrections` corrections are tried, and more while a relative gap exceeds `tol`.
    """
    per_target = _per_target(lams, frame)
    null = _null(spectrum)
    W = spectrum.coefs(per_target)
    best = _Certified.of(frame, spectrum, W, np.zeros_like(per_target), per_target, null)
    done = 0
    while done < MAX_CORRECTIONS and (done < corrections or best.worst_gap > tol):
        W, offset = best.corrected(spectrum, per_target)
        attempt = _Certified.of(frame, spectrum, W, offset, per_target, null)
        done += 1
        if not attempt.gradient < best.gradient:
            break
        halved = attempt.gradient < 0.5 * best.gradient
        best = attempt
        if not halved:
            break
    losses = best.seen.square.sum(axis=1) / 2.0
    return RidgeFit(best.V, best.b, tuple(best.certificates), losses, done + 1.0)


def ridge_certified(
    frame: Frame,
    spectrum: Eigenspace,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> tuple[Certificate, ...]:
    """Certify coefficients (L, d, targets) and intercepts (L, targets) in one pass."""
    W, offset = frame.from_user(coefs, intercepts)
    per_target = _per_target(lams, frame)
    found = _Certified.of(frame, spectrum, W, offset, per_target, _null(spectrum))
    return tuple(found.certificates)


@dataclass(frozen=True, slots=True, eq=False)
class _Certified:
    """Coefficients rounded to the user's scale, and what a pass says about exactly these."""

    W: Float64Array
    V: Float64Array
    b: Float64Array
    offset: Float64Array
    seen: ResidualPass
    certificates: list[Certificate]
    gradient: float

    @classmethod
    def of(
        cls,
        frame: Frame,
        spectrum: Eigenspace,
        W: Float64Array,
        offset: Float64Array,
        lams: Float64Array,
        null: NullModel,
    ) -> _Certified:
        V, b = frame.to_user(W, offset)
        W, offset = frame.from_user(V, b)
        seen = residual_pass(frame, W, offset)
        certificates = ridge_certificates(lams, W, seen, null, spectrum.inverse_form)
        size = float(np.linalg.norm(seen.correlation - lams[:, None, :] * W))
        return cls(W, V, b, offset, seen, certificates, size)

    @property
    def worst_gap(self) -> float:
        return max((c.gap for c in self.certificates if not np.isnan(c.gap)), default=0.0)

    def corrected(
        self, spectrum: Eigenspace, lams: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """One Newton step: exact but for rounding, since the objective is quadratic."""
        gradient = self.seen.correlation - lams[:, None, :] * self.W
        return self.W + spectrum.solve(gradient, lams), self.offset + self.seen.mean


def _per_target(lams: Float64Array, frame: Frame) -> Float64Array:
    return np.array(np.broadcast_to(lams.reshape(len(lams), -1), (len(lams), frame.y.shape[1])))


def _null(spectrum: Eigenspace) -> NullModel:
    """The null model's figures, which the spectrum knows: no pass for a mere denominator."""
    return NullModel(float(spectrum.total.sum()) / 2.0, float(np.linalg.norm(spectrum.c)))
