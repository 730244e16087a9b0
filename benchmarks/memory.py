"""Resident memory of this process, from the kernel's own accounts (Linux).

The high-water mark counts what compiled code allocates as well, which tracers of Python
allocations miss.
"""

from __future__ import annotations

import ctypes
import gc
from pathlib import Path

STATUS = Path("/proc/self/status")


def _field(name: str) -> int | None:
    if not STATUS.exists():
        return None
    for line in STATUS.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return None


def resident() -> int | None:
    """Bytes in memory now."""
    return _field("VmRSS")


def peak() -> int | None:
    """Most bytes ever in memory since the start or the last reset."""
    return _field("VmHWM")


def give_back() -> None:
    """Return freed memory to the kernel, or the fit would reuse it and seem to need none."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def reset_peak() -> bool:
    """Forget the peak of loading and warming up; False where the kernel does not allow it."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return False
    return True
