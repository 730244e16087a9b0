"""Least squares without a penalty: the accuracy ladder, the rank, the minimum norm.

    rung                        when                                      digits
    moments                     large table, condition below 1e5          eleven or more
    QR, double-double           small table, or moments do not suffice    all the data determine
    SVD, minimum norm           fewer rows than columns                   interpolation
    kernel matrix               the same, large table
    bidiagonalization           too large to decompose                    as the certificate says

Columns are centred and scaled before anything is decided, so the rank does not depend on units.
A column is aliased when what is left of it, after projection on the others, is no larger than
the rounding of its own numbers. Where there are aliased columns the solution of least norm is
returned and the columns are named.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.problem.squared import least_squares_certificate
from tikhon.results import Certificate
from tikhon.solvers.choose import DECOMPOSABLE
from tikhon.solvers.minimum_norm import SVDSolution, minimum_norm
from tikhon.solvers.qr_refined import QRSolution, qr_refined
from tikhon.solvers.ridge import ridge_refined
from tikhon.solvers.ridge_krylov import KrylovMachine
from tikhon.solvers.ridge_tall import TallMachine
from tikhon.solvers.ridge_wide import WideMachine
from tikhon.solvers.training import Machine, Training
from tikhon.typing import Float64Array, IntArray

__all__ = ["LeastSquaresFit", "least_squares"]

SMALL = 2**22
"""Numbers in a table up to which the exact rung costs nothing to speak of."""

TRUSTED_CONDITION = 1e10
"""Condition of the scaled second moments up to which corrections from them converge fast."""

SAFE_LARGEST, SAFE_SMALLEST = 1e140, 1e-140
"""Magnitudes whose squares, summed over rows, stay within float64."""


@dataclass(frozen=True, slots=True, eq=False)
class LeastSquaresFit:
    """A least-squares solution on the user's scale.

    Attributes
    ----------
    coef : ndarray of shape (d, targets)
    intercept : ndarray of shape (targets,)
    rank : int
        Of the centred columns; -1 where it was not determined.
    aliased : ndarray of int
        Columns that the others determine; empty with fewer rows than columns, where any would do.
    singular : ndarray
        Singular values of the scaled, centred columns, largest first; empty if not computed.
    rung : str
    certificate : Certificate
    passes : float
    """

    coef: Float64Array
    intercept: Float64Array
    rank: int
    aliased: IntArray
    singular: Float64Array
    rung: str
    certificate: Certificate
    passes: float


def least_squares(training: Training, tol: float) -> LeastSquaresFit:
    """Climb the ladder until the solution is as good as the data allow."""
    rows, d = len(training.used()), training.design.shape[1]
    if min(rows, d) > DECOMPOSABLE:
        return _by_machine(KrylovMachine(training, lambda _: 0.0, tol), tol, "bidiagonalization")
    free = rows - 1 if training.intercept else rows
    small = rows * d <= SMALL or not _squares_are_safe(training)
    if free < d:
        if small:
            svd = minimum_norm(training)
            return _finished(svd, np.empty(0, dtype=np.int64), "SVD, minimum norm", 4.0)
        return _by_machine(WideMachine(training.rescaled(standardize=False)), tol, "kernel matrix")
    if not small:
        machine = TallMachine(training.rescaled(standardize=True))
        e = machine.spectrum.e
        if 0 < e.max() <= TRUSTED_CONDITION * e.min():
            return _by_machine(machine, tol, "moments")
    found = qr_refined(training)
    return _finished(found, found.aliased, "QR, double-double", found.passes)


def _finished(
    found: SVDSolution | QRSolution, aliased: IntArray, rung: str, passes: float
) -> LeastSquaresFit:
    certificate = least_squares_certificate(
        found.frame, found.coef, found.intercept, found.inverse_form
    )
    return LeastSquaresFit(
        found.coef,
        found.intercept,
        found.rank,
        aliased,
        found.singular,
        rung,
        certificate,
        passes + 2.0,
    )


def _by_machine(machine: Machine, tol: float, rung: str) -> LeastSquaresFit:
    """Solve at strength 0 in eigenspace and correct on the rows."""
    spectrum = machine.spectrum
    fit = ridge_refined(machine.frame, spectrum, np.zeros(1), tol=tol, corrections=1)
    found = np.sqrt(np.sort(spectrum.e)[::-1]) if spectrum.complete else np.empty(0)
    return LeastSquaresFit(
        fit.coefs[0],
        fit.intercepts[0],
        spectrum.rank if spectrum.complete else -1,
        np.empty(0, dtype=np.int64),
        found,
        rung,
        fit.certificates[0],
        fit.passes + 1.0,
    )


def _squares_are_safe(training: Training) -> bool:
    scan = training.design.scan
    size = np.maximum(np.abs(scan.minimum), np.abs(scan.maximum))
    size = size[size > 0]
    return bool(np.all((size < SAFE_LARGEST) & (size > SAFE_SMALLEST)))
