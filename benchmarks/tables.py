"""Markdown tables from the records of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.records import Report, Row

HEADER = (
    "library",
    "version",
    "seconds (median)",
    "least to most (runs)",
    "ratio to tikhon",
    "same strength",
    "suboptimality",
    "worst on path",
    "curve difference",
    "peak memory above input",
    "note",
)


LEGEND = (
    "Suboptimality: objective of the returned coefficients minus that of the reference, relative "
    "to the objective of the null model; worst on path: the largest over all strengths, where the "
    "library returns them. Curve difference: largest relative difference of "
    "the cross-validation error from one computed fold by fold by Cholesky, over the strengths "
    "the library reports."
)


def seconds(value: float) -> str:
    """Three figures, without an exponent."""
    return f"{value:.3g} s" if 1e-4 <= value < 100 else f"{value:.{0 if value >= 100 else 6}f} s"


def ratio(value: float, base: float | None) -> str:
    """Divide by tikhon's median; nothing when tikhon was not measured."""
    if not base:
        return ""
    quotient = value / base
    return f"{quotient:.0f}" if quotient >= 100 else f"{quotient:.2g}"


def size(value: float) -> str:
    """Bytes for people."""
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1000:
            return f"{value:.0f} {unit}"
        value /= 1000
    return f"{value:.2f} GB"


def small(value: float | None) -> str:
    return "" if value is None else f"{value:.0e}"


def table(header: Sequence[str], body: Sequence[Sequence[str]]) -> str:
    # A vertical bar inside an error message would open a new cell.
    lines = [[cell.replace("|", "/") for cell in row] for row in body]
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *lines))


def strength(row: Row) -> str:
    """Whether the strength is the reference's; if not, how far and what it costs."""
    accuracy = row.attempt.accuracy
    if accuracy is None or not row.comparable or accuracy.grid_steps_from_best is None:
        return ""
    if accuracy.grid_steps_from_best == 0:
        return "yes"
    return f"no: {accuracy.grid_steps_from_best:+d} of the grid, error +{accuracy.regret:.0e}"


def note(row: Row) -> str:
    """Everything a reader must know before believing the row."""
    measured, tolerance = row.attempt.measured, row.attempt.tolerance
    parts = []
    if tolerance is not None:
        reached = "".join(f"accuracy {target:.0e}, " for target in row.reached)
        parts.append(f"{reached}tol={tolerance:.0e}")
    parts += [f"did not reach {target:.0e}" for target in row.missed]
    if measured.error:
        parts.append(f"FAILED: {measured.error}")
    parts.append(row.note)
    if measured.warnings:
        parts.append(f"{len(measured.warnings)} warnings, first: {measured.warnings[0][:80]}")
    if measured.peak_above_input is not None and not measured.peak_reset:
        parts.append("memory includes loading")
    return "; ".join(part for part in parts if part)


def cells(row: Row, base: float | None) -> list[str]:
    """Write one row of the table."""
    measured, accuracy = row.attempt.measured, row.attempt.accuracy
    version = next(iter(measured.versions.values()), "")
    if measured.median is None or accuracy is None:
        return [row.title, version, *[""] * (len(HEADER) - 3), note(row)]
    times, peak = measured.seconds, measured.peak_above_input
    return [
        row.title,
        version,
        seconds(measured.median),
        f"{seconds(min(times))} to {seconds(max(times))} ({len(times)})",
        ratio(measured.median, base),
        strength(row),
        small(accuracy.suboptimality),
        small(accuracy.worst),
        small(accuracy.curve_difference),
        "" if peak is None else size(peak),
        note(row),
    ]


def line(row: Row) -> str:
    """Write progress for the terminal."""
    return "  ".join(cell for cell in cells(row, None) if cell)


def limit_rows(report: Report, base: float | None) -> list[list[str]]:
    """Show the limits as rows of the same table, so that ratios can be read across."""
    limits = report.limits
    if limits is None:
        return [["limits", *[""] * (len(HEADER) - 2), f"FAILED: {report.limits_error}"]]
    rows = []
    for part in limits.parts:
        shown = [f"limit: {part.title}", "", seconds(part.seconds), "", ratio(part.seconds, base)]
        rows.append([*shown, *[""] * (len(HEADER) - 6), part.remark])
    return rows


def markdown(report: Report) -> str:
    """Write the page of one run."""
    machine, limits = report.machine, report.limits
    own = [row.attempt.measured.median for row in report.rows if row.name == "tikhon"]
    base = own[0] if own else None
    facts = [
        f"{machine.processor}, {machine.cores} cores",
        f"{report.threads} threads for each library",
        f"{machine.blas}, Python {machine.python}",
        report.date,
        f"load before the run {machine.load_before:.1f}",
        f"reference certified to {report.reference_gap:.0e}",
        f"X takes {size(report.input_bytes)}",
    ]
    if limits is not None:
        rate, bandwidth = limits.gemm_flops / 1e9, limits.bandwidth / 1e9
        facts.append(f"GEMM {rate:.0f} Gflop/s float64, memory {bandwidth:.1f} GB/s")
    body = [cells(row, base) for row in report.rows] + limit_rows(report, base)
    shape = f"{report.n_samples:,} x {report.n_features:,}"
    parts = [f"# {report.problem}: {report.title}, {shape}"]
    if report.scale != "full":
        parts.append("Small scale: this page tries the harness and says nothing about speed.")
    parts += ["; ".join(facts) + ".", table(HEADER, body), LEGEND]
    if len({row.date for row in report.rows}) > 1:
        first, last = (pick(row.date for row in report.rows) for pick in (min, max))
        parts.append(f"Libraries were measured one after the other, from {first} to {last}.")
    return "\n\n".join(parts) + "\n"
