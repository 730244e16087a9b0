"""The records of a run: what was measured, how accurate it was, under what conditions.

They are written to JSON as they stand (`dataclasses.asdict`), field names and all, and read back.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints


@dataclass(slots=True)
class Measurement:
    """What one process measured of one library; grows repetition by repetition."""

    python: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    peak_above_input: int | None = None
    peak_reset: bool = False
    warnings: list[str] = field(default_factory=list)
    error: str = ""

    @property
    def median(self) -> float | None:
        """Median seconds, None when no repetition ended."""
        return statistics.median(self.seconds) if self.seconds else None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """An answer against the reference.

    `suboptimality` is the relative gap of the returned coefficients. `worst` is what accuracy
    targets are about: the largest gap over all strengths where the library returns its path,
    `suboptimality` otherwise. The whole grid was asked for; an answer that is accurate at the
    selected strength alone is not the answer. `regret` is what the selected strength costs in
    cross-validation error, relative to the best. Where nothing is selected these are None.
    """

    worst: float
    lam: float | None = None
    lam_refit: float | None = None
    grid_steps_from_best: int | None = None
    regret: float | None = None
    suboptimality: float | None = None
    curve_difference: float | None = None
    stated_gap: float | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """A measurement at one tolerance and its accuracy, None when there is no answer."""

    tolerance: float | None
    measured: Measurement
    accuracy: Accuracy | None


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table: the attempt that counts, and the ones that led to it.

    `reached` are the accuracy targets this attempt is the answer for, `missed` those that no
    tolerance reached. `date` is when it was measured: a run may be continued (`--keep`).
    """

    name: str
    title: str
    note: str
    comparable: bool
    attempt: Attempt
    reached: tuple[float, ...] = ()
    missed: tuple[float, ...] = ()
    ladder: tuple[Attempt, ...] = ()
    date: str = ""


@dataclass(frozen=True, slots=True)
class Limit:
    """Seconds that some part of the work takes at best."""

    title: str
    seconds: float
    remark: str


@dataclass(frozen=True, slots=True)
class Limits:
    """Physical limits of a problem; the first of `parts` is what no method can avoid.

    Rates are floating-point operations and bytes per second.
    """

    gemm_flops: float
    bandwidth: float
    parts: tuple[Limit, ...]


@dataclass(frozen=True, slots=True)
class Machine:
    """What the numbers were measured on."""

    processor: str
    cores: int
    memory_bytes: int
    system: str
    python: str
    blas: str
    load_before: float


@dataclass(slots=True)
class Report:
    """A whole run. `input_bytes` is the size of X; `reference_gap` that of the common truth."""

    problem: str
    title: str
    scale: str
    n_samples: int
    n_features: int
    n_lams: int
    n_folds: int
    input_bytes: int
    threads: int
    date: str
    machine: Machine
    reference_gap: float
    best_lam: float | None
    limits: Limits | None
    limits_error: str
    rows: list[Row] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Report:
        """Read a report back from its JSON."""
        return revived(cls, json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        """Save as JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")


def revived(kind: Any, value: Any) -> Any:
    """The inverse of `asdict`: records and tuples of records where the annotation says so."""
    if value is None:
        return None
    options = [a for a in get_args(kind) if a not in (type(None), ...)]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{key: revived(hints[key], part) for key, part in value.items()})
    if get_origin(kind) in (list, tuple):
        return get_origin(kind)(revived(options[0], part) for part in value)
    if get_origin(kind) is dict:
        return {key: revived(options[1], part) for key, part in value.items()}
    if get_origin(kind) is UnionType:
        return revived(options[0], value)
    return value
