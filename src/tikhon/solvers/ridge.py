"""Ridge solutions from a prepared table: whole paths, and single strengths refined to the end.

An eigendecomposition gives every strength to about cond * 1e-16. A pass over the rows then shows
the true gradient, and one correction with the same decomposition removes what is wrong: this is
the second rung of the accuracy ladder, and its pass is the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

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

__all__ = ["LateCertificates", "RidgeFit", "ridge_grid", "ridge_refined"]

MAX_CORRECTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class RidgeFit:
    """Certified ridge solutions, on the user's scale.

    Attributes
    ----------
    coefs : ndarray of shape (L, d, targets)
    intercepts : ndarray of shape (L, targets)
    certificates : sequence of Certificate
    passes : float
        Passes over the rows, the certificate's included.
    """

    coefs: Float64Array
    intercepts: Float64Array
    certificates: Sequence[Certificate]
    passes: float


def ridge_grid(frame: Frame, spectrum: Eigenspace, lams: Float64Array) -> RidgeFit:
    """Solve for each strength in `lams` (L,) in eigenspace; certificates follow when asked for."""
    per_target = _per_target(lams, frame)
    coefs, intercepts = frame.to_user(spectrum.coefs(per_target))
    certificates = LateCertificates(frame, spectrum, per_target, coefs, intercepts)
    return RidgeFit(coefs, intercepts, certificates, 0.0)


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
    return RidgeFit(best.V, best.b, tuple(best.certificates), done + 1.0)


class LateCertificates(Sequence[Certificate]):
    """Certificates of a path on a large table, each computed from the rows when it is asked for.

    Certifying a hundred strengths costs as much as solving them, and most are never looked at.
    Whoever iterates gets them all from one pass. The table is referred to, not copied; pickling
    computes what is missing and forgets the table.
    """

    def __init__(
        self,
        frame: Frame,
        spectrum: Eigenspace,
        lams: Float64Array,
        coefs: Float64Array,
        intercepts: Float64Array,
    ) -> None:
        self._of = (frame, spectrum, lams, coefs, intercepts)
        self._known: dict[int, Certificate] = {}

    def __len__(self) -> int:
        return len(self._of[2])

    @overload
    def __getitem__(self, position: int) -> Certificate: ...
    @overload
    def __getitem__(self, position: slice) -> Sequence[Certificate]: ...
    def __getitem__(self, position: int | slice) -> Certificate | Sequence[Certificate]:
        wanted = range(len(self))[position]
        if isinstance(wanted, range):
            self._compute(list(wanted))
            return tuple(self._known[k] for k in wanted)
        self._compute([wanted])
        return self._known[wanted]

    def __iter__(self) -> Any:
        return iter(self[:])

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)

    def _compute(self, positions: list[int]) -> None:
        missing = [k for k in positions if k not in self._known]
        if not missing:
            return
        frame, spectrum, lams, coefs, intercepts = self._of
        W, offset = frame.from_user(coefs[missing], intercepts[missing])
        found = _Certified.of(frame, spectrum, W, offset, lams[missing], _null(spectrum))
        self._known |= dict(zip(missing, found.certificates, strict=True))


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
    steepest = float(np.max(np.abs(spectrum.lift(spectrum.c)), initial=0.0))
    return NullModel(float(spectrum.total.sum()) / 2.0, steepest)
