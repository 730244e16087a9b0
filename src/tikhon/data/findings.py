"""What is odd about a table that can be used as it is: each oddity with its number and a remedy.

Errors stop a fit, findings do not. They cost a scan that has been made already and products with a
sample of the rows; what a sample suggests is confirmed on all rows before it is said.

    constant      one value only                        no information; the coefficient is 0
    duplicate     |correlation| of two columns near 1   which of the two is used is an accident
    leak          |correlation| with the target near 1  known when predicting?
    id            whole numbers that count the rows     order, not content
    scale         largest over smallest spread          a penalty in the columns' own units
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Finding", "table_findings"]

SAMPLE = 1000
"""Rows on which suspicions are raised, at most."""

AT_ONCE = 2**17
"""Numbers of a dense table held at a time: a wide table's sample would be a table itself."""

MARKS = 3
"""Random vectors by which equal columns find each other."""

FEWEST = 20
"""Rows below which a correlation near 1 is an accident."""

DUPLICATE = 1e-9
"""Distance of |correlation| from 1 at which two columns count as one."""

LEAK = 1e-3
"""Distance of |correlation| with the target from 1 at which a column is suspected."""

SCALE_RATIO = 1e4
"""Ratio of spreads from which a penalty in the columns' own units ignores some of them."""

NAMED = 5
"""Columns named in a message."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One oddity.

    Attributes
    ----------
    code : str
        Stable, for programs.
    what, remedy : str
        For people.
    columns : tuple of str
        Names, or numbers where the table has no names.
    value : float
        The number behind it.
    """

    code: str
    what: str
    remedy: str
    columns: tuple[str, ...]
    value: float

    def __str__(self) -> str:
        return f"[{self.code}] {self.what}. {self.remedy}"


def table_findings(data: Data, *, own_units: bool) -> tuple[Finding, ...]:
    """Look at a checked table.

    Parameters
    ----------
    data : Data
    own_units : bool
        Whether a penalty takes the columns as they are, so that their spreads matter.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # columns of 1e200 are not looked at
        sample = _Sample.of(data)
        parts = (
            _constant(data),
            _duplicates(data, sample),
            _leaks(data, sample),
            _counters(data, sample),
            _scale(data, sample) if own_units else (),
        )
        return tuple(finding for part in parts for finding in part)


@dataclass(frozen=True, slots=True, eq=False)
class _Sample:
    """What some of the rows say of each column.

    Attributes
    ----------
    rows : int
    sd : ndarray of shape (d,)
        0 for constant columns and for those whose squares overflow.
    marks : ndarray of shape (d, MARKS)
        Products of the unit columns with random vectors.
    leaks : ndarray of shape (d, targets)
        Correlations with the targets; 0 for targets that are constant.
    """

    rows: int
    sd: Float64Array
    marks: Float64Array
    leaks: Float64Array

    @classmethod
    def of(cls, data: Data) -> _Sample:
        """Take rows at even distances; a dense table by some columns at a time."""
        used = data.used
        rows = used[:: -(-len(used) // SAMPLE)]
        y = data.y[rows] - data.y[rows].mean(axis=0)
        size = np.linalg.norm(y, axis=0)
        V = np.random.default_rng(0).standard_normal((len(rows), MARKS))
        V -= V.mean(axis=0)
        probes = np.hstack([V, np.divide(y, size, out=np.zeros_like(y), where=size > 0)])
        if data.design.is_sparse:
            part = data.design.rows(rows)
            sd, seen = part.stats().sd, part.correlate(probes)
        else:
            sd, seen = _by_columns(data.design, rows, probes)
        sd = np.where(np.isfinite(sd), sd, 0.0)
        seen /= np.where(sd > 0, sd, np.inf)[:, None] * np.sqrt(len(rows))
        return cls(len(rows), sd, seen[:, :MARKS], seen[:, MARKS:])


def _by_columns(
    design: Design, rows: IntArray, probes: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Deviations of a dense table's columns, and their products with some vectors."""
    d = design.shape[1]
    step = max(1, AT_ONCE // len(rows))
    sd, seen = np.empty(d), np.empty((d, probes.shape[1]))
    for start in range(0, d, step):
        columns = np.arange(start, min(start + step, d))
        Z = design.rows_of_columns(rows, columns)
        Z = Z - Z.mean(axis=0)
        sd[columns] = np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(rows))
        seen[columns] = Z.T @ probes
    scan = design.scan
    sd[scan.minimum == scan.maximum] = 0.0
    return sd, seen


def _constant(data: Data) -> Iterator[Finding]:
    scan = data.design.scan
    columns = np.flatnonzero(scan.minimum == scan.maximum)
    if len(columns):
        yield Finding(
            "constant",
            f"{_count(columns)} one value only: {_named(data, columns)}",
            "Their coefficients are 0; leave them out.",
            _labels(data, columns),
            float(len(columns)),
        )


def _duplicates(data: Data, sample: _Sample) -> Iterator[Finding]:
    """Pairs of columns that are one column, up to scale, shift and sign.

    Equal columns have equal products with any vector: neighbours in such products are suspects.
    """
    varies = np.flatnonzero(sample.sd > 0)
    if sample.rows < FEWEST or len(varies) < 2:
        return
    marks = sample.marks[varies]
    marks *= np.where(marks[:, :1] < 0, -1.0, 1.0)
    order = np.argsort(marks[:, 0], kind="stable")
    marks, varies = marks[order], varies[order]
    near = np.sqrt(2.0 * DUPLICATE) * 4.0
    pairs = [
        (varies[i], varies[i + ahead])
        for ahead in range(1, min(8, len(varies)))
        for i in np.flatnonzero(np.all(np.abs(marks[ahead:] - marks[:-ahead]) < near, axis=1))
    ]
    found: list[tuple[int, int]] = []
    closest = 0.0
    for a, b in pairs[: 10 * NAMED]:
        rho = abs(_correlation(data, _column(data, a), _column(data, b)))
        if rho > 1.0 - DUPLICATE:
            found.append((min(a, b), max(a, b)))
            closest = max(closest, rho)
    if found:
        found.sort()
        columns = np.unique(np.array(found))
        named = ", ".join(
            " = ".join(_labels(data, np.array(pair))) for pair in dict.fromkeys(found[:NAMED])
        )
        yield Finding(
            "duplicate",
            f"columns repeat one another (|correlation| up to {closest:.10f}): {named}",
            "Keep one of each; which one a sparse model uses is otherwise an accident.",
            _labels(data, columns),
            closest,
        )


def _leaks(data: Data, sample: _Sample) -> Iterator[Finding]:
    """Columns that alone predict a target: too good to be known beforehand."""
    if sample.rows < FEWEST or len(sample.sd) < 2:
        return
    rho = np.abs(sample.leaks)
    for j, t in np.argwhere(rho > 1.0 - LEAK)[:NAMED]:
        full = abs(_correlation(data, _column(data, j), data.y[data.used, t]))
        if full > 1.0 - LEAK:
            label = _labels(data, np.array([j]))
            yield Finding(
                "leak",
                f"column {label[0]} alone predicts the target (|correlation| {full:.6f})",
                "Make sure that it is known when predicting, or leave it out.",
                label,
                full,
            )


def _counters(data: Data, sample: _Sample) -> Iterator[Finding]:
    """Columns of whole numbers that count the rows."""
    n = len(data.used)
    scan = data.design.scan
    if n < FEWEST or data.design.is_sparse:
        return
    suspects = (scan.maximum - scan.minimum == n - 1) & (sample.sd > 0)
    for j in np.flatnonzero(suspects)[:NAMED]:
        column = np.sort(_column(data, j))
        if np.array_equal(column, np.arange(n) + column[0]):
            label = _labels(data, np.array([j]))
            yield Finding(
                "id",
                f"column {label[0]} numbers the rows ({column[0]:g} to {column[-1]:g})",
                "Leave it out unless the order of the rows means something.",
                label,
                float(n),
            )


def _scale(data: Data, sample: _Sample) -> Iterator[Finding]:
    """Spreads so different that one penalty cannot suit all columns."""
    varies = np.flatnonzero(sample.sd > 0)
    if len(varies) < 2:
        return
    spread = sample.sd[varies]
    ratio = float(spread.max() / spread.min())
    if ratio > SCALE_RATIO:
        ends = varies[[int(spread.argmin()), int(spread.argmax())]]
        yield Finding(
            "scale",
            f"the spreads of the columns differ by a factor of {ratio:.1e} "
            f"({_named(data, ends)}), and the penalty takes them as they are",
            "Use standardize=True, or scale the columns.",
            _labels(data, ends),
            ratio,
        )


def _column(data: Data, j: int) -> Float64Array:
    """One column of the rows in use."""
    return np.asarray(data.design.rows_of_columns(None, np.array([j]))[data.used, 0])


def _correlation(data: Data, a: Float64Array, b: Float64Array) -> float:
    """Weighted correlation of two columns of the rows in use."""
    s = np.ones(len(a)) if data.s is None else data.s[data.used]
    a, b = a - np.average(a, weights=s), b - np.average(b, weights=s)
    size = np.sqrt(np.sum(s * a * a)) * np.sqrt(np.sum(s * b * b))
    return float(np.sum(s * a * b) / size) if size > 0 else 0.0


def _labels(data: Data, columns: IntArray | BoolArray) -> tuple[str, ...]:
    return tuple(data.feature_names[j] if data.feature_names else str(j) for j in columns)


def _named(data: Data, columns: IntArray) -> str:
    more = f" and {len(columns) - NAMED} more" if len(columns) > NAMED else ""
    return ", ".join(_labels(data, columns[:NAMED])) + more


def _count(columns: Sequence[int] | IntArray) -> str:
    return "1 column holds" if len(columns) == 1 else f"{len(columns)} columns hold"
