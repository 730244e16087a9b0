"""The ridge path: all strengths on all rows, certified."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import fields
from functools import cached_property

import numpy as np

from tikhon.paths.grid import Grid
from tikhon.problem.squared import Frame
from tikhon.results import Certificate, Path, Solution, Status, StatusCode
from tikhon.solvers.ridge import ridge_certified, ridge_refined
from tikhon.solvers.spectrum import Eigenspace, Spectrum
from tikhon.solvers.training import Machine
from tikhon.typing import Float64Array

__all__ = ["LatePath", "ridge_lams", "ridge_path", "ridge_status", "smallest_lam"]

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
    once; the others are computed when they are looked at.
    """
    started = time.perf_counter()
    frame, spectrum = machine.frame, machine.spectrum
    n, d = frame.view.shape
    cheap = 2.0 * n * d * len(lams) * frame.y.shape[1] <= CERTIFY_AT_ONCE
    easy = spectrum.complete and lams.min() > CLEARLY_POSITIVE * spectrum.top
    if easy and not cheap:
        return LatePath(machine, lams, one_target=one_target, feature_names=feature_names)
    fit = ridge_refined(frame, spectrum, lams, tol=tol, corrections=0)
    return Path(
        lams=lams,
        coefs=fit.coefs[:, :, 0] if one_target else fit.coefs,
        intercepts=fit.intercepts[:, 0] if one_target else fit.intercepts,
        certificates=fit.certificates,
        df=np.array([spectrum.df(float(lam)) for lam in lams]),
        losses=fit.losses,
        status=ridge_status(max(c.gap for c in fit.certificates), tol),
        solver=machine.name,
        passes=fit.passes + 1.0,
        seconds=time.perf_counter() - started,
        feature_names=feature_names,
    )


class LatePath(Path):
    """A path whose coefficients and certificates are computed when they are looked at.

    On a large table a hundred coefficient vectors and their certificates cost as much as solving
    for them, and most are never looked at. One solution is made and certified alone; whoever
    asks for all gets them in one pass. The table is referred to, not copied; pickling computes
    what is missing and forgets the table.
    """

    _of: tuple[Frame, Eigenspace]
    _one_target: bool

    def __init__(
        self,
        machine: Machine,
        lams: Float64Array,
        *,
        one_target: bool,
        feature_names: tuple[str, ...] | None,
    ) -> None:
        self.__dict__ |= {
            "_of": (machine.frame, machine.spectrum),
            "_one_target": one_target,
            "lams": lams,
            "df": np.array([machine.spectrum.df(float(lam)) for lam in lams]),
            "status": Status(StatusCode.CONVERGED),
            "solver": machine.name,
            "passes": 1.0,
            "seconds": 0.0,
            "feature_names": feature_names,
        }

    @cached_property
    def _solutions(self) -> tuple[Float64Array, Float64Array]:
        frame, spectrum = self._of
        return frame.to_user(spectrum.coefs(self.lams))

    @cached_property
    def losses(self) -> Float64Array:
        """Mean training loss of each strength, from the spectrum."""
        spectrum = self._of[1]
        squares = [spectrum.mean_square_residual(float(lam)).sum() for lam in self.lams]
        return np.array(squares) / 2.0

    @property
    def coefs(self) -> Float64Array:
        """Coefficients: (L, d) or (L, d, targets)."""
        return self._solutions[0][:, :, 0] if self._one_target else self._solutions[0]

    @property
    def intercepts(self) -> Float64Array:
        """Intercepts: (L,) or (L, targets)."""
        return self._solutions[1][:, 0] if self._one_target else self._solutions[1]

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """One certificate per strength."""
        return ridge_certified(*self._of, self.lams, *self._solutions)

    def __getitem__(self, position: int) -> Solution:
        if "_solutions" in self.__dict__ and "certificates" in self.__dict__:
            return super().__getitem__(position)
        frame, spectrum = self._of
        lam = self.lams[[range(len(self))[position]]]
        fit = ridge_refined(frame, spectrum, lam, tol=np.inf, corrections=0)
        coef, intercept = fit.coefs[0], fit.intercepts[0]
        return Solution(
            coef=coef[:, 0] if self._one_target else coef,
            intercept=float(intercept[0]) if self._one_target else intercept,
            lam=float(lam[0]),
            certificate=fit.certificates[0],
            status=self.status,
            solver=self.solver,
            passes=self.passes + fit.passes,
            seconds=self.seconds,
        )

    def __reduce__(self) -> tuple[type[Path], tuple[object, ...]]:
        return Path, tuple(getattr(self, field.name) for field in fields(Path))


def ridge_status(gap: float, tol: float) -> Status:
    """Judge a ridge solution by its gap."""
    if np.isnan(gap) or gap <= tol:
        return Status(StatusCode.CONVERGED)
    return Status(
        StatusCode.MAX_ITER,
        f"relative gap {gap:.1e}, wanted {tol:.0e}.",
        "Use a larger `lam`, or standardize the columns.",
    )
