"""Ridge solutions from a prepared table: whole paths, and single strengths refined to the end.

An eigendecomposition gives every strength to about cond * 1e-16. A pass over the rows then shows
the true gradient, and one correction with the same decomposition removes what is wrong: this is
the second rung of the accuracy ladder, and its pass is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.problem.squared import Frame, ResidualPass, null_pass, residual_pass, ridge_certificates
from tikhon.results import Certificate
from tikhon.solvers.spectrum import Spectrum
from tikhon.typing import Float64Array

__all__ = ["RidgeFit", "ridge_grid"]

MAX_CORRECTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """Certified ridge solutions, on the user's scale.

    Attributes
    ----------
    coefs : ndarray of shape (L, d, targets)
    intercepts : ndarray of shape (L, targets)
    certificates : tuple of Certificate
    corrections : int
        How often the rows were asked for a correction.
    passes : float
        Passes over the rows, the certificate's included.
    """

    coefs: Float64Array
    intercepts: Float64Array
    certificates: tuple[Certificate, ...]
    corrections: int
    passes: float


def ridge_grid(
    frame: Frame, spectrum: Spectrum, lams: Float64Array, *, tol: float, corrections: int = 0
) -> RidgeFit:
    """Solve for each strength in `lams`, (L,) or (L, targets), and certify on the rows.

    At least `corrections` corrections are made, and more while a relative gap exceeds `tol`.
    """
    targets = frame.y.shape[1]
    per_target = np.broadcast_to(lams.reshape(len(lams), -1), (len(lams), targets))
    W = spectrum.coefs(per_target)
    null = null_pass(frame)
    best = _certified(frame, spectrum, W, np.zeros_like(per_target), per_target, null)
    done, passes = 0, 2.0
    while done < MAX_CORRECTIONS and (done < corrections or best.worst_gap > tol):
        W, offset = best.corrected(spectrum, per_target)
        attempt = _certified(frame, spectrum, W, offset, per_target, null)
        done, passes = done + 1, passes + 1.0
        if not attempt.residual_norm < best.residual_norm:
            break
        improved = attempt.residual_norm < 0.5 * best.residual_norm
        best = attempt
        if not improved:
            break
    return RidgeFit(best.V, best.b, tuple(best.certificates), done, passes)


@dataclass(frozen=True, slots=True, eq=False)
class _Certified:
    """Coefficients rounded to the user's scale, and what a pass says about exactly these."""

    W: Float64Array
    V: Float64Array
    b: Float64Array
    offset: Float64Array
    seen: ResidualPass
    certificates: list[Certificate]
    residual_norm: float

    @property
    def worst_gap(self) -> float:
        gaps = [c.gap for c in self.certificates if not np.isnan(c.gap)]
        return max(gaps, default=0.0)

    def corrected(
        self, spectrum: Spectrum, lams: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """One Newton step: exact but for rounding, since the objective is quadratic."""
        gradient = self.seen.correlation - lams[:, None, :] * self.W
        length, d, targets = gradient.shape
        flat = np.ascontiguousarray(gradient.transpose(1, 0, 2)).reshape(d, -1)
        spectral = spectrum.drop(flat)
        bottom = spectrum.e[:, None] + lams.reshape(1, -1)
        step = np.divide(
            spectral, bottom, out=np.zeros_like(spectral), where=spectrum.e[:, None] > 0
        )
        change = spectrum.lift(step).reshape(d, length, targets).transpose(1, 0, 2)
        return self.W + change, self.offset + self.seen.mean


def _certified(
    frame: Frame,
    spectrum: Spectrum,
    W: Float64Array,
    offset: Float64Array,
    lams: Float64Array,
    null: ResidualPass,
) -> _Certified:
    V, b = frame.to_user(W, offset)
    W, offset = frame.from_user(V, b)
    seen = residual_pass(frame, W, offset)
    certificates = ridge_certificates(lams, W, seen, null, spectrum.inverse_form)
    gradient = seen.correlation - lams[:, None, :] * W
    return _Certified(W, V, b, offset, seen, certificates, float(np.linalg.norm(gradient)))
