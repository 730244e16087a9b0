"""The processor: how many threads kernels use, and which instruction set."""

from __future__ import annotations

import os
from typing import Literal, TypeAlias, cast

import numpy as np

from tikhon import _native

InstructionSet: TypeAlias = Literal["baseline", "avx2", "avx512"]

_THREAD_VARIABLES = ("TIKHON_NUM_THREADS", "OMP_NUM_THREADS")


def thread_count() -> int:
    """Return how many threads kernels use when they are not told.

    The least of the processors this process may run on and of the environment variables
    `TIKHON_NUM_THREADS` and `OMP_NUM_THREADS`, where they are set.

    Raises
    ------
    ValueError
        When one of the variables is not a positive integer.
    """
    count = _processor_count()
    for name in _THREAD_VARIABLES:
        # OpenMP allows a list, one number for each level of nesting: the first is the outermost.
        text = os.environ.get(name, "").split(",")[0].strip()
        if text:
            if not (text.isdecimal() and int(text) > 0):
                raise ValueError(
                    f"`{name}` must be a positive integer, got {os.environ[name]!r}. "
                    "Unset it to use every processor."
                )
            count = min(count, int(text))
    return count


def instruction_set() -> InstructionSet:
    """Return the instruction set that kernels use on this processor."""
    return cast("InstructionSet", _native.isa())


def limit_instruction_set(highest: InstructionSet) -> None:
    """Use nothing above `highest` from now on, in the whole process; for tests."""
    _native.limit_isa(highest)


def _processor_count() -> int:
    # Where the system has no notion of affinity, every processor may be used.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_threads(threads: int | None) -> int:
    if threads is None:
        return thread_count()
    if not isinstance(threads, int | np.integer) or isinstance(threads, bool):
        raise TypeError(f"`threads` must be an integer or None, got {threads!r}.")
    if threads < 1:
        raise ValueError(f"`threads` must be >= 1, got {threads}. Use None for all processors.")
    return min(int(threads), 1024)
