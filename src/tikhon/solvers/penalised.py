"""Solutions of penalised least squares, held against the rows and mended where they fall short.

A machine solves from second moments or on working sets; what it says of its own accuracy is not
evidence. One pass over the rows certifies all strengths. Those whose gap is above the tolerance,
because moments of badly scaled columns hold too few digits, are solved again with the correlations
that the pass has seen, and certified again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tikhon._kernels import Stop
from tikhon.penalties.base import Penalty
from tikhon.problem.penalised import Certified, penalised_certificates
from tikhon.problem.squared import Frame, NullModel
from tikhon.results import Certificate, Status, StatusCode
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.training import Training
from tikhon.typing import BoolArray, Float64Array

__all__ = ["CertifiedFit", "PenalisedMachine", "certified_fit", "judge"]

MAX_CORRECTIONS = 3


class PenalisedMachine(Protocol):
    """A table prepared once, that solves any union of cells of rows under one penalty."""

    penalty: Penalty
    tol: float
    stop: Stop

    @property
    def name(self) -> str:
        """The algorithm."""
        ...

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        ...

    @property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        ...

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        ...

    def with_penalty(self, penalty: Penalty) -> PenalisedMachine:
        """Return the same table under another penalty."""
        ...

    def null(self) -> NullModel:
        """Return the null model's figures."""
        ...

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> Sequence[PathFit]:
        """Solve the path of each training set."""
        ...

    def corrected(self, lam: float, V: Float64Array, correlation: Float64Array) -> Float64Array:
        """Solve one strength again from coefficients V and the correlation seen at them."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class CertifiedFit:
    """Coefficients (K, d, targets), intercepts (K, targets), and what the rows say of them."""

    coefs: Float64Array
    intercepts: Float64Array
    certificates: tuple[Certificate, ...]
    losses: Float64Array
    correlation: Float64Array

    @property
    def gaps(self) -> Float64Array:
        """The relative gap of each strength."""
        return np.array([certificate.gap for certificate in self.certificates])


def certified_fit(
    machine: PenalisedMachine,
    null: NullModel,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> CertifiedFit:
    """Certify solutions in one pass over the rows; correct those whose gap is too large."""
    found = _look(machine, null, lams, coefs, intercepts)
    for _ in range(MAX_CORRECTIONS):
        late = np.flatnonzero(found.gaps > machine.tol)
        if not len(late) or machine.stop.requested or machine.stop.late:
            break
        tried = np.stack(
            [machine.corrected(lams[k], found.coefs[k], found.correlation[k]) for k in late]
        )
        scale = machine.frame.view.scale[:, None]
        attempt = _look(machine, null, lams[late], tried, machine.frame.to_user(tried * scale)[1])
        better = attempt.gaps < found.gaps[late]
        if not better.any():
            break
        found = _replaced(found, late, attempt, better)
    return found


def _look(
    machine: PenalisedMachine,
    null: NullModel,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> CertifiedFit:
    seen: Certified = penalised_certificates(
        machine.frame, machine.penalty, lams, coefs, intercepts, null
    )
    return CertifiedFit(coefs, intercepts, seen.certificates, seen.losses, seen.correlation)


def _replaced(
    found: CertifiedFit, late: np.ndarray, attempt: CertifiedFit, better: BoolArray
) -> CertifiedFit:
    """The same solutions, with those of an attempt in place of the ones it improved."""
    to, of = late[better], np.flatnonzero(better)
    certificates = list(found.certificates)
    for k, i in zip(to, of, strict=True):
        certificates[k] = attempt.certificates[i]
    arrays = []
    for name in ("coefs", "intercepts", "losses", "correlation"):
        array = getattr(found, name).copy()
        array[to] = getattr(attempt, name)[of]
        arrays.append(array)
    coefs, intercepts, losses, correlation = arrays
    return CertifiedFit(coefs, intercepts, tuple(certificates), losses, correlation)


def judge(
    machine: PenalisedMachine,
    lams: Float64Array,
    certificates: Sequence[Certificate],
    solved: int,
) -> Status:
    """Judge solutions by their gaps: the status of the worst of them."""
    gaps = np.array([certificate.gap for certificate in certificates])
    measure = np.where(np.isfinite(gaps), gaps, [c.kkt for c in certificates])
    worst = int(np.argmax(measure))
    if measure[worst] <= machine.tol:
        return Status(StatusCode.CONVERGED)
    at = f"at lam={lams[worst]:.3g} the relative gap is {measure[worst]:.1e}, wanted "
    message = f"{at}{machine.tol:.0e}."
    if solved < len(lams):
        return Status(
            StatusCode.MAX_SECONDS,
            f"{solved} of {len(lams)} strengths were solved in time; {message}",
            "Raise `max_seconds`, or use fewer strengths.",
        )
    return Status(
        StatusCode.MAX_ITER, message, "Use a larger `lam`, standardize the columns, or raise `tol`."
    )
