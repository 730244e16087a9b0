"""Measure whether the cost grows linearly with the rows and whether the grid is nearly free.

python -m benchmarks.scaling [--problem P1] [--rows 12500 25000 50000 100000]

At each number of rows: all strengths and folds, and one fit at one strength, by tikhon; one fit
by scikit-learn beside it, so that the price of a fit is not judged by tikhon's own alone. The
growth is the slope of log(seconds) against log(rows): 1 is linear. It is below 1 where costs
that do not depend on the rows (the eigendecompositions) still weigh.
"""

from __future__ import annotations

import argparse
import json
import shutil
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import launch, tables
from benchmarks.libraries import LIBRARIES
from benchmarks.machine import describe
from benchmarks.problems import build
from benchmarks.records import Machine, Measurement, revived
from benchmarks.run import RESULTS

if TYPE_CHECKING:
    from pathlib import Path

GRID, FIT, PEER_FIT = "tikhon: whole grid", "tikhon: one fit", "scikit-learn: one fit"
SERIES = {
    GRID: ("ridge_cv", "tikhon"),
    FIT: ("ridge_fit", "tikhon"),
    PEER_FIT: ("ridge_fit", "sklearn"),
}


@dataclass(frozen=True, slots=True)
class Point:
    """All series at one number of rows."""

    n_samples: int
    n_features: int
    n_lams: int
    n_folds: int
    measured: dict[str, Measurement]

    def ratio(self, above: str, below: str) -> float | None:
        """Quotient of two medians, None when either is missing."""
        a, b = self.measured[above].median, self.measured[below].median
        return a / b if a and b else None


@dataclass(frozen=True, slots=True)
class Scaling:
    """A whole run."""

    problem: str
    threads: int
    date: str
    machine: Machine
    points: list[Point]

    @classmethod
    def read(cls, path: Path) -> Scaling:
        """Read a run back from its JSON."""
        held = json.loads(path.read_text())
        return revived(cls, {key: part for key, part in held.items() if key != "growth"})

    def growth(self, series: str) -> float | None:
        """Slope of log(seconds) against log(rows)."""
        known = [
            (point.n_samples, point.measured[series].median)
            for point in self.points
            if point.measured[series].median
        ]
        if len(known) < 2:
            return None
        rows, times = np.log(np.array(known, dtype=float)).T
        return float(np.polyfit(rows, times, 1)[0])


def measure(arguments: argparse.Namespace, n_samples: int) -> Point:
    """Time every series at one number of rows."""
    work = RESULTS / "raw" / f"scaling-{arguments.problem}-{n_samples}"
    shutil.rmtree(work, ignore_errors=True)
    problem = build(arguments.problem, arguments.scale, n_samples=n_samples)
    conditions = launch.Conditions(
        problem=problem.save(work / "data"),
        warmup=build(arguments.problem, "small").save(work / "warmup"),
        work=work,
        threads=arguments.threads,
        repeat=arguments.repeat,
        timeout=arguments.timeout,
        budget=arguments.timeout,
    )
    measured = {
        series: launch.measure(
            LIBRARIES[task][name], f"{task}-{name}", conditions, repeat=arguments.repeat
        )[0]
        for series, (task, name) in SERIES.items()
    }
    for folder in (conditions.problem, conditions.warmup):
        shutil.rmtree(folder)
    n, d = problem.X.shape
    return Point(n, d, len(problem.lams), problem.n_folds, measured)


def markdown(run: Scaling) -> str:
    """Write the page of one run."""
    first, machine = run.points[0], run.machine
    header = ("rows", *SERIES, "grid / one fit", "grid / scikit-learn's fit")
    body = []
    for point in run.points:
        medians = [point.measured[series].median for series in SERIES]
        ratios = [point.ratio(GRID, FIT), point.ratio(GRID, PEER_FIT)]
        body.append(
            [
                f"{point.n_samples:,}",
                *("failed" if value is None else tables.seconds(value) for value in medians),
                *("" if value is None else f"{value:.2f}" for value in ratios),
            ]
        )
    growths = [run.growth(series) for series in SERIES]
    body.append(["growth", *("" if g is None else f"{g:.2f}" for g in growths), "", ""])
    failures = {
        f"{series} failed: {point.measured[series].error}"
        for point in run.points
        for series in SERIES
        if point.measured[series].error
    }
    title = (
        f"# Scaling of {run.problem}: {first.n_folds} folds x {first.n_lams} strengths, "
        f"{first.n_features} columns"
    )
    facts = (
        f"{machine.processor}, {machine.cores} cores; {run.threads} threads; {run.date}; "
        f"load before the run {machine.load_before:.1f}."
    )
    legend = "Median seconds. Growth: slope of log(seconds) against log(rows); 1 is linear."
    parts = [title, facts, tables.table(header, body), legend, *sorted(failures)]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problem", default="P1")
    parser.add_argument("--scale", choices=("full", "small"), default="full")
    parser.add_argument("--rows", type=int, nargs="+", default=[12_500, 25_000, 50_000, 100_000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600, help="seconds per process")
    arguments = parser.parse_args()

    launch.end_children_on_termination()
    machine, points = describe(), []
    for n_samples in arguments.rows:
        points.append(measure(arguments, n_samples))
        print(f"{n_samples} rows done", flush=True)
    date = datetime.now(UTC).isoformat(timespec="seconds")
    run = Scaling(arguments.problem, arguments.threads, date, machine, points)
    growths = {series: run.growth(series) for series in SERIES}

    suffix = "" if arguments.scale == "full" else f"-{arguments.scale}"
    suffix += "" if arguments.threads == 2 else f"-threads{arguments.threads}"
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"scaling-{arguments.problem}{suffix}.json"
    target.write_text(json.dumps(asdict(run) | {"growth": growths}, indent=1) + "\n")
    target.with_suffix(".md").write_text(markdown(run))
    print(f"\n{markdown(run)}\nwritten: {target} and .md")


if __name__ == "__main__":
    main()
