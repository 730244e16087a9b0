"""Units of work on the threads of this process.

Small LAPACK calls (an eigendecomposition per fold) do not scale inside BLAS; they do scale side
by side. While units run in parallel every BLAS call gets one thread, so that cores are not
oversubscribed. Results come back in the order of the units, whatever finished first.

Python handles Ctrl-C in the main thread and between bytecodes, so a compiled loop that runs there
for a minute would not hear of it. Given a `Stop`, units never run in the calling thread: it waits,
and what interrupts the wait asks the units to stop.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import threadpoolctl

from tikhon import _kernels

__all__ = ["map_units", "one_blas_thread"]

Unit = TypeVar("Unit")
Result = TypeVar("Result")


@functools.cache
def _controller() -> threadpoolctl.ThreadpoolController:
    return threadpoolctl.ThreadpoolController()


def one_blas_thread() -> contextlib.AbstractContextManager[object]:
    """Give BLAS one thread for a while: for many small systems, one after the other.

    On matrices of some hundred rows more threads gain little, and lose a hundredfold where other
    programs use the processors as well: each product then waits for a thread that does not run.
    """
    limited: contextlib.AbstractContextManager[object] = _controller().limit(
        limits=1, user_api="blas"
    )
    return limited


def map_units(
    function: Callable[[Unit], Result],
    units: Sequence[Unit],
    threads: int | None = None,
    stop: _kernels.Stop | None = None,
) -> list[Result]:
    """Return ``[function(unit) for unit in units]``, computed side by side."""
    workers = min(threads or _kernels.thread_count(), len(units))
    if workers == 0 or (workers == 1 and stop is None):
        return [function(unit) for unit in units]
    alone = workers == 1
    limit = contextlib.nullcontext() if alone else one_blas_thread()
    with limit, ThreadPoolExecutor(max_workers=workers) as pool:
        try:
            return list(pool.map(function, units))
        except BaseException:
            if stop is not None:
                stop.request()
            raise
