"""The Laplacian kernel, ``exp(-gamma ||x - z||_1)``: nearness with a kink, less smooth fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from scipy.spatial.distance import cdist

from tikhon._kernels import KernelFunction
from tikhon.kernel.base import Kernel, Table, check_pair, dense
from tikhon.kernel.parameters import check_gamma, default_gamma, given
from tikhon.typing import Float64Array

__all__ = ["Laplacian"]

DENSE_ROWS = 256
"""Sparse rows are spread out this many at a time."""


@dataclass(frozen=True, slots=True)
class Laplacian(Kernel):
    """Nearness in the sum of absolute differences, ``k(x, z) = exp(-gamma ||x - z||_1)``.

    Parameters
    ----------
    gamma : float, optional
        > 0; by default 1 over the total variance of the columns: 1 / d where they are standardized.

    Examples
    --------
    >>> Laplacian(1.0).matrix(np.array([[0.0, 0.0], [1.0, -1.0]])).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    gamma: float | None = None

    name: ClassVar[str] = "laplacian"
    shifts: ClassVar[bool] = True
    centres: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def resolved(self, variance: float) -> Self:
        """Return the kernel with `gamma` as a number."""
        return self if self.gamma is not None else replace(self, gamma=default_gamma(variance))

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return ``exp(-gamma ||x_i - z_j||_1)``, (n, m)."""
        first, second = check_pair(X, Z)
        out = np.empty((first.shape[0], second.shape[0]))
        for i in range(0, first.shape[0], DENSE_ROWS):
            for j in range(0, second.shape[0], DENSE_ROWS):
                rows, columns = slice(i, i + DENSE_ROWS), slice(j, j + DENSE_ROWS)
                out[rows, columns] = cdist(dense(first[rows]), dense(second[columns]), "cityblock")
        return np.exp(-given(self.gamma) * out)

    def diagonal(self, X: Table) -> Float64Array:
        """Return ones, (n,)."""
        return np.ones(X.shape[0])

    @property
    def compiled(self) -> KernelFunction:
        """The compiled form."""
        return KernelFunction("laplacian", given(self.gamma))
