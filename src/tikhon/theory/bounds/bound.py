"""A bound as a value: what it says, how large it is, and what it stands on.

A number alone misleads: a bound may be larger than what is known without any data, or rest on an
assumption that the data contradict. So each carries its statement, its source, and its assumptions,
each *met*, *not met* or *cannot be checked*, with what it was checked on. `tikhon.theory.report`
replaces the assumptions that data can settle.
"""

from __future__ import annotations

import enum
import math
import textwrap
from dataclasses import dataclass, field, replace

__all__ = ["Assumption", "Bound", "Standing", "iid", "positive", "probability"]

LECTURE = "lecture 001"


class Standing(enum.StrEnum):
    """What is known of an assumption."""

    MET = "met"
    NOT_MET = "not met"
    UNKNOWN = "cannot be checked"


@dataclass(frozen=True, slots=True)
class Assumption:
    """One assumption of a bound.

    Attributes
    ----------
    what : str
        The assumption, as a sentence.
    status : Standing
        "met", "not met" or "cannot be checked".
    on : str
        What it was checked on, or why it cannot be.
    """

    what: str
    status: Standing
    on: str

    @classmethod
    def checked(cls, what: str, met: bool, on: str) -> Assumption:
        """Return an assumption that something could settle."""
        return cls(what, Standing.MET if met else Standing.NOT_MET, on)

    @classmethod
    def unknown(cls, what: str, why: str) -> Assumption:
        """Return an assumption that nothing here can settle."""
        return cls(what, Standing.UNKNOWN, why)

    def __str__(self) -> str:
        return f"[{self.status.value}] {self.what} ({self.on})"


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of learning theory, with everything needed to judge it.

    Attributes
    ----------
    name : str
    value : float
        The bound, or the strength or sample size that a statement asks for.
    statement : str
        The inequality, in symbols.
    source : str
    assumptions : tuple of Assumption
    ceiling : float
        From this value on the bound says no more than is known without it; inf where nothing is.
    lam : float or None
        The strength in the library's convention, where there is one.
    delta : float or None
        The bound holds with probability ``1 - delta``; None for a bound on an expectation.

    Examples
    --------
    >>> from tikhon.theory import bounds
    >>> bound = bounds.stability(rho=1.0, lam_s=0.1, m=1000)
    >>> bound.value, bound.lam, bound.lam_s, bound.vacuous
    (0.02, 0.2, 0.1, False)
    """

    name: str
    value: float
    statement: str
    source: str
    assumptions: tuple[Assumption, ...] = ()
    ceiling: float = field(default=math.inf)
    lam: float | None = None
    delta: float | None = None

    def __float__(self) -> float:
        return float(self.value)

    @property
    def lam_s(self) -> float | None:
        """The strength as lecture 001 writes it, ``L_S(w) + lam_s ||w||^2``: half of `lam`."""
        return None if self.lam is None else self.lam / 2.0

    @property
    def vacuous(self) -> bool:
        """Whether the bound says no more than is known without it."""
        return not self.value < self.ceiling

    @property
    def status(self) -> Standing:
        """The standing of the weakest assumption."""
        found = {assumption.status for assumption in self.assumptions}
        for standing in (Standing.NOT_MET, Standing.UNKNOWN):
            if standing in found:
                return standing
        return Standing.MET

    def resting_on(self, *assumptions: Assumption, ceiling: float | None = None) -> Bound:
        """Return the bound with more assumptions; one of the same words takes the old one's place.

        Parameters
        ----------
        *assumptions : Assumption
        ceiling : float, optional
            What is known without the bound.
        """
        known = {assumption.what: assumption for assumption in self.assumptions}
        known |= {assumption.what: assumption for assumption in assumptions}
        top = self.ceiling if ceiling is None else ceiling
        return replace(self, assumptions=tuple(known.values()), ceiling=top)

    def __str__(self) -> str:
        says = f"{self.name} {self.value:.4g}"
        if self.vacuous:
            says += f" (vacuous: {self.ceiling:.4g} is known without it)"
        if self.lam is not None:
            says += f"; lam = {self.lam:.4g}, the lecture's lambda = {self.lam_s:.4g}"
        lines = [says, f"  {self.statement}", f"  source: {self.source}"]
        for assumption in self.assumptions:
            lines += textwrap.wrap(
                str(assumption), 96, initial_indent="  ", subsequent_indent="    "
            )
        return "\n".join(lines)


def iid() -> Assumption:
    """Return the assumption that no table can settle."""
    return Assumption.unknown(
        "the rows are independent draws of one distribution, future rows as well",
        "no test can establish it; groups, time order and selection break it",
    )


def positive(**given: float) -> None:
    """Refuse numbers that are not positive and finite, by name."""
    for name, value in given.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"`{name}` must be > 0 and finite, got {value}.")


def probability(delta: float) -> None:
    """Refuse a failure probability outside (0, 1)."""
    if not 0 < delta < 1:
        raise ValueError(f"`delta` must be between 0 and 1, got {delta}.")
