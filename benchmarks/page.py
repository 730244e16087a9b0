"""Write docs/benchmarks.md from the stored records.

python -m benchmarks.page

Nothing on the page is typed in: every figure comes out of a JSON file in `results/`, which a run of
`benchmarks.run` or `benchmarks.scaling` has written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import scaling, tables
from benchmarks.environments import ROOT
from benchmarks.problems import PROBLEMS
from benchmarks.records import Report
from benchmarks.run import RESULTS, TARGETS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.records import Row

PAGE = ROOT / "docs" / "benchmarks.md"
RIVALS = ("sklearn", "glmnet", "celer", "skglm", "adelie")
HEADER = ("library", *(f"seconds to {target:.0e}" for target in TARGETS), "memory above X", "note")

INTRODUCTION = """# Benchmarks

What is compared is time **at equal accuracy**. Every library reads the same bytes, with the same
folds and the same strengths, each converted to its convention. The truth is certified from the
raw data; a library that iterates has its tolerance tightened until its worst suboptimality over
the path is below the target, and the loosest tolerance that reaches it is the one that counts.
Each runs in its own process and environment with the same number of threads, on data laid out as
it likes best, after a first small fit; beside them stands what the arithmetic and the memory of
the machine allow. A library that fails, or misses an accuracy, stays in the table with the
reason. The harness is in `benchmarks/`; its README describes it in full.

This page is written by `python -m benchmarks.page` from the records in `benchmarks/results/`. To
measure on another machine, from the root of a clone:

    make bench BENCH_ARGS=P2                     # one problem, every library
    python -m benchmarks.scaling                 # growth with the rows, price of the grid
    python -m benchmarks.page                    # this page, from what was measured"""

SUMMARY = (
    "Seconds of tikhon, how many times the limit that is, and how many times as long others take "
    "to a relative suboptimality of {target:.0e}. What tikhon returns is certified at every "
    "strength, by default to a relative duality gap of 1e-8. An empty cell: not measured, or not "
    "offered."
)


def page(reports: Sequence[Report], growth: scaling.Scaling | None) -> str:
    """The whole page."""
    parts = [INTRODUCTION]
    if reports:
        parts += ["## Summary", SUMMARY.format(target=TARGETS[-1]), summary(reports)]
    for report in reports:
        parts += section(report)
    if growth is not None:
        text = scaling.markdown(growth)
        parts += ["## " + text.removeprefix("# ").strip()]
    return "\n\n".join(parts) + "\n"


def named(report: Report, name: str) -> list[Row]:
    """The rows of a library, whatever its forms."""
    return [row for row in report.rows if row.comparable and row.name.split("-")[0] == name]


def time_to(rows: Sequence[Row], target: float) -> float | None:
    """Least median seconds to an accuracy; None where it was not reached."""
    times = [row.attempt.measured.median for row in rows if target in row.reached]
    return min((t for t in times if t is not None), default=None)


def summary(reports: Sequence[Report]) -> str:
    """One line for each problem."""
    header = ("problem", "work", "tikhon", "times the limit", *RIVALS)
    body = []
    for report in reports:
        own = time_to(named(report, "tikhon"), TARGETS[-1])
        limit = report.limits.parts[0].seconds if report.limits else None
        others = [time_to(named(report, name), TARGETS[-1]) for name in RIVALS]
        body.append(
            [
                report.problem,
                f"{report.title}, {report.n_samples:,} x {report.n_features:,}",
                "" if own is None else tables.seconds(own),
                "" if own is None or limit is None else tables.ratio(own, limit),
                *("" if other is None else tables.ratio(other, own) for other in others),
            ]
        )
    return tables.table(header, body)


def section(report: Report) -> list[str]:
    """One problem: every library, the limits, the conditions."""
    names = list(dict.fromkeys(row.name for row in report.rows))
    body = [line(report, [row for row in report.rows if row.name == name]) for name in names]
    if report.limits is not None:
        body += [
            [f"limit: {part.title}", "", tables.seconds(part.seconds), "", part.remark]
            for part in report.limits.parts
        ]
    versions = {
        next(iter(row.attempt.measured.versions.items()), (row.name, "?")) for row in report.rows
    }
    machine = report.machine
    facts = (
        f"`python -m benchmarks.run {report.problem}`, {report.date[:10]}; {machine.processor}, "
        f"{machine.cores} cores, {report.threads} threads; "
        f"{', '.join(f'{name} {version}' for name, version in sorted(versions))}; reference "
        f"certified to {report.reference_gap:.0e}; X takes {tables.size(report.input_bytes)}. "
        f"[All figures](../benchmarks/results/{report.problem}.md)"
    )
    title = f"## {report.problem}: {report.title}, {report.n_samples:,} x {report.n_features:,}"
    return [title, tables.table(HEADER, body), facts]


def line(report: Report, rows: Sequence[Row]) -> list[str]:
    """One library: its times to each target, its memory at the last of them, its reasons."""
    times = [time_to(rows, target) for target in TARGETS]
    counted = [row for row in rows if row.reached] or list(rows)
    measured = counted[-1].attempt.measured
    peak = measured.peak_above_input
    notes = [rows[0].note]
    notes += [f"did not reach {target:.0e}" for row in rows for target in row.missed]
    notes += [row.attempt.measured.error for row in rows if row.attempt.measured.error]
    slow = measured.median is not None and not rows[0].comparable
    shown = [tables.seconds(t) if t is not None else "" for t in times]
    if slow and measured.median is not None:
        shown[-1] = tables.seconds(measured.median)
    share = "" if peak is None else f"{tables.size(peak)} ({peak / report.input_bytes:.0%})"
    return [rows[0].title, *shown, share, "; ".join(note for note in notes if note)]


def stored() -> tuple[list[Report], scaling.Scaling | None]:
    """The records of full runs, in the order of the problems."""
    paths = [RESULTS / f"{problem}.json" for problem in PROBLEMS]
    growth = RESULTS / "scaling-P1.json"
    reports = [Report.read(path) for path in paths if path.exists()]
    return reports, scaling.Scaling.read(growth) if growth.exists() else None


def main() -> None:
    PAGE.write_text(page(*stored()))
    print(f"written: {PAGE}")


if __name__ == "__main__":
    main()
