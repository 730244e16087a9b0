"""The radial basis function, ``exp(-gamma ||x - z||^2)``: nearness, smooth of every order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from tikhon._kernels import KernelFunction
from tikhon.kernel.base import Kernel, Table, check_pair, is_sparse, products
from tikhon.kernel.linear import squares
from tikhon.kernel.parameters import check_gamma, default_gamma, given
from tikhon.typing import Float64Array

__all__ = ["RBF"]


@dataclass(frozen=True, slots=True)
class RBF(Kernel):
    """Gaussian nearness, ``k(x, z) = exp(-gamma ||x - z||^2)``.

    Parameters
    ----------
    gamma : float, optional
        > 0; by default 1 over the total variance of the columns: 1 / d where they are standardized.

    Examples
    --------
    >>> RBF(0.5).matrix(np.array([[0.0], [2.0]])).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    gamma: float | None = None

    name: ClassVar[str] = "rbf"
    shifts: ClassVar[bool] = True
    centres: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_gamma(self.gamma)

    def resolved(self, variance: float) -> Self:
        """Return the kernel with `gamma` as a number."""
        return self if self.gamma is not None else replace(self, gamma=default_gamma(variance))

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return ``exp(-gamma ||x_i - z_j||^2)``, (n, m)."""
        return np.exp(-given(self.gamma) * squared_distances(*check_pair(X, Z), same=Z is None))

    def diagonal(self, X: Table) -> Float64Array:
        """Return ones, (n,)."""
        return np.ones(X.shape[0])

    @property
    def compiled(self) -> KernelFunction:
        """The compiled form."""
        return KernelFunction("rbf", given(self.gamma))


def squared_distances(X: Table, Z: Table, *, same: bool) -> Float64Array:
    """Return ``||x_i - z_j||^2``; dense rows are first moved to their middle, to lose no digits."""
    if not is_sparse(X) and not is_sparse(Z):
        middle = X.mean(axis=0) if len(X) else 0.0
        X, Z = X - middle, Z - middle
    distances = squares(X)[:, None] + squares(Z) - 2.0 * products(X, Z)
    np.maximum(distances, 0.0, out=distances)
    if same:
        np.fill_diagonal(distances, 0.0)
    return distances
