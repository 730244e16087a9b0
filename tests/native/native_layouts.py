"""The same matrix in every way a kernel may meet it, and under every instruction set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from tikhon import _kernels

Matrix = NDArray[np.floating]


def _every_other(X: Matrix) -> Matrix:
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _every_other_in_columns(X: Matrix) -> Matrix:
    wide = np.full((2 * X.shape[0], 3 * X.shape[1]), np.nan, dtype=X.dtype, order="F")
    wide[::2, ::3] = X
    return wide[::2, ::3]


def _read_only(X: Matrix) -> Matrix:
    copy = np.ascontiguousarray(X).copy()
    copy.flags.writeable = False
    return copy


LAYOUTS: dict[str, Callable[[Matrix], Matrix]] = {
    "C": lambda X: np.array(X, order="C"),
    "F": lambda X: np.array(X, order="F"),
    "part of a wider C matrix": lambda X: np.hstack([X, X])[:, : X.shape[1]],
    "strided": _every_other,
    "strided in columns": _every_other_in_columns,
    "read only": _read_only,
}
THREADS = (1, 2, 3)
INSTRUCTION_SETS: tuple[_kernels.InstructionSet, ...] = ("baseline", "avx2", "avx512")


@contextmanager
def limited_to(highest: _kernels.InstructionSet) -> Iterator[None]:
    """Run without instruction sets above `highest`."""
    _kernels.limit_instruction_set(highest)
    try:
        yield
    finally:
        _kernels.limit_instruction_set("avx512")
