"""Kernels that somebody else computes: a function of two tables, or the matrix itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tikhon.kernel.base import Kernel, Table
from tikhon.typing import Float64Array

__all__ = ["Function", "Precomputed"]


@dataclass(frozen=True)
class Function(Kernel):
    """A user's function of two tables.

    Parameters
    ----------
    function : callable
        ``function(X, Z)`` of tables (n, d) and (m, d) returns ``k(x_i, z_j)``, (n, m).

    Examples
    --------
    >>> kernel = Function(lambda X, Z: np.minimum(X, Z.T))
    >>> kernel.matrix(np.array([[1.0], [2.0]]))
    array([[1., 1.],
           [1., 2.]])
    """

    function: Callable[[Any, Any], Any]

    name: ClassVar[str] = "function"
    scales: ClassVar[bool] = False

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return what the function says, checked: (n, m), finite."""
        other = X if Z is None else Z
        made = np.asarray(self.function(X, other), dtype=np.float64)
        wanted = (X.shape[0], other.shape[0])
        if made.shape != wanted:
            raise ValueError(
                f"the kernel function must return shape {wanted} for tables of {wanted[0]} and "
                f"{wanted[1]} rows, got {made.shape}."
            )
        if not np.isfinite(made).all():
            raise ValueError("the kernel function returned NaN or infinity.")
        return made


@dataclass(frozen=True, slots=True)
class Precomputed(Kernel):
    """The table is the matrix: fit takes (n, n), predict takes (m, n), a row for each new row.

    Examples
    --------
    >>> Precomputed().matrix(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    name: ClassVar[str] = "precomputed"
    scales: ClassVar[bool] = False

    def matrix(self, X: Table, Z: Table | None = None) -> Float64Array:
        """Return X, which holds the values already."""
        if Z is not None:
            raise ValueError(
                "a precomputed kernel has no values but those given: `Z` must be left out."
            )
        made = X.toarray() if hasattr(X, "toarray") else X
        return np.asarray(made, dtype=np.float64)

    def diagonal(self, X: Table) -> Float64Array:
        """Return the diagonal, (n,)."""
        return np.diagonal(self.matrix(X)).copy()
