"""What the numbers are measured on."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import numpy as np

from benchmarks.records import Machine


def describe() -> Machine:
    """Processor, cores, memory, system, BLAS of the benchmark's environment, and load.

    Call it before the measurements: the load tells whether something else was running.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return Machine(
        processor=_processor(),
        cores=len(affinity(0)) if affinity else os.cpu_count() or 1,
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        system=platform.system(),
        python=platform.python_version(),
        blas=f"{blas['name']} {blas['version']}",
        load_before=os.getloadavg()[0],
    )


def _processor() -> str:
    source = Path("/proc/cpuinfo")
    if source.exists():
        for line in source.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
