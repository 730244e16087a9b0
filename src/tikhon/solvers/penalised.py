"""Solutions of a penalised loss, held against the rows and mended where they fall short.

A machine solves from second moments, on working sets or by passes over the rows; what it says of
its own accuracy is not evidence. One pass over the rows certifies all strengths. Those whose gap is
above the tolerance, because moments of badly scaled columns hold too few digits, are solved again
with what that pass has seen, and certified again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tikhon._kernels import Stop
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.problem.penalised import Certified
from tikhon.results import Certificate, Status, StatusCode
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.training import Training
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["CertifiedFit", "PenalisedMachine", "certified_fit", "judge"]

MAX_CORRECTIONS = 3


@dataclass(frozen=True, slots=True, eq=False)
class CertifiedFit:
    """Coefficients (K, d, targets), intercepts (K, targets), and what the rows say of them."""

    coefs: Float64Array
    intercepts: Float64Array
    certificates: tuple[Certificate, ...]
    losses: Float64Array
    correlation: Float64Array

    @property
    def distances(self) -> Float64Array:
        """The relative gap of each strength; the KKT residual where there is no dual."""
        gaps = np.array([certificate.gap for certificate in self.certificates])
        kkt = np.array([certificate.kkt for certificate in self.certificates])
        return np.where(np.isfinite(gaps), gaps, kkt)

    def part(self, index: IntArray) -> CertifiedFit:
        """Return some of the strengths."""
        return CertifiedFit(
            self.coefs[index],
            self.intercepts[index],
            tuple(self.certificates[k] for k in index),
            self.losses[index],
            self.correlation[index],
        )


class PenalisedMachine(Protocol):
    """A table prepared once, that solves any union of cells of rows under one penalty."""

    loss: Loss
    penalty: Penalty
    tol: float
    stop: Stop
    solves_zero: bool
    """Whether strength 0 is like any other."""

    @property
    def name(self) -> str:
        """The algorithm."""
        ...

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        ...

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        ...

    def curvature(self) -> float:
        """Return the mean curvature of the null model's loss along a penalised column."""
        ...

    def with_penalty(self, penalty: Penalty) -> PenalisedMachine:
        """Return the same table under another penalty."""
        ...

    def null(self) -> Any:
        """Return the null model's figures, as `certify` takes them."""
        ...

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> Sequence[PathFit]:
        """Solve the path of each training set."""
        ...

    def certify(
        self, null: Any, lams: Float64Array, coefs: Float64Array, intercepts: Float64Array
    ) -> Certified:
        """Certify solutions on all rows, in one pass."""
        ...

    def mended(self, lams: Float64Array, found: CertifiedFit) -> tuple[Float64Array, Float64Array]:
        """Solve strengths again from what was seen: coefficients and intercepts."""
        ...

    def df(self, lams: Float64Array, found: CertifiedFit) -> Float64Array:
        """Return degrees of freedom of each strength, nan where they are unknown."""
        ...

    def judge(self, lams: Float64Array, found: CertifiedFit, solved: int) -> Status:
        """Judge solutions: the status of the worst of them."""
        ...


def certified_fit(
    machine: PenalisedMachine,
    null: Any,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> CertifiedFit:
    """Certify solutions in one pass over the rows; correct those whose gap is too large."""
    found = _look(machine, null, lams, coefs, intercepts)
    for _ in range(MAX_CORRECTIONS):
        late = np.flatnonzero(found.distances > machine.tol)
        if not len(late) or machine.stop.requested or machine.stop.late:
            break
        tried = machine.mended(lams[late], found.part(late))
        attempt = _look(machine, null, lams[late], *tried)
        better = attempt.distances < found.distances[late]
        if not better.any():
            break
        found = _replaced(found, late, attempt, better)
    return found


def _look(
    machine: PenalisedMachine,
    null: Any,
    lams: Float64Array,
    coefs: Float64Array,
    intercepts: Float64Array,
) -> CertifiedFit:
    seen = machine.certify(null, lams, coefs, intercepts)
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


def judge(lams: Float64Array, distances: Float64Array, solved: int, tol: float) -> Status:
    """Judge solutions by their gaps: the status of the worst of them."""
    worst = int(np.argmax(np.where(np.isnan(distances), np.inf, distances)))
    if distances[worst] <= tol:
        return Status(StatusCode.CONVERGED)
    message = (
        f"at lam={lams[worst]:.3g} the relative gap is {distances[worst]:.1e}, wanted {tol:.0e}."
    )
    if solved < len(lams):
        return Status(
            StatusCode.MAX_SECONDS,
            f"{solved} of {len(lams)} strengths were solved in time; {message}",
            "Raise `max_seconds`, or use fewer strengths.",
        )
    return Status(
        StatusCode.MAX_ITER, message, "Use a larger `lam`, standardize the columns, or raise `tol`."
    )
