"""Units of work on the threads of this process.

Small LAPACK calls (an eigendecomposition per fold) do not scale inside BLAS; they do scale side
by side. While units run in parallel every BLAS call gets one thread, so that cores are not
oversubscribed. Results come back in the order of the units, whatever finished first.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import threadpoolctl

from tikhon import _kernels

__all__ = ["map_units"]

Unit = TypeVar("Unit")
Result = TypeVar("Result")


@functools.cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def map_units(
    function: Callable[[Unit], Result], units: Sequence[Unit], threads: int | None = None
) -> list[Result]:
    """Return ``[function(unit) for unit in units]``, computed side by side."""
    workers = min(threads or _kernels.thread_count(), len(units))
    if workers <= 1:
        return [function(unit) for unit in units]
    with (
        _controller().limit(limits=1, user_api="blas"),
        ThreadPoolExecutor(max_workers=workers) as pool,
    ):
        return list(pool.map(function, units))
