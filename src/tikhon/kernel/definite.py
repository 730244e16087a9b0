"""Whether a matrix that somebody else computed is a kernel: symmetric, no negative eigenvalue.

An indefinite matrix has no feature space and its machine no convex problem: what a solver finds
then depends on where it starts. The eigenvalue is the evidence. Where the matrix is too large to
decompose, the Lanczos method looks for its smallest eigenvalue.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from tikhon.errors import InputError, Problems
from tikhon.typing import Float64Array

__all__ = ["check_kernel_matrix"]

SMALL = 1500
"""Rows up to which all eigenvalues are computed."""

ROUNDING = 1e-8
"""Negative eigenvalues of a larger size, relative to the largest one, are not rounding."""


def check_kernel_matrix(K: Float64Array, eps: float = 0.0) -> None:
    """Refuse a matrix that is not square, not symmetric or not positive semidefinite.

    Parameters
    ----------
    K : ndarray of shape (n, n)
    eps : float
        Relative rounding of the values, where they came in single precision.

    Raises
    ------
    InputError
        With the entries that differ, or the negative eigenvalue.
    """
    problems = Problems()
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        problems.add(
            "kernel_shape",
            f"a precomputed kernel matrix must be square, got shape {K.shape}",
            "Give k(x_i, x_j) for all pairs of training rows.",
        )
        problems.raise_if_any()
    size = float(np.abs(K).max(initial=0.0))
    difference = np.abs(K - K.T)
    if difference.max(initial=0.0) > max(1e-10, 10.0 * eps) * size:
        i, j = np.unravel_index(int(difference.argmax()), K.shape)
        problems.add(
            "kernel_asymmetric",
            f"the kernel matrix is not symmetric: K[{i}, {j}] = {K[i, j]:.6g}, K[{j}, {i}] = "
            f"{K[j, i]:.6g}",
            "A kernel is the same both ways; use (K + K') / 2 if that is what was meant.",
            row=int(i),
            count=int((difference > 1e-10 * size).sum()),
        )
        problems.raise_if_any()
    smallest, largest = _extreme_eigenvalues(K)
    if smallest < -max(ROUNDING, 100.0 * eps) * max(largest, -smallest):
        raise _indefinite(smallest, largest)


def _extreme_eigenvalues(K: Float64Array) -> tuple[float, float]:
    if len(K) <= SMALL:
        values = eigvalsh(K)
        return float(values[0]), float(values[-1])
    largest = float(eigsh(K, k=1, which="LA", tol=1e-3, return_eigenvectors=False)[0])
    try:
        smallest = float(eigsh(K, k=1, which="SA", tol=1e-4, return_eigenvectors=False)[0])
    except ArpackNoConvergence as slow:  # many eigenvalues near 0, none well below it
        smallest = float(min(slow.eigenvalues, default=0.0))
    return smallest, largest


def _indefinite(smallest: float, largest: float) -> InputError:
    problems = Problems()
    problems.add(
        "kernel_indefinite",
        f"the kernel is indefinite: its matrix has the eigenvalue {smallest:.6g} (the largest is "
        f"{largest:.6g}), so the problem is not convex",
        "Use a positive semidefinite kernel; adding a constant to the diagonal of a precomputed "
        "matrix makes it one.",
        value=f"{smallest:.6g}",
    )
    return InputError(tuple(problems))
