"""Class labels of any kind to the codes that losses take.

Labels are what two rows can share: strings, booleans, whole numbers, dates, floats that repeat.
The sorted distinct ones are the classes; two of them are coded -1 and +1, the second one positive,
more of them 0, 1, 2, ... Everything wrong with labels is found together with what is wrong with the
rest of the input.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tikhon.data.coerce import Data, as_data, note_target_among_features, table_length
from tikhon.data.numbers import plain
from tikhon.errors import Problems
from tikhon.typing import Float64Array, IntArray

__all__ = ["Labels", "as_classified", "as_labels", "label_text"]

FEW = 20
"""Fractions among the labels are accepted up to this many distinct ones."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Classes and the class of each row.

    Attributes
    ----------
    classes : ndarray of shape (K,)
        Sorted, in the type of the labels.
    index : ndarray of int, shape (n,)
        The position of each row's class.
    """

    classes: npt.NDArray[Any]
    index: IntArray

    @property
    def codes(self) -> Float64Array:
        """-1 and +1 for two classes, else 0, 1, 2, ..."""
        codes = self.index.astype(np.float64)
        return 2.0 * codes - 1.0 if len(self.classes) == 2 else codes


def as_classified(
    X: Any, y: Any, *, sample_weight: Any = None, groups: Any = None
) -> tuple[Data, Labels]:
    """Check everything a classifier is given; raise one `InputError` with all that is wrong."""
    problems = Problems()
    labels = as_labels(y, problems)
    codes = np.zeros(table_length(X) or 0) if labels is None else labels.codes
    data = as_data(X, codes, sample_weight=sample_weight, groups=groups, problems=problems)
    assert labels is not None
    if data.s is not None:
        _note_weightless(labels, data.s, problems)
    if labels.classes.dtype.kind in "biuf":
        seen = labels.classes[labels.index].astype(np.float64)
        note_target_among_features(data.design, seen, data.feature_names, problems)
    problems.raise_if_any()
    return data, labels


def as_labels(y: Any, problems: Problems) -> Labels | None:
    """Return the classes and the class of each row; note whatever is wrong with them."""
    values = _vector(y, problems)
    if values is None:
        return None
    missing = _missing(values)
    if missing.any():
        first = int(np.flatnonzero(missing)[0])
        problems.add(
            "nonfinite",
            "Input y contains NaN or infinity, or a missing label",
            "Drop these rows.",
            row=first,
            value=str(values[first]),
            count=int(missing.sum()),
        )
        return None
    try:
        classes, index = np.unique(_one_type(values), return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        problems.add(
            "mixed_labels",
            f"labels of different types cannot be put in order: {', '.join(kinds)}",
            "Write all of them as text, or all as numbers.",
        )
        return None
    if _continuous(classes, len(values)):
        problems.add(
            "continuous_labels",
            f"Unknown label type: continuous. `y` has {len(classes)} distinct fractions in "
            f"{len(values)} rows",
            "Cut it into classes, or use a regressor.",
            value=label_text(classes[0]),
        )
        return None
    if len(classes) == 1:
        problems.add(
            "one_class",
            f"`y` holds 1 class (n_samples={len(values)})",
            "Give rows of at least two classes.",
            value=label_text(classes[0]),
        )
        return None
    return Labels(classes, index.astype(np.int64))


def _vector(y: Any, problems: Problems) -> npt.NDArray[Any] | None:
    """One label per row, or a note of what `y` is instead."""
    if y is None:
        problems.add(
            "missing",
            "This estimator requires y to be passed, but the target y is None",
            "Give one label per row.",
        )
        return None
    if sparse.issparse(y):
        problems.add("sparse_target", "`y` is a sparse matrix", "Use `y.toarray()`.")
        return None
    values = np.asarray(plain(y))
    if values.dtype.kind in "US" and isinstance(y, list | tuple) and values.ndim == 1:
        kinds = {type(item) for item in y}
        if not all(issubclass(kind, str | bytes) for kind in kinds):
            values = np.array(y, dtype=object)  # NumPy would write the numbers among them as text
    if np.issubdtype(values.dtype, np.complexfloating):
        problems.add("complex", "Complex data not supported in `y`", "Give labels.")
        return None
    if values.ndim != 1 or not len(values):
        problems.add(
            "shape",
            f"`y` has shape {values.shape}",
            "Give one label per row, shape (n,); several targets are several classifiers.",
        )
        return None
    return values


def _missing(values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Which labels are absent: NaN, NaT, None, pandas' NA, or infinite."""
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values))
    if values.dtype.kind in "mM":
        return np.asarray(np.isnat(values))
    if values.dtype.kind != "O":
        return np.zeros(len(values), dtype=np.bool_)
    return np.array([_is_missing(value) for value in values], dtype=np.bool_)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and not np.isfinite(value)


def _one_type(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects that are all truth values or all numbers, as an array of those."""
    if values.dtype.kind != "O":
        return values
    items = values.tolist()
    if all(isinstance(item, bool | np.bool_) for item in items):
        return values.astype(np.bool_)
    if any(isinstance(item, bool | np.bool_) for item in items):
        raise TypeError("truth values among other labels")
    if all(isinstance(item, int | np.integer) for item in items):
        return values.astype(np.int64)
    if all(isinstance(item, int | float | np.integer | np.floating) for item in items):
        return values.astype(np.float64)
    return values


def _continuous(classes: npt.NDArray[Any], n: int) -> bool:
    """Whether labels look like measurements: fractions, and many of them distinct."""
    if classes.dtype.kind != "f" or np.all(classes == np.floor(classes)):
        return False
    return len(classes) > max(2, min(FEW, n // 2))


def label_text(label: Any) -> str:
    """Return a label as a message writes it: without the name of its NumPy type."""
    return repr(label.item() if isinstance(label, np.generic) else label)


def _note_weightless(labels: Labels, s: Float64Array, problems: Problems) -> None:
    """Note each class whose rows all have weight 0: it would be known by name only."""
    total = np.bincount(labels.index, weights=s, minlength=len(labels.classes))
    for k in np.flatnonzero(total == 0):
        problems.add(
            "class_without_weight",
            "every row of a class has weight 0",
            "Leave these rows out, or give one of them a weight.",
            value=label_text(labels.classes[k]),
            count=int(np.sum(labels.index == k)),
        )
