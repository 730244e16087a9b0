"""The polynomial kernel ``(gamma x . z + coef0)^degree``: all monomials up to a degree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from tikhon._kernels import KernelFunction
from tikhon.kernel.base import Kernel, Table, check_pair, products
from tikhon.kernel.linear import squares
from tikhon.kernel.parameters import check_gamma, default_gamma, given
from tikhon.typing import Float64Array

__all__ = ["Polynomial"]


@dataclass(frozen=True, slots=True)
class Polynomial(Kernel):
    """Powers of inner products, ``k(x, z) = (gamma x . z + coef0)^degree``.

    Parameters
    ----------
    degree : int, default 3
    gamma : float, optional
        > 0; by default 1 over the total variance of the columns: 1 / d where they are standardized.
    coef0 : float, default 1
        >= 0: below, the kernel is not positive semidefinite.

    Examples
    --------
    >>> Polynomial(2, gamma=1.0).matrix(np.array([[1.0, 2.0]]))
    array([[36.]])
    """

    degree: int = 3
    gamma: float | None = None
    coef0: float = 1.0

    name: ClassVar[str] = "polynomial"
    moves: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_gamma(self.gamma)
        if not (isinstance(self.degree, int | np.integer) and self.degree >= 1):
            raise ValueError(f"`degree` must be a whole number >= 1, got {self.degree!r}.")
        if not (self.coef0 >= 0 and np.isfinite(self.coef0)):
            raise ValueError(
                f"`coef0` must be finite and >= 0, got {self.coef0}: with a negative one the "
                "kernel is not positive semidefinite."
            )

    def resolved(self, variance: float) -> Self:
        """Return the kernel with `gamma` as a number."""
        return self if self.gamma is not None else replace(self, gamma=default_gamma(variance))

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return ``(gamma x_i . z_j + coef0)^degree``, (n, m)."""
        inner = products(*check_pair(X, Z))
        return np.asarray((given(self.gamma) * inner + self.coef0) ** int(self.degree))

    def diagonal(self, X: Table) -> Float64Array:
        """Return ``k(x_i, x_i)``, (n,)."""
        return np.asarray((given(self.gamma) * squares(X) + self.coef0) ** int(self.degree))

    @property
    def compiled(self) -> KernelFunction:
        """The compiled form."""
        return KernelFunction("polynomial", given(self.gamma), float(self.coef0), int(self.degree))
