"""One library, one problem, alone in its process and its environment.

Started by `benchmarks.launch`; writes ``record.json`` (after every repetition, so that a timeout
keeps what was measured) and ``outcome.npz`` into the given folder.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import traceback
import warnings
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import memory
from benchmarks.problems import Problem
from benchmarks.records import Measurement

if TYPE_CHECKING:
    from benchmarks.outcome import Outcome


def pin(threads: int) -> None:
    """Keep the process on `threads` processors.

    The launcher sets the usual variables; a library that reads none of them is held back here.
    """
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def keep(outcome: Outcome, folder: Path) -> None:
    """Save what the judge needs; what a package does not give is left out."""
    saved = {
        "lam": outcome.lam,
        "lam_refit": outcome.lam_refit,
        "coef": None if outcome.coef is None else np.ravel(outcome.coef),
        "intercept": outcome.intercept,
        "curve": outcome.curve,
        "gap": outcome.gap,
    }
    if outcome.path is not None:
        saved["path_coefs"], saved["path_intercepts"] = outcome.path
    arrays = {key: np.asarray(value) for key, value in saved.items() if value is not None}
    np.savez(folder / "outcome.npz", **arrays)


def measure(arguments: argparse.Namespace, record: Measurement) -> None:
    """Warm up, load, then fit again and again until the repetitions or the budget are used."""
    out = Path(arguments.out)
    threads, tolerance = arguments.threads, arguments.tolerance
    module = importlib.import_module(f"benchmarks.adapters.{arguments.adapter}")
    fit = getattr(module, arguments.function)
    record.versions = {name: version(name) for name in module.PACKAGES}
    # Compilers that run at first use, thread pools and lazy imports are paid here.
    fit(Problem.load(Path(arguments.warmup), arguments.layout), threads, tolerance)
    problem = Problem.load(Path(arguments.problem), arguments.layout)
    memory.give_back()
    record.peak_reset = memory.reset_peak()
    before = memory.resident()
    begun = perf_counter()
    for _ in range(arguments.repeat):
        outcome = fit(problem, threads, tolerance)
        record.seconds.append(outcome.seconds)
        if len(record.seconds) == 1:
            # Later repetitions find memory the first one gave back only to the allocator.
            highest = memory.peak()
            if before is not None and highest is not None:
                record.peak_above_input = highest - before
            keep(outcome, out)
        write(record, out)
        spent = perf_counter() - begun
        if spent + spent / len(record.seconds) > arguments.budget:
            break


def write(record: Measurement, folder: Path) -> None:
    """Save the record as it stands."""
    (folder / "record.json").write_text(json.dumps(asdict(record), indent=1))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("adapter", "function", "layout", "problem", "warmup", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeat", type=int, required=True)
    parser.add_argument("--budget", type=float, required=True)
    parser.add_argument("--tolerance", type=float)
    return parser.parse_args()


def main() -> int:
    arguments = parse()
    pin(arguments.threads)
    record = Measurement(python=platform.python_version())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        try:
            measure(arguments, record)
        except Exception as error:  # any failure of a rival is a result to show
            record.error = f"{type(error).__name__}: {error}"
            traceback.print_exc()
    record.warnings = sorted({f"{w.category.__name__}: {w.message}" for w in caught})
    write(record, Path(arguments.out))
    return 1 if record.error else 0


if __name__ == "__main__":
    raise SystemExit(main())
