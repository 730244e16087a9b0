"""The ridge path: all strengths on all rows, certified."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from tikhon.paths.grid import Grid
from tikhon.results import Path, Status, StatusCode
from tikhon.solvers.ridge import ridge_grid, ridge_refined
from tikhon.solvers.spectrum import Spectrum
from tikhon.solvers.training import Machine
from tikhon.typing import Float64Array

__all__ = ["ridge_lams", "ridge_path", "ridge_status", "smallest_lam"]

GRID_TOP = 100.0
"""The strongest strength over the largest eigenvalue: every coefficient is shrunk a hundredfold."""

GRID_RATIO = 1e-10
KRYLOV_RATIO = 1e-7

CERTIFY_AT_ONCE = 2e8
"""Multiplications up to which a whole path is certified without being asked."""

CLEARLY_POSITIVE = 1e-11
"""A strength over the largest eigenvalue above which eigenspace needs no correction."""


def ridge_lams(grid: Grid, spectrum: Spectrum) -> Float64Array:
    """Return the strengths of a grid for data with this spectrum."""
    top = GRID_TOP * spectrum.top if spectrum.top > 0 else 1.0
    return grid.below(top, GRID_RATIO if spectrum.complete else KRYLOV_RATIO)


def smallest_lam(grid: Grid) -> Callable[[float], float]:
    """Return the smallest strength of a grid as a function of the largest eigenvalue."""
    return lambda top: float(grid.below(GRID_TOP * top, KRYLOV_RATIO)[-1])


def ridge_path(
    machine: Machine,
    lams: Float64Array,
    *,
    tol: float,
    one_target: bool,
    feature_names: tuple[str, ...] | None = None,
) -> Path:
    """Solve ridge at each strength.

    Paths that are cheap to certify, or hard to solve, are certified and corrected on the rows at
    once; the certificates of the others are computed when they are looked at.
    """
    started = time.perf_counter()
    frame, spectrum = machine.frame, machine.spectrum
    n, d = frame.view.shape
    cheap = 2.0 * n * d * len(lams) * frame.y.shape[1] <= CERTIFY_AT_ONCE
    easy = spectrum.complete and lams.min() > CLEARLY_POSITIVE * spectrum.top
    status = Status(StatusCode.CONVERGED)
    if cheap or not easy:
        fit = ridge_refined(frame, spectrum, lams, tol=tol, corrections=0)
        status = ridge_status(max(certificate.gap for certificate in fit.certificates), tol)
    else:
        fit = ridge_grid(frame, spectrum, lams)
    return Path(
        lams=lams,
        coefs=fit.coefs[:, :, 0] if one_target else fit.coefs,
        intercepts=fit.intercepts[:, 0] if one_target else fit.intercepts,
        certificates=fit.certificates,
        df=np.array([spectrum.df(float(lam)) for lam in lams]),
        status=status,
        solver=machine.name,
        passes=fit.passes + 1.0,
        seconds=time.perf_counter() - started,
        feature_names=feature_names,
    )


def ridge_status(gap: float, tol: float) -> Status:
    """Judge a ridge solution by its gap."""
    if np.isnan(gap) or gap <= tol:
        return Status(StatusCode.CONVERGED)
    return Status(
        StatusCode.MAX_ITER,
        f"relative gap {gap:.1e}, wanted {tol:.0e}.",
        "Use a larger `lam`, or standardize the columns.",
    )
