"""Kernels: inner products of features that are never written down.

    linear  x . z      polynomial  (gamma x . z + coef0)^degree
    rbf  exp(-gamma ||x - z||^2)      laplacian  exp(-gamma ||x - z||_1)

besides a user's own function of two tables (`Function`) and a matrix of values (`Precomputed`).
"""

from __future__ import annotations

from typing import Any

from tikhon.kernel.base import Kernel
from tikhon.kernel.definite import check_kernel_matrix
from tikhon.kernel.laplacian import Laplacian
from tikhon.kernel.linear import Linear
from tikhon.kernel.own import Function, Precomputed
from tikhon.kernel.polynomial import Polynomial
from tikhon.kernel.rbf import RBF

__all__ = [
    "RBF",
    "Function",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "as_kernel",
    "check_kernel_matrix",
]

_BY_NAME: dict[str, Kernel] = {
    "linear": Linear(),
    "polynomial": Polynomial(),
    "rbf": RBF(),
    "laplacian": Laplacian(),
    "precomputed": Precomputed(),
}


def as_kernel(kernel: Any) -> Kernel:
    """Turn a name, a `Kernel` or a function of two tables into a kernel.

    Examples
    --------
    >>> as_kernel("rbf")
    RBF(gamma=None)
    """
    if isinstance(kernel, Kernel):
        return kernel
    if isinstance(kernel, str) and kernel in _BY_NAME:
        return _BY_NAME[kernel]
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    raise ValueError(
        f"`kernel` must be one of {', '.join(map(repr, _BY_NAME))}, one of tk.kernel or a function "
        f"of two tables, got {kernel!r}."
    )
