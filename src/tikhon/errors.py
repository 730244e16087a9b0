"""Every error and warning a user can meet.

Bad input is collected first and raised once: `InputError` carries a table with one line per
problem, so that a user mends the whole table in one go instead of one cell per attempt.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "AccuracyError",
    "DataWarning",
    "FitWarning",
    "InputError",
    "InputProblem",
    "InputTypeError",
    "InseparableError",
    "Problems",
    "UnsupportedError",
    "warn_user",
]


class FitWarning(UserWarning):
    """A fit ended with a status other than converged; the message names the remedy."""


class DataWarning(UserWarning):
    """The data are usable but hold something the user should know, with its number."""


class UnsupportedError(ValueError):
    """A combination that does not exist; the message names one that does."""


class InseparableError(ValueError):
    """No hyperplane separates two classes.

    Attributes
    ----------
    witness : Witness
        Convex weights of the rows of both classes with one mean.
    """

    def __init__(self, message: str, witness: Any = None) -> None:
        self.witness = witness
        super().__init__(message)

    def __reduce__(self) -> tuple[type[InseparableError], tuple[str, Any]]:
        return type(self), (str(self), self.witness)


class AccuracyError(ArithmeticError):
    """The solution cannot be computed to three digits in double precision."""


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the user's own line as the place: the first one outside the library."""
    frame, level = sys._getframe(1), 2  # noqa: SLF001
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("tikhon."):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level - 1)


@dataclass(frozen=True, slots=True)
class InputProblem:
    """One line of the table in an `InputError`.

    `code` is stable and meant for programs; `what` and `remedy` are meant for people.
    `row`, `column` and `value` locate the first occurrence, `count` says how many there are.
    """

    code: str
    what: str
    remedy: str
    column: str | None = None
    row: int | None = None
    value: str | None = None
    count: int = 1
    file: str | None = None
    row_group: int | None = None

    def __str__(self) -> str:
        where = [
            f"{name} {place}"
            for name, place in (
                ("file", self.file),
                ("row group", self.row_group),
                ("column", self.column),
                ("row", self.row),
            )
            if place is not None
        ]
        if self.value is not None:
            where.append(f"saw {self.value}")
        if self.count != 1:
            where.append(f"{self.count} times")
        located = f" ({', '.join(where)})" if where else ""
        if self.what.endswith("\n"):  # a list with its own line ends
            return f"[{self.code}] {self.what}{self.remedy}"
        return f"[{self.code}] {self.what.rstrip('.')}{located}. {self.remedy}"


class InputError(ValueError):
    """Everything wrong with the input, found in one pass.

    Attributes
    ----------
    problems : tuple of InputProblem
        The table, in the order in which the problems were found.
    """

    def __init__(self, problems: tuple[InputProblem, ...]) -> None:
        self.problems = tuple(problems)
        super().__init__(self._text())

    def _text(self) -> str:
        if len(self.problems) == 1:
            return str(self.problems[0])
        lines = [f"{len(self.problems)} problems in the input; nothing was fitted:"]
        lines += [f"  {number}. {problem}" for number, problem in enumerate(self.problems, 1)]
        return "\n".join(lines)

    def to_json(self) -> str:
        """Return the table as a JSON array of objects."""
        return json.dumps([asdict(problem) for problem in self.problems])

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[InputProblem, ...]]]:
        return type(self), (self.problems,)


class InputTypeError(InputError, TypeError):
    """An `InputError` about a value whose type can never be a number."""


@dataclass(slots=True)
class Problems:
    """Collects problems; `raise_if_any` raises them all at once."""

    found: list[InputProblem] = field(default_factory=list)
    wrong_type: bool = False

    def add(
        self,
        code: str,
        what: str,
        remedy: str,
        *,
        column: str | None = None,
        row: int | None = None,
        value: str | None = None,
        count: int = 1,
    ) -> None:
        """Note one problem."""
        self.found.append(InputProblem(code, what, remedy, column, row, value, count))

    def __iter__(self) -> Iterator[InputProblem]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def raise_if_any(self) -> None:
        """Raise an `InputError` holding everything noted so far, if there is anything."""
        if self.found:
            kind = InputTypeError if self.wrong_type else InputError
            raise kind(tuple(self.found))
