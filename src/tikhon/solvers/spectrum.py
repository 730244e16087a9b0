"""Ridge for every strength at once, from one eigendecomposition.

With centred, scaled data (1/n) X'X = V diag(e) V' and c = V' X'y / n:

    w(lam) = V diag(1 / (e + lam)) c              df(lam) = sum e / (e + lam)
    ||w(lam)||^2 = sum (c / (e + lam))^2

Norm, degrees of freedom and (with the noise level) the prior's standard deviation are monotone
functions of lam, so each can be turned back into the lam that gives it: the norm-constrained
form ``||w|| <= C`` is ridge at the root of the secular equation ``||w(lam)|| = C``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from tikhon.data.moments import Centred
from tikhon.typing import Float64Array

__all__ = ["Eigenspace", "Spectrum", "spectrum_of_kernel", "spectrum_of_moments"]


@dataclass(frozen=True, slots=True, eq=False)
class Spectrum:
    """Eigenvalues and the targets' projections: what every strength does, without the data.

    Attributes
    ----------
    e : ndarray of shape (r,)
        Eigenvalues of the scaled, centred second-moment matrix, >= 0.
    c : ndarray of shape (r, targets)
    total : ndarray of shape (targets,)
        Mean square of each centred target.
    weight : float
        Total sample weight n, for the strengths of the sum convention and the prior.
    complete : bool
        Whether these are all directions; a Krylov space holds only those the targets reach,
        so degrees of freedom are unknown (nan) there.
    """

    e: Float64Array
    c: Float64Array
    total: Float64Array
    weight: float
    complete: bool

    @property
    def rank(self) -> int:
        """Number of directions in which the data vary."""
        return int(np.count_nonzero(self.e))

    @property
    def top(self) -> float:
        """The largest eigenvalue."""
        return float(self.e.max(initial=0.0))

    def shrunk(self, lam: float | Float64Array) -> Float64Array:
        """Return ``c / (e + lam)``, 0 where the data do not vary; `lam` per target if an array."""
        bottom = self.e[:, None] + lam
        return np.divide(self.c, bottom, out=np.zeros_like(self.c), where=self.e[:, None] > 0)

    def df(self, lam: float) -> float:
        """Effective degrees of freedom, the intercept not counted."""
        if not self.complete:
            return float("nan")
        if lam == 0:
            return float(self.rank)
        return float(np.sum(self.e / (self.e + lam)))

    def norm(self, lam: float) -> float:
        """``||w(lam)||`` over all targets, on the scaled columns."""
        return float(np.linalg.norm(self.shrunk(lam)))

    def mean_square_residual(self, lam: float) -> Float64Array:
        """Training mean square residual of each target at `lam`."""
        shrunk = self.shrunk(lam)
        kept = np.einsum("rt,rt->t", 2.0 * self.c - self.e[:, None] * shrunk, shrunk)
        return np.asarray(np.maximum(self.total - kept, 0.0))

    def noise(self, lam: float) -> Float64Array:
        """Residual standard deviation of each target, degrees of freedom and intercept deducted."""
        left = self.weight - 1.0 - self.df(lam)
        if left <= 0:
            return np.full_like(self.total, np.nan)
        return np.sqrt(self.mean_square_residual(lam) * self.weight / left)

    def prior_sd(self, lam: float, noise: float | None = None) -> float:
        """Return tau of the prior ``w ~ N(0, tau^2)`` that ridge at `lam` implies.

        ``lam n = sigma^2 / tau^2``; `noise` is sigma, estimated from the residuals if not given.
        """
        sigma = float(np.sqrt(np.mean(self.noise(lam) ** 2))) if noise is None else noise
        return np.inf if lam == 0 else sigma / float(np.sqrt(lam * self.weight))

    def lam_for_prior_sd(self, sd: float, noise: float) -> float:
        """Return the strength of the prior ``w ~ N(0, sd^2)`` under noise of sd `noise`."""
        if not sd > 0:
            raise ValueError(f"`sd` must be > 0, got {sd}.")
        return (noise / sd) ** 2 / self.weight

    def lam_for_norm(self, radius: float) -> float:
        """Return the strength at which ``||w|| = radius``; 0 where the bound is inactive."""
        if not radius > 0:
            raise ValueError(f"`norm` must be > 0, got {radius}.")
        if self.norm(0.0) <= radius:
            return 0.0
        return self._root(lambda lam: self.norm(lam) / radius - 1.0)

    def lam_for_df(self, df: float) -> float:
        """Return the strength with `df` effective degrees of freedom."""
        if not 0 < df <= self.rank:
            raise ValueError(f"`df` must be in (0, {self.rank}], got {df}.")
        if df == self.rank:
            return 0.0
        return self._root(lambda lam: self.df(lam) / df - 1.0)

    def _root(self, decreasing: Callable[[float], float]) -> float:
        """Root of a decreasing function of lam, searched in log lam."""
        high = max(self.top, 1e-300)
        while decreasing(high) > 0:
            high *= 1e3
        low = high
        while decreasing(low) < 0 and low > 1e-290:
            low *= 1e-3
        root = optimize.brentq(
            lambda t: decreasing(float(np.exp(t))), np.log(low), np.log(high), xtol=1e-14
        )
        return float(np.exp(root))


@dataclass(frozen=True, slots=True, eq=False)
class Eigenspace(Spectrum):
    """A spectrum that knows the way back to coefficients on the scaled columns.

    Attributes
    ----------
    lift : callable
        Takes (r, k) spectral coordinates to (d, k) coefficients.
    drop : callable
        The transpose: takes (d, k) to (r, k).
    exact : EquilibratedMoments, optional
        Where columns differ so much in size that eigenvectors of the small ones drown in the
        rounding of the large ones: solves one strength at a time instead.
    """

    lift: Callable[[Float64Array], Float64Array]
    drop: Callable[[Float64Array], Float64Array]
    exact: EquilibratedMoments | None = None

    def spectrum(self) -> Spectrum:
        """Return the figures alone, which hold no reference to the data."""
        return Spectrum(self.e, self.c, self.total, self.weight, self.complete)

    def coefs(self, lams: Float64Array) -> Float64Array:
        """Return the coefficients for each strength: (L, d, targets).

        `lams` is (L,) or, with a strength per target, (L, targets).
        """
        if self.exact is not None and np.all(lams > 0):
            return np.stack([self.exact.coefs(np.atleast_1d(lam)) for lam in lams])
        grid = np.stack([self.shrunk(lam) for lam in lams])  # (L, r, T)
        length, r, targets = grid.shape
        flat = np.ascontiguousarray(grid.transpose(1, 0, 2)).reshape(r, length * targets)
        W = self.lift(flat)
        return np.ascontiguousarray(W.reshape(len(W), length, targets).transpose(1, 0, 2))

    def solve(self, gradients: Float64Array, lams: Float64Array) -> Float64Array:
        """Return ``(M + lam I)^-1 g`` for gradients (L, d, targets) and strengths (L, targets)."""
        if self.exact is not None and np.all(lams > 0):
            pairs = zip(gradients, lams, strict=True)
            return np.stack([self.exact.solve(g, lam) for g, lam in pairs])
        length, d, targets = gradients.shape
        flat = np.ascontiguousarray(gradients.transpose(1, 0, 2)).reshape(d, length * targets)
        spectral = self.drop(flat)
        bottom = self.e[:, None] + lams.reshape(1, -1)
        varies = self.e[:, None] > 0
        step = np.divide(spectral, bottom, out=np.zeros_like(spectral), where=varies)
        return self.lift(step).reshape(d, length, targets).transpose(1, 0, 2)

    def inverse_form(self, g: Float64Array) -> Float64Array:
        """Return ``g' M^+ g`` for each column of g (d, k), M the second-moment matrix."""
        spectral = self.drop(g) ** 2
        bottom = self.e[:, None]
        kept = np.divide(spectral, bottom, out=np.zeros_like(spectral), where=bottom > 0)
        return np.asarray(kept.sum(axis=0))


@dataclass(frozen=True, slots=True, eq=False)
class EquilibratedMoments:
    """``(M + lam I)^-1`` by Cholesky of the matrix scaled to a unit diagonal.

    Cholesky with that scaling is as accurate as if the columns had come in one size.
    """

    M: Float64Array
    xy: Float64Array

    def coefs(self, lam: Float64Array) -> Float64Array:
        """Return the coefficients (d, targets) at a strength, or at one per target."""
        return self.solve(self.xy, np.broadcast_to(lam, self.xy.shape[1]))

    def solve(self, g: Float64Array, lam: Float64Array) -> Float64Array:
        """Return ``(M + lam_t I)^-1 g_t`` for each column of g (d, targets)."""
        result = np.empty_like(g)
        for value in np.unique(lam):
            same = lam == value
            size = np.sqrt(np.diagonal(self.M) + value)
            scaled = self.M / size
            scaled /= size[:, None]
            np.fill_diagonal(scaled, 1.0)
            factor = linalg.cho_factor(scaled, lower=False, overwrite_a=True, check_finite=False)
            half = linalg.cho_solve(factor, g[:, same] / size[:, None], check_finite=False)
            result[:, same] = half / size[:, None]
        return result


UNEVEN = 1e6
"""Largest over smallest second moment of a column from which eigenvectors lose digits."""


def spectrum_of_moments(moments: Centred, scale: Float64Array) -> Eigenspace:
    """Eigendecomposition of the scaled second-moment matrix."""
    A = moments.xx / scale
    A /= scale[:, None]
    e, V = np.linalg.eigh(A, UPLO="U")
    e = _clean(e)
    xy = moments.xy / scale[:, None]
    size = np.diagonal(A)
    varying = size[size > 0]
    uneven = varying.size > 0 and varying.max() > UNEVEN * varying.min()
    return Eigenspace(
        e,
        V.T @ xy,
        moments.yy,
        moments.weight,
        True,
        lambda S: V @ S,
        lambda W: V.T @ W,
        EquilibratedMoments(A, xy) if uneven else None,
    )


def spectrum_of_kernel(
    K: Float64Array,
    y: Float64Array,
    weight: float,
    lift: Callable[[Float64Array], Float64Array],
    drop: Callable[[Float64Array], Float64Array],
    null: Float64Array | None = None,
) -> tuple[Eigenspace, Float64Array]:
    """Eigendecomposition of a kernel ``K = A A'`` (overwritten) with targets `y` scaled like A.

    `lift` takes (n, k) dual coefficients to ``A' a``; `drop` takes (d, k) to ``A W``. `null` is a
    unit vector known to be in K's null space (the weights' root, where the data are centred): it
    is moved to the top of the spectrum and cut off, so that it mixes with no other direction.
    Returns the spectrum and the eigenvectors.
    """
    if null is not None:
        K += np.outer(null, 2.0 * float(np.linalg.norm(K)) * null)
    e, U = np.linalg.eigh(K, UPLO="U")
    if null is not None:
        e, U = e[:-1], U[:, :-1]
    e = _clean(e)
    root = np.sqrt(e)[:, None]
    inverse = np.divide(1.0, root, out=np.zeros_like(root), where=root > 0)
    spectrum = Eigenspace(
        e,
        root * (U.T @ y),
        np.einsum("it,it->t", y, y),
        weight,
        True,
        lambda S: lift(U @ (inverse * S)),
        lambda W: inverse * (U.T @ drop(W)),
    )
    return spectrum, U


def _clean(e: Float64Array) -> Float64Array:
    """Set eigenvalues at the level of rounding to exactly 0: they carry no information."""
    level = len(e) * np.finfo(np.float64).eps * float(np.max(np.abs(e), initial=0.0))
    return np.where(e > level, e, 0.0)
