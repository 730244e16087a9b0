"""The records of a run: what was measured, how accurate it was, under what conditions.

They are written to JSON as they stand (`dataclasses.asdict`), field names and all.
"""

from __future__ import annotations

import statistics
from dataclasses import dataclass, field


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
    cross-validation error, relative to the best.
    """

    lam: float
    lam_refit: float
    grid_steps_from_best: int
    regret: float
    suboptimality: float
    worst: float
    curve_difference: float | None
    stated_gap: float | None


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
    tolerance reached.
    """

    name: str
    title: str
    note: str
    comparable: bool
    attempt: Attempt
    reached: tuple[float, ...] = ()
    missed: tuple[float, ...] = ()
    ladder: tuple[Attempt, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """Physical limits: seconds, floating-point operations per second, bytes per second."""

    side: int
    decompositions: int
    gemm_flops: float
    bandwidth: float
    read_seconds: float
    syrk_seconds: float
    eigh_seconds: float

    @property
    def floor_seconds(self) -> float:
        """What ridge over folds cannot avoid: one SYRK and the eigendecompositions."""
        return self.syrk_seconds + self.eigh_seconds


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
    """A whole run."""

    problem: str
    title: str
    scale: str
    n_samples: int
    n_features: int
    n_lams: int
    n_folds: int
    threads: int
    date: str
    machine: Machine
    best_lam: float
    limits: Limits | None
    limits_error: str
    rows: list[Row] = field(default_factory=list)
