"""Ways to cut rows into training and test sets.

Folds are dealt by content, not by position: rows are put in a canonical order (by target, ties
by a hash of the row), shuffled by a seed, and dealt in turn. So the folds do not change when the
table is sorted differently, a row of weight 2 is the same as the row twice, and a row of weight 0
is no row at all. Identical rows stay together, so that no row is tested on its own copy; where
copies are the rule (fewer than one row in twenty is distinct) they are dealt one by one.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from tikhon.errors import Problems, UnsupportedError
from tikhon.selection.split import Rows, Split
from tikhon.typing import IntArray

__all__ = [
    "Blocked",
    "Folds",
    "Grouped",
    "KFold",
    "Ready",
    "Stratified",
    "Time",
    "as_folds",
    "dealt_by_class",
    "distinct_rows",
]

USUAL = 10
"""Folds where nobody says how many, and there are rows enough."""

DISTINCT_ENOUGH = 0.05


@runtime_checkable
class Folds(Protocol):
    """A rule that cuts rows into training and test sets."""

    def split(self, rows: Rows) -> Split:
        """Cut these rows."""
        ...


class Ready:
    """Marks a rule that was made for the rows at hand: `as_folds` takes it as it is."""

    __slots__ = ()

    def split(self, rows: Rows) -> Split:
        """Cut these rows."""
        raise TypeError(f"{type(self).__name__} does not say how it cuts {rows.n} rows.")


def _check(k: int | None, at_least: int = 2) -> None:
    if k is not None and not (isinstance(k, int | np.integer) and k >= at_least):
        raise ValueError(f"the number of folds must be a whole number >= {at_least}, got {k!r}.")


def _too_few(k: int, available: int, what: str, remedy: str = "Give more data.") -> None:
    if available < k:
        problems = Problems()
        problems.add(
            "too_many_folds",
            f"{k} folds asked for, but there "
            + (f"is 1 {what}" if available == 1 else f"are {available} {what}")
            + f" (n_samples={available})" * (what == "row(s)"),
            f"Use at most {available} folds." if available > 1 else remedy,
        )
        problems.raise_if_any()


@dataclass(frozen=True)
class KFold:
    """`k` folds of equal size, dealt at random by content.

    Parameters
    ----------
    k : int or None, default 10
        None asks for 10, or for one per distinct row where there are fewer.
    seed : int, default 0
    """

    k: int | None = 10
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.k)

    def split(self, rows: Rows) -> Split:
        """Cut these rows."""
        _too_few(2 if self.k is None else self.k, len(rows.used), "row(s)")
        units = distinct_rows(rows, 2 if self.k is None else self.k)
        count = int(units.max()) + 1
        k = min(USUAL, count) if self.k is None else self.k
        dealt = np.random.default_rng(self.seed).permutation(count) % k
        return Split.partition(rows.label(dealt[units]), k)


@dataclass(frozen=True)
class Stratified:
    """Folds with the same mixture of targets: classes, or quantile bins of a numeric target.

    Parameters
    ----------
    k : int, default 10
    bins : int, optional
        Cut a numeric target into this many quantile bins; by default each value is a class.
    seed : int, default 0
    """

    k: int = 10
    bins: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.k)
        if self.bins is not None and self.bins < 2:
            raise ValueError(f"`bins` must be >= 2, got {self.bins}.")

    def split(self, rows: Rows) -> Split:
        """Cut these rows."""
        target = rows.y[rows.used, 0]
        if self.bins is not None:
            edges = np.quantile(target, np.linspace(0, 1, self.bins + 1)[1:-1])
            target = np.searchsorted(edges, target).astype(np.float64)
        classes, member, counts = np.unique(target, return_inverse=True, return_counts=True)
        rarest = f"row(s) with target {classes[counts.argmin()]:g}"
        _too_few(self.k, int(counts.min()), rarest, "For a numeric target, set `bins`.")
        units = distinct_rows(rows, self.k)
        fold = dealt_by_class(member, units, self.k, self.seed)
        return Split.partition(rows.label(fold), self.k)


def dealt_by_class(member: IntArray, units: IntArray, k: int, seed: int) -> IntArray:
    """Deal the rows of each class in turn to `k` folds, going on where the class before ended."""
    rng = np.random.default_rng(seed)
    fold = np.empty(len(units), dtype=np.int64)
    next_fold = 0
    for stratum in range(int(member.max()) + 1):
        own = member == stratum
        _, local = np.unique(units[own], return_inverse=True)
        count = int(local.max()) + 1
        fold[own] = ((rng.permutation(count) + next_fold) % k)[local]
        next_fold += count
    return fold


@dataclass(frozen=True)
class Grouped:
    """Whole groups are held out together; folds hold about the same number of rows.

    Parameters
    ----------
    k : int or None, default 10
        None asks for 10, or for one per group where there are fewer.
    seed : int, default 0
    """

    k: int | None = 10
    seed: int = 0

    def __post_init__(self) -> None:
        _check(self.k)

    def split(self, rows: Rows) -> Split:
        """Cut these rows, largest group first, each to the fold with the fewest rows so far."""
        if rows.groups is None:
            raise ValueError("grouped folds need `groups`, one label per row; got None.")
        _, member, sizes = np.unique(
            rows.groups[rows.used], return_inverse=True, return_counts=True
        )
        _too_few(2 if self.k is None else self.k, len(sizes), "group(s)")
        k = min(USUAL, len(sizes)) if self.k is None else self.k
        tie = np.random.default_rng(self.seed).permutation(len(sizes))
        fold_of, load = np.empty(len(sizes), dtype=np.int64), np.zeros(k)
        for group in np.lexsort((tie, -sizes)):
            fold_of[group] = int(load.argmin())
            load[fold_of[group]] += sizes[group]
        return Split.partition(rows.label(fold_of[member]), k)


@dataclass(frozen=True)
class Blocked:
    """`k` contiguous blocks of rows, for data with neighbours that resemble each other.

    Parameters
    ----------
    k : int, default 10
    """

    k: int = 10

    def __post_init__(self) -> None:
        _check(self.k)

    def split(self, rows: Rows) -> Split:
        """Cut these rows in the order in which they come."""
        count = len(rows.used)
        _too_few(self.k, count, "row(s)")
        return Split.partition(rows.label(np.arange(count) * self.k // count), self.k)


@dataclass(frozen=True)
class Time:
    """Train on the past, test on the next block: rows must come in the order of time.

    Parameters
    ----------
    k : int, default 5
        Number of test blocks; the rows are cut into k + 1 blocks.
    gap : int, default 0
        Rows left out between the training and the test rows.
    """

    k: int = 5
    gap: int = 0

    def __post_init__(self) -> None:
        _check(self.k, at_least=1)
        if self.gap < 0:
            raise ValueError(f"`gap` must be >= 0, got {self.gap}.")

    def split(self, rows: Rows) -> Split:
        """Cut these rows in the order in which they come."""
        count = len(rows.used)
        _too_few(self.k + 1, count, "row(s)")
        edges = np.arange(self.k + 2) * count // (self.k + 1)
        pairs = [
            (rows.used[: max(edges[j] - self.gap, 0)], rows.used[edges[j] : edges[j + 1]])
            for j in range(1, self.k + 1)
        ]
        return Split.of(pairs, rows)


@dataclass(frozen=True, eq=False)
class _Labels:
    """The user's own fold number for each row; -1 for rows that are always trained on."""

    labels: IntArray

    def split(self, rows: Rows) -> Split:
        if len(self.labels) != rows.n:
            raise ValueError(
                f"`folds` has {len(self.labels)} labels for {rows.n} rows; give one per row."
            )
        values, member = np.unique(self.labels[rows.used], return_inverse=True)
        always = values < 0
        if np.count_nonzero(~always) < 2:
            raise ValueError(f"`folds` must hold at least 2 folds, got labels {values.tolist()}.")
        label = np.where(always[member], len(values) - 1, member - np.count_nonzero(always))
        return Split.partition(rows.label(label), int(np.count_nonzero(~always)))


@dataclass(frozen=True, eq=False)
class _Pairs:
    """The user's own (training rows, test rows)."""

    pairs: list[tuple[Any, Any]]

    def split(self, rows: Rows) -> Split:
        return Split.of([(_index(a, rows.n), _index(b, rows.n)) for a, b in self.pairs], rows)


@dataclass(frozen=True, eq=False)
class _Splitter:
    """An object with the `split(X, y, groups)` method that scikit-learn's splitters have."""

    splitter: Any

    def split(self, rows: Rows) -> Split:
        target = rows.y[rows.used]
        groups = None if rows.groups is None else rows.groups[rows.used]
        pairs = self.splitter.split(
            np.zeros((len(rows.used), 1)), target[:, 0] if target.shape[1] == 1 else target, groups
        )
        return Split.of([(rows.used[a], rows.used[b]) for a, b in pairs], rows)


def as_folds(folds: Any, *, grouped: bool = False) -> Folds:
    """Turn what a caller may give for `folds` into a rule.

    A number is that many folds (of groups, where groups are given), None is 10 or as many as
    there are distinct rows; an array is a fold number
    per row; a list of (training rows, test rows) and objects with a `split` method of
    scikit-learn's form are taken as they are.
    """
    if isinstance(folds, Ready):
        return folds
    if (
        grouped
        and not isinstance(folds, int | np.integer | Grouped | None)
        and not callable(getattr(folds, "get_n_splits", None))
    ):
        raise UnsupportedError(
            f"`groups` were given, but folds={reprlib.repr(folds)} would tear them apart; use a "
            "number or tk.folds.Grouped, or leave `groups` out."
        )
    if isinstance(
        folds, KFold | Stratified | Grouped | Blocked | Time | _Labels | _Pairs | _Splitter
    ):
        return folds
    if folds is None:
        return Grouped(None) if grouped else KFold(None)
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool):
        return Grouped(int(folds)) if grouped else KFold(int(folds))
    if callable(getattr(folds, "split", None)) and not isinstance(folds, str):
        return _Splitter(folds)
    if isinstance(folds, Iterable) and not isinstance(folds, str):
        items = folds if isinstance(folds, np.ndarray) else list(folds)
        if isinstance(items, list) and items and isinstance(items[0], tuple | list):
            return _Pairs([(a, b) for a, b in items])
        labels = np.asarray(items)
        if labels.ndim == 1 and np.issubdtype(labels.dtype, np.integer):
            return _Labels(labels.astype(np.int64))
    raise ValueError(
        f"`folds` must be a number, 'loo', 'gcv', one of tk.folds, a fold number per row, or a "
        f"list of (training rows, test rows); got {reprlib.repr(folds)}."
    )


def _index(rows: Any, n: int) -> IntArray:
    index = np.asarray(rows)
    if index.dtype == np.bool_:
        index = np.flatnonzero(index)
    if index.size and (index.min() < 0 or index.max() >= n):
        raise ValueError(f"`folds` names row {index.max()}, but there are {n} rows.")
    return index.astype(np.int64)


def distinct_rows(rows: Rows, k: int) -> IntArray:
    """Number the used rows 0, 1, ... in canonical order, identical rows sharing a number.

    Where copies are the rule, or fewer than `k` rows are distinct, every row has its own number.
    """
    target = rows.y[rows.used]
    order = np.lexsort(target.T[::-1])
    ranked = target[order]
    new = np.any(ranked[1:] != ranked[:-1], axis=1)
    if not new.all():
        content = rows.content()
        order = np.lexsort((content, *target.T[::-1]))
        ranked, content = target[order], content[order]
        new = np.any(ranked[1:] != ranked[:-1], axis=1) | (content[1:] != content[:-1])
        if np.count_nonzero(new) + 1 < max(k, DISTINCT_ENOUGH * len(order)):
            new = np.ones(len(new), dtype=np.bool_)
    units = np.empty(len(order), dtype=np.int64)
    units[order] = np.concatenate([[0], np.cumsum(new)])
    return units
