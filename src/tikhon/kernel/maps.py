r"""Feature maps whose inner products are near a kernel; linear machines on them are near its own.

Nystroem            phi(x) = L^-1 k(landmarks, x),  K_landmarks = L L'
random features     phi(x) = sqrt(1 / m) [cos(omega_j . x), sin(omega_j . x)],  j = 1 .. m

Nystroem's error ``K - Phi Phi'`` is positive semidefinite, so its trace, which costs one number per
row, is the sum of its eigenvalues: an exact statement about the whole matrix. Landmarks are drawn
one after the other with a probability in proportion to what is left of the diagonal (randomly
pivoted Cholesky), which is near the best choice of so many rows. Frequencies omega of the random
features follow the kernel's Fourier transform: normal for the RBF, Cauchy for the Laplacian.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from tikhon.errors import UnsupportedError
from tikhon.kernel.base import Kernel, Table
from tikhon.kernel.laplacian import Laplacian
from tikhon.kernel.parameters import given
from tikhon.kernel.rbf import RBF
from tikhon.typing import Float64Array, IntArray

__all__ = ["FourierMap", "NystroemMap", "fourier_map", "nystroem_map"]

ROUNDING = 1e-12
"""What may be left of the diagonal, relative to it, when further landmarks would be rounding."""

PAIRS = 2000
"""Pairs of rows on which the error of random features is measured, so many at a time:"""

AT_ONCE = 50


@dataclass(frozen=True, slots=True, eq=False)
class NystroemMap:
    """Landmarks and their factor.

    Attributes
    ----------
    kernel : Kernel
    landmarks : ndarray or sparse array of shape (m, d)
    index : ndarray of shape (m,)
        Which rows they were.
    factor : ndarray of shape (m, m)
        Lower triangular: the kernel matrix of the landmarks is ``factor factor'``.
    error : float
        ``trace(K - Phi Phi') / trace(K)`` on the rows it was made from.
    """

    kernel: Kernel
    landmarks: Table
    index: IntArray
    factor: Float64Array
    error: float

    def features(self, X: Table) -> Float64Array:
        """Return ``phi(x_i)``, (n, m)."""
        K = self.kernel.matrix(X, self.landmarks)
        return np.ascontiguousarray(solve_triangular(self.factor, K.T, lower=True).T)


def nystroem_map(kernel: Kernel, X: Table, count: int, rng: np.random.Generator) -> NystroemMap:
    """Draw at most `count` landmarks from the rows, fewer where they span all of them."""
    n = X.shape[0]
    diagonal = np.maximum(kernel.diagonal(X), 0.0)
    left, total = diagonal.copy(), float(diagonal.sum())
    F = np.zeros((n, min(count, n)))
    index: list[int] = []
    while len(index) < F.shape[1] and float(left.sum()) > ROUNDING * total:
        pivot = int(rng.choice(n, p=left / left.sum()))
        at = len(index)
        column = kernel.matrix(X, X[[pivot]])[:, 0] - F[:, :at] @ F[pivot, :at]
        if not column[pivot] > ROUNDING * max(float(diagonal[pivot]), np.finfo(np.float64).tiny):
            left[pivot] = 0.0
            continue
        F[:, at] = column / np.sqrt(column[pivot])
        left = np.maximum(left - F[:, at] ** 2, 0.0)
        index.append(pivot)
        left[index] = 0.0
    chosen = np.array(index, dtype=np.int64)
    error = float(left.sum() / total) if total > 0 else 0.0
    return NystroemMap(kernel, X[chosen], chosen, np.tril(F[chosen, : len(index)]), error)


@dataclass(frozen=True, slots=True, eq=False)
class FourierMap:
    """Frequencies of random features.

    Attributes
    ----------
    frequencies : ndarray of shape (d, m)
    error : float
        Root mean square of ``phi(x) . phi(z) - k(x, z)`` over pairs of rows it was made from.
    error_se : float
        The standard error of its square, as a share of it, carried over to the root.
    """

    frequencies: Float64Array
    error: float
    error_se: float

    def features(self, X: Table) -> Float64Array:
        """Return ``phi(x_i)``, (n, 2 m)."""
        angles = np.asarray(X @ self.frequencies, dtype=np.float64)
        scale = 1.0 / np.sqrt(self.frequencies.shape[1])
        return np.concatenate([np.cos(angles) * scale, np.sin(angles) * scale], axis=1)


def fourier_map(kernel: Kernel, X: Table, count: int, rng: np.random.Generator) -> FourierMap:
    """Draw frequencies for `count` features, and measure their error on pairs of rows."""
    d, pairs = X.shape[1], max(1, count // 2)
    if isinstance(kernel, RBF):
        frequencies = rng.standard_normal((d, pairs)) * np.sqrt(2.0 * given(kernel.gamma))
    elif isinstance(kernel, Laplacian):
        frequencies = rng.standard_cauchy((d, pairs)) * given(kernel.gamma)
    else:
        raise UnsupportedError(
            f"random features are for RBF and Laplacian kernels, got {kernel!r}; tk.Nystroem takes "
            "any kernel."
        )
    made = FourierMap(frequencies, 0.0, 0.0)
    a, b = rng.integers(0, X.shape[0], (2, PAIRS))
    some = [slice(at, at + AT_ONCE) for at in range(0, PAIRS, AT_ONCE)]
    exact = np.concatenate([np.diagonal(kernel.matrix(X[a[part]], X[b[part]])) for part in some])
    near = np.einsum("ij,ij->i", made.features(X[a]), made.features(X[b]))
    squares = (near - exact) ** 2
    error = float(np.sqrt(squares.mean()))
    se = float(squares.std() / np.sqrt(PAIRS) / (2 * error)) if error > 0 else 0.0
    return FourierMap(frequencies, error, se)
