"""Start one measurement in a process of its own, with threads pinned and a time limit."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.environments import ROOT, interpreter
from benchmarks.records import Measurement

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.libraries import Library

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)


@dataclass(frozen=True, slots=True)
class Conditions:
    """What is the same for all libraries of a run."""

    problem: Path
    warmup: Path
    work: Path
    threads: int
    repeat: int
    timeout: float
    budget: float


def end_children_on_termination() -> None:
    """Let a request to terminate unwind the stack, so that the running measurement ends too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def run_module(
    python: Path, module: str, arguments: list[str], folder: Path, conditions: Conditions
) -> str:
    """Run ``python -m module`` until it ends or its time is up; the reason of a failure, or ""."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    environment |= dict.fromkeys(THREAD_VARIABLES, str(conditions.threads))
    command = [str(python), "-m", module, *arguments]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that children of a rival end with it
        )
        try:
            code = process.wait(conditions.timeout)
        except subprocess.TimeoutExpired:
            return f"timeout after {conditions.timeout:g} s"
        finally:
            # Also when the run itself is interrupted: a rival left behind would disturb the next.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    if code > 0:
        lines = (folder / "log.txt").read_text(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"exit code {code}"
    return ""


def measure(
    library: Library,
    name: str,
    conditions: Conditions,
    *,
    tolerance: float | None = None,
    repeat: int,
) -> tuple[Measurement, Path]:
    """Measure one library; the folder holds its outcome, if it came to one."""
    folder = conditions.work / (name if tolerance is None else f"{name}-{tolerance:.0e}")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        python = interpreter(library.adapter)
    except RuntimeError as error:
        return Measurement(error=str(error)), folder
    arguments = [
        *("--adapter", library.adapter, "--function", library.function),
        *("--layout", library.layout, "--problem", str(conditions.problem)),
        *("--warmup", str(conditions.warmup), "--out", str(folder)),
        *("--threads", str(conditions.threads), "--repeat", str(repeat)),
        *("--budget", str(conditions.budget)),
    ]
    if tolerance is not None:
        arguments += ["--tolerance", repr(tolerance)]
    failure = run_module(python, "benchmarks.worker", arguments, folder, conditions)
    path = folder / "record.json"
    record = Measurement(**json.loads(path.read_text())) if path.exists() else Measurement()
    # The worker's own words say more than its exit code.
    record.error = record.error or failure
    return record, folder
