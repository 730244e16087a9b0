r"""Kernel ridge: all strengths from one decomposition, leave-one-out in closed form.

    min over f, b:   sum_i p_i (y_i - f(x_i) - b)^2 / 2 + (lam / 2) ||f||^2,      sum p = 1

With ``f = sum_j beta_j k(x_j, .)``, ``gamma = beta / sqrt(p)``, ``A = P^1/2 K P^1/2`` and the unit
vector ``q = sqrt(p)`` the optimum solves

    (A + lam I) gamma + b q = P^1/2 y,      q' gamma = 0  (where there is an offset),

that is ``gamma = M(lam) P^1/2 y`` with ``M = H (H A H + lam I)^-1 H``, ``H = I - q q'``. Leaving
row i out changes its residual to ``gamma_i / (M_ii sqrt(p_i))``: exact, with the strength that
keeps lam times the weight of the rows that remain, ``M = M(lam (1 - p_i))``. One
eigendecomposition of ``H A H`` serves every strength and every row; for few strengths on many
rows a Cholesky factor of ``A + lam I`` for each is cheaper, and its inverse has the same
diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh, lapack

from tikhon._kernels import Stop
from tikhon.errors import AccuracyError
from tikhon.solvers.row_kernel import symmetrize
from tikhon.typing import Float64Array

__all__ = ["EIGEN_PRICE", "KernelRidgeFit", "decompose", "prefers_eigen"]

EIGEN_PRICE = 12.0
"""An eigendecomposition costs about as much as so many Cholesky factors with their inverses."""

SMALL = 1500
"""Rows up to which everything is decomposed: it takes a second."""


class KernelRidgeFit(Protocol):
    """Kernel ridge on some rows, for any strength."""

    def solve(self, lam: float) -> tuple[Float64Array, Float64Array]:
        """Return dual coefficients (n, targets) and offsets (targets,)."""
        ...

    def left_out(self, lam: float) -> Float64Array:
        """Return the residuals of rows by fits without them, (n, targets)."""
        ...

    def degrees(self, lam: float) -> float:
        """Return the effective degrees of freedom, the offset not counted."""
        ...


def prefers_eigen(n: int, strengths: int) -> bool:
    """Whether one decomposition is cheaper than a factor for each strength."""
    return n <= SMALL or strengths > EIGEN_PRICE


@dataclass(frozen=True, slots=True, eq=False)
class _Eigen:
    """By an eigendecomposition; V includes no direction along q where there is an offset."""

    values: Float64Array
    V: Float64Array
    z: Float64Array
    A: Float64Array
    root: Float64Array
    offset: bool

    def solve(self, lam: float) -> tuple[Float64Array, Float64Array]:
        """Return dual coefficients (n, targets) and offsets (targets,)."""
        c = self.V.T @ self.z
        gamma = self.V @ (c / (self.values + lam)[:, None])
        b = np.zeros(self.z.shape[1])
        if self.offset:
            b = self.root @ (self.z - self.A @ gamma)
        return gamma * self.root[:, None], b

    def left_out(self, lam: float) -> Float64Array:
        """Return the residuals of rows by fits without them, (n, targets)."""
        p = self.root**2
        c = self.V.T @ self.z
        own = lam * (1.0 - p)
        if np.all(p == p[0]):
            inverse = 1.0 / (self.values + own[0])
            gamma = self.V @ (c * inverse[:, None])
            diagonal = (self.V * self.V) @ inverse
        else:
            weight = self.V / (self.values + own[:, None])
            gamma = weight @ c
            diagonal = np.einsum("ij,ij->i", weight, self.V)
        return np.asarray(gamma / (diagonal * self.root)[:, None])

    def degrees(self, lam: float) -> float:
        """Return the effective degrees of freedom, the offset not counted."""
        return float(np.sum(self.values / (self.values + lam)))


@dataclass(frozen=True, slots=True, eq=False)
class _Factors:
    """By a Cholesky factor for each strength."""

    A: Float64Array
    z: Float64Array
    root: Float64Array
    offset: bool

    def _factor(self, lam: float) -> Float64Array:
        M = self.A.copy(order="F")
        M[np.diag_indices(len(M))] += lam
        try:
            return np.asarray(cho_factor(M, lower=True, overwrite_a=True, check_finite=False)[0])
        except LinAlgError as singular:
            raise AccuracyError(
                f"the kernel matrix plus lam = {lam:.3g} is singular in double precision; use a "
                "larger `lam`."
            ) from singular

    def solve(self, lam: float) -> tuple[Float64Array, Float64Array]:
        """Return dual coefficients (n, targets) and offsets (targets,)."""
        return self._with(self._factor(lam))

    def _with(self, factor: Float64Array) -> tuple[Float64Array, Float64Array]:
        solved = cho_solve((factor, True), np.column_stack([self.z, self.root]), check_finite=False)
        gamma, along = solved[:, :-1], solved[:, -1]
        b = np.zeros(self.z.shape[1])
        if self.offset:
            b = (self.root @ gamma) / float(self.root @ along)
            gamma = gamma - np.outer(along, b)
        return gamma * self.root[:, None], b

    def left_out(self, lam: float) -> Float64Array:
        """Return the residuals of rows by fits without them, (n, targets)."""
        p = self.root**2
        if not np.all(p == p[0]):
            raise AccuracyError("rows of unequal weight need the decomposition.")
        factor = self._factor(lam * (1.0 - p[0]))
        beta, _ = self._with(factor)
        along = cho_solve((factor, True), self.root, check_finite=False)
        inverse, failed = lapack.dpotri(factor, lower=1, overwrite_c=1)
        assert not failed
        diagonal = np.diagonal(inverse).copy()
        if self.offset:
            diagonal -= along**2 / float(self.root @ along)
        return np.asarray(beta / (diagonal * p)[:, None])

    def degrees(self, lam: float) -> float:  # noqa: ARG002
        """Return nan: a factor does not tell."""
        return float("nan")


def decompose(
    K: Float64Array,
    y: Float64Array,
    p: Float64Array,
    *,
    offset: bool,
    eigen: bool,
    stop: Stop | None = None,
) -> KernelRidgeFit:
    """Prepare kernel ridge on rows of positive weight.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Overwritten.
    y : ndarray of shape (n, targets)
    p : ndarray of shape (n,)
        Positive weights that sum to 1.
    offset : bool
    eigen : bool
        By one eigendecomposition, or by a factor for each strength.
    """
    root = np.sqrt(p)
    z = y * root[:, None]
    A = np.multiply(K, root[:, None], out=K)
    A *= root
    if not eigen or (stop is not None and stop.requested):
        return _Factors(np.asfortranarray(A), z, root, offset)
    if not offset:
        values, V = eigh(A, check_finite=False)
        return _Eigen(np.maximum(values, 0.0), V, z, A, root, offset)
    along = A @ root
    HAH = A - np.outer(root, along)
    HAH -= np.outer(along - float(root @ along) * root, root)
    HAH += np.outer(root, root) * -(float(np.trace(HAH)) + 1.0)  # q becomes the first direction
    values, V = eigh(symmetrize(HAH), check_finite=False)
    return _Eigen(np.maximum(values[1:], 0.0), V[:, 1:], z, A, root, offset)
