"""The linear kernel ``x . z``: a kernel machine with it is a linear model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tikhon._kernels import KernelFunction
from tikhon.kernel.base import Kernel, Table, check_pair, is_sparse, products
from tikhon.typing import Float64Array

__all__ = ["Linear", "squares"]


@dataclass(frozen=True, slots=True)
class Linear(Kernel):
    """The inner product itself, ``k(x, z) = x . z``.

    Examples
    --------
    >>> Linear().matrix(np.array([[1.0, 2.0], [0.0, 3.0]]))
    array([[5., 6.],
           [6., 9.]])
    """

    name: ClassVar[str] = "linear"
    centres: ClassVar[bool] = True

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return ``x_i . z_j``, (n, m)."""
        return products(*check_pair(X, Z))

    def diagonal(self, X: Table) -> Float64Array:
        """Return ``||x_i||^2``, (n,)."""
        return squares(X)

    @property
    def compiled(self) -> KernelFunction:
        """The compiled form."""
        return KernelFunction("linear")


def squares(X: Table) -> Float64Array:
    """Return ``||x_i||^2``, (n,)."""
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    table = np.asarray(X, dtype=np.float64)
    return np.asarray(np.einsum("ij,ij->i", table, table))
