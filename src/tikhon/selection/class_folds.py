"""Folds for classes: every class is trained on in every fold, and what cannot be is named.

Without groups a number of folds is stratified: the distinct rows of each class are dealt in turn.
Where no number is given it is 10, or the size of the second largest class where that is smaller,
so that at least two classes are tested in every fold. A rarer class is tested in as many folds as
it has rows; one with a single row is always trained on and never tested, with a warning. Other
folds are taken as they are, and refused if a training set lacks a class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tikhon.errors import DataWarning, Problems, warn_user
from tikhon.selection.folds import (
    USUAL,
    Folds,
    Ready,
    Stratified,
    as_folds,
    dealt_by_class,
    distinct_rows,
)
from tikhon.selection.split import Rows, Split
from tikhon.typing import IntArray

__all__ = ["ClassFolds", "class_folds"]


@dataclass(frozen=True, eq=False)
class ClassFolds(Ready):
    """A rule that keeps every class in every training set, or says why it cannot.

    Parameters
    ----------
    rule : Folds or None
        None deals by class to as many folds as the classes allow, at most 10.
    codes : tuple of float
        How each class is coded in the target, where that is one column.
    names : tuple of str
        What messages call the classes.
    """

    rule: Folds | None
    codes: tuple[float, ...]
    names: tuple[str, ...]

    def split(self, rows: Rows) -> Split:
        """Cut these rows."""
        member = self._members(rows)
        present = np.bincount(member, minlength=len(self.names))
        if self.rule is None or (isinstance(self.rule, Stratified) and self.rule.bins is None):
            return self._stratified(rows, member)
        split = self.rule.split(rows)
        of_row = np.full(rows.n, -1)
        of_row[rows.used] = member
        for k in range(len(split)):
            index = split.cells.where(split.train[k])
            trained = np.bincount(of_row[index], minlength=len(self.names))
            if np.any((trained == 0) & (present > 0)):
                self._missing(k, len(split), np.flatnonzero((trained == 0) & (present > 0)))
        return split

    def with_folds(self, k: int) -> ClassFolds:
        """Return the same rule with another number of folds."""
        rule: Any = Stratified() if self.rule is None else self.rule
        return replace(self, rule=replace(rule, k=k))

    def _members(self, rows: Rows) -> IntArray:
        """The class of each used row, from one code or one indicator per class."""
        y = rows.y[rows.used]
        if y.shape[1] > 1:
            return np.asarray(y.argmax(axis=1), dtype=np.int64)
        return np.searchsorted(np.array(self.codes), y[:, 0]).astype(np.int64)

    def _stratified(self, rows: Rows, member: IntArray) -> Split:
        units = distinct_rows(rows, 2)
        first = np.unique(units, return_index=True)[1]
        distinct = np.bincount(member[first], minlength=len(self.names))
        second = int(np.argsort(-distinct, kind="stable")[1])
        most = int(distinct[second])
        k = min(USUAL, max(most, 2)) if self.rule is None else self._asked
        if most < k:
            self._too_many(k, most, second, int(distinct.sum()))
        seed = self.rule.seed if isinstance(self.rule, Stratified) else 0
        fold = dealt_by_class(member, units, k, seed)
        alone = np.flatnonzero(distinct == 1)
        for single in alone:
            warn_user(
                f"class {self.names[single]} has 1 distinct row of {int(distinct.sum())}: it is in "
                "every training set, and no held-out score says anything about it.",
                DataWarning,
            )
        fold[np.isin(member, alone)] = k  # the label of rows that are always trained on
        return Split.partition(rows.label(fold), k)

    @property
    def _asked(self) -> int:
        assert isinstance(self.rule, Stratified)
        return self.rule.k

    def _too_many(self, k: int, available: int, rarest: int, total: int) -> None:
        problems = Problems()
        problems.add(
            "too_many_folds",
            f"{k} folds asked for, but class {self.names[rarest]} has {available} distinct "
            f"row{'s' * (available != 1)} of {total}",
            f"Use at most {available} folds, or give `lam` as a number."
            if available > 1
            else "Two rows of a class are needed to train on one and test on the other: give more "
            "of them, or give `lam` as a number.",
        )
        problems.raise_if_any()

    def _missing(self, fold: int, count: int, absent: IntArray) -> None:
        problems = Problems()
        for k in absent:
            problems.add(
                "class_missing_in_fold",
                f"class {self.names[k]} is absent from the training rows of fold {fold} of {count}",
                "Use stratified folds (a number, without `groups`), fewer folds, or put its rows "
                "into several groups.",
            )
        problems.raise_if_any()


def class_folds(
    folds: Any, codes: tuple[float, ...], names: tuple[str, ...], *, grouped: bool
) -> ClassFolds:
    """Turn what a caller may give for `folds` into a rule for classes."""
    if folds is None and not grouped:
        return ClassFolds(None, codes, names)
    if isinstance(folds, int | np.integer) and not isinstance(folds, bool) and not grouped:
        return ClassFolds(Stratified(int(folds)), codes, names)
    return ClassFolds(as_folds(folds, grouped=grouped), codes, names)
