"""The interface of a kernel, and what a user's own kernel inherits.

A kernel is a function k(x, z) whose matrices ``K_ij = k(x_i, x_j)`` are symmetric and positive
semidefinite: an inner product of features that are never written down. Solvers speak to kernels
through this interface alone. The compiled form (`compiled`) computes the same numbers row by row
while a solver runs; the NumPy form (`matrix`) is the one to read, and predicts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from tikhon._kernels import KernelFunction
from tikhon.typing import Float64Array

__all__ = ["Kernel", "Table", "check_pair", "dense", "is_sparse", "products", "rows_of"]

Table = Any
"""Rows: a float array of shape (n, d), or a SciPy sparse array."""


class Kernel(ABC):
    """A positive semidefinite function of two rows.

    Subclasses are frozen dataclasses. A user's own kernel defines `matrix`; a function of two
    tables will do as well wherever a kernel is asked for.

    Attributes
    ----------
    name : str
    shifts : bool
        Whether adding one row to all of them leaves k as it is: solvers then centre the columns.
    centres : bool
        The same for machines with a free offset, to which ``k(x, z) + c(x) + c(z)`` is k.
    scales : bool
        Whether columns of unequal spread should be standardized first; not for kernels that read
        their rows in their own way.
    moves : bool
        Whether to standardize means to centre as well, because k depends on where zero is.
    """

    __slots__ = ()

    name: ClassVar[str] = "custom"
    shifts: ClassVar[bool] = False
    centres: ClassVar[bool] = False
    scales: ClassVar[bool] = True
    moves: ClassVar[bool] = False

    @abstractmethod
    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return ``k(x_i, z_j)``, (n, m); Z is X where it is left out."""

    def diagonal(self, X: Table) -> Float64Array:
        """Return ``k(x_i, x_i)``, (n,)."""
        return np.array([float(self.matrix(row, row)[0, 0]) for row in rows_of(X)])

    def resolved(self, variance: float) -> Self:  # noqa: ARG002
        """Return the kernel with numbers for defaults, for columns of this total variance."""
        return self

    @property
    def compiled(self) -> KernelFunction | None:
        """The compiled form, None if there is none."""
        return None


def is_sparse(X: Any) -> bool:
    """Whether zeros are not stored."""
    return bool(sparse.issparse(X))


def dense(X: Any) -> Float64Array:
    """Return the rows with their zeros, in float64."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


def rows_of(X: Table) -> list[Table]:
    """Return the rows, each a table of one row."""
    if is_sparse(X):
        table = X.tocsr()
        return [table[[i]] for i in range(table.shape[0])]
    return [X[i : i + 1] for i in range(len(X))]


def check_pair(X: Table, Z: Table | None) -> tuple[Table, Table]:
    """Return two tables with the same columns; refuse others."""
    first = _table(X)
    if Z is None:
        return first, first
    second = _table(Z)
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"`Z` must have the {first.shape[1]} columns of `X`, got {second.shape[1]}."
        )
    return first, second


def products(X: Table, Z: Table) -> Float64Array:
    """Return ``x_i . z_j``, dense."""
    return dense(X @ Z.T)


def _table(X: Any) -> Table:
    return X.tocsr() if is_sparse(X) else np.atleast_2d(np.asarray(X, dtype=np.float64))
