"""The single entry of arrays, sparse matrices and DataFrames; where bad input is found.

Everything wrong is collected and raised once as an `InputError`. Good data are not copied: a
float32 or float64 array of any order is used as it is, other numbers are converted once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tikhon.data.dense import DenseDesign
from tikhon.data.design import Design
from tikhon.data.frames import frame_to_array, is_frame
from tikhon.data.numbers import as_numbers, note_nonfinite, note_nonfinite_sparse, plain
from tikhon.data.sparse import SparseDesign
from tikhon.errors import Problems
from tikhon.typing import Float64Array, IntArray

__all__ = [
    "Data",
    "as_data",
    "as_design",
    "as_offset",
    "note_target_among_features",
    "table_length",
]


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """Checked input of a fit.

    Attributes
    ----------
    design : Design
    y : ndarray of shape (n, targets)
    s : ndarray of shape (n,) or None
        Sample weights; None where they were not given or are all 1.
    groups : ndarray of shape (n,) or None
    one_target : bool
        Whether y came as a vector.
    feature_names : tuple of str or None
    offset : ndarray of shape (n, 1) or (n, columns of z), or None
        Added to the linear predictor of each row; None where it was not given or is all 0.
    """

    design: Design
    y: Float64Array
    s: Float64Array | None
    groups: npt.NDArray[Any] | None
    one_target: bool
    feature_names: tuple[str, ...] | None
    offset: Float64Array | None = None

    @property
    def used(self) -> IntArray:
        """Rows of positive weight, ascending."""
        n = self.design.shape[0]
        return np.arange(n) if self.s is None else np.flatnonzero(self.s > 0)

    def rows(self, index: IntArray) -> Data:
        """Some of the rows, with their weights and groups."""
        return Data(
            self.design.rows(index),
            self.y[index],
            None if self.s is None else self.s[index],
            None if self.groups is None else self.groups[index],
            self.one_target,
            self.feature_names,
            None if self.offset is None else self.offset[index],
        )

    def labels(self) -> IntArray:
        """One cell for all rows in use: label 0, and -1 for rows of weight 0."""
        labels = np.zeros(self.design.shape[0], dtype=np.int64)
        if self.s is not None:
            labels[self.s == 0] = -1
        return labels


def as_design(X: Any) -> Design:
    """Check a table of numbers and wrap it."""
    problems = Problems()
    design, _ = _design(X, problems)
    problems.raise_if_any()
    assert design is not None
    return design


def as_data(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    offset: Any = None,
    problems: Problems | None = None,
) -> Data:
    """Check everything a fit is given; raise one `InputError` with all that is wrong.

    `problems` are those already found, to be raised with the others.
    """
    problems = Problems() if problems is None else problems
    design, names = _design(X, problems)
    n = table_length(X) if design is None else design.shape[0]
    target = _target(y, n, problems)
    s = _weights(sample_weight, n, problems)
    labels = _groups(groups, n, problems)
    added = as_offset(offset, n, problems)
    note_target_among_features(design, target, names, problems)
    problems.raise_if_any()
    assert design is not None
    assert target is not None
    one_target = target.ndim == 1
    table = np.ascontiguousarray(target.reshape(len(target), -1))
    return Data(design, table, s, labels, one_target, names, added)


def table_length(X: Any) -> int | None:
    """Return the number of rows of whatever may become a table, None where it has none."""
    shape = getattr(X, "shape", None)
    if shape:
        return int(shape[0])
    return len(X) if hasattr(X, "__len__") else None


def _design(X: Any, problems: Problems) -> tuple[Design | None, tuple[str, ...] | None]:
    if X is None:
        problems.add("missing", "`X` is None", "Give a table of numbers.")
        return None, None
    names: tuple[str, ...] | None = None
    if sparse.issparse(X):
        return _sparse_design(X, problems), None
    if is_frame(X):
        array, names = frame_to_array(X, problems)
    else:
        array = as_numbers(X, "X", problems)
    if array is None or not _table_shape(array.shape, problems):
        return None, names
    design = DenseDesign.of(array)
    if design.scan.nonfinite.any():
        note_nonfinite(array, names, problems)
        return None, names
    return design, names


def _table_shape(shape: tuple[int, ...], problems: Problems) -> bool:
    if len(shape) != 2:
        kind = "a scalar" if len(shape) == 0 else f"a {len(shape)}-dimensional array"
        problems.add(
            "shape",
            f"Expected 2D array for `X`, got {kind} of shape {shape}",
            "Reshape your data: `X.reshape(-1, 1)` for one feature, `X.reshape(1, -1)` for a row.",
        )
        return False
    if shape[0] == 0:
        problems.add(
            "empty",
            f"`X` has 0 sample(s) (shape={shape}) while a minimum of 1 is required",
            "Give at least one row.",
        )
    if shape[1] == 0:
        problems.add(
            "empty",
            f"`X` has 0 feature(s) (shape={shape}) while a minimum of 1 is required.",
            "Give at least one column.",
        )
    return shape[0] > 0 and shape[1] > 0


def _sparse_design(X: Any, problems: Problems) -> Design | None:
    if not _table_shape(X.shape, problems):
        return None
    if np.issubdtype(X.dtype, np.complexfloating):
        problems.add("complex", "Complex data not supported in `X`", "Give real numbers.")
        return None
    if X.format == "csc":
        array: Any = sparse.csc_array(X)
    else:
        array = sparse.csr_array(X)
    if array.dtype not in (np.float32, np.float64):
        array = array.astype(np.float64)
    if not array.has_canonical_format:
        array = array.copy()  # summing duplicates in place would change the caller's matrix
        array.sum_duplicates()
    if not np.isfinite(array.data).all():
        note_nonfinite_sparse(array, problems)
        return None
    return SparseDesign.of(array)


def _target(y: Any, n: int | None, problems: Problems) -> Float64Array | None:
    if y is None:
        problems.add(
            "missing",
            "This estimator requires y to be passed, but the target y is None",
            "Give one target per row.",
        )
        return None
    if sparse.issparse(y):
        problems.add("sparse_target", "`y` is a sparse matrix", "Use `y.toarray()`.")
        return None
    array = as_numbers(plain(y), "y", problems)
    if array is None:
        return None
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] == 0):
        problems.add(
            "shape", f"`y` has shape {array.shape}", "Give (n,) or, for several targets, (n, T)."
        )
        return None
    if n is not None and len(array) != n:
        problems.add(
            "length",
            f"`X` and `y` have inconsistent numbers of samples: {n} and {len(array)}",
            "Give one target per row.",
        )
    bad = ~np.isfinite(array)
    if bad.any():
        first = int(np.flatnonzero(bad.reshape(len(array), -1).any(axis=1))[0])
        problems.add(
            "nonfinite",
            "Input y contains NaN or infinity",
            "Drop these rows.",
            row=first,
            value=str(array.reshape(len(array), -1)[first].max()),
            count=int(bad.sum()),
        )
        return None
    target = array.astype(np.float64, copy=False)
    largest = float(np.max(np.abs(target), initial=0.0))
    if largest > 1e150 or 0 < largest < 1e-150:
        problems.add(
            "range",
            "the squares of `y` leave the range of float64",
            f"Divide `y` by {largest:.0e}.",
            value=f"{largest:g}",
        )
        return None
    return target


def _weights(s: Any, n: int | None, problems: Problems) -> Float64Array | None:
    if s is None:
        return None
    if np.isscalar(s) and isinstance(s, int | float | np.number) and n is not None:
        s = np.full(n, float(s))
    before = len(problems)
    array = as_numbers(plain(s), "sample_weight", problems)
    if array is None:
        return None
    if array.ndim != 1:
        problems.add(
            "shape",
            f"Sample weights must be 1D array or scalar, got shape {array.shape}",
            "Give (n,).",
        )
        return None
    if n is not None and len(array) != n:
        problems.add(
            "length", f"sample_weight.shape == {array.shape}, expected {(n,)}", "Give one per row."
        )
    bad = ~np.isfinite(array)
    negative = array < 0
    for code, mask, what in (
        ("nonfinite", bad, "`sample_weight` contains NaN or infinity"),
        ("negative_weight", negative, "`sample_weight` is negative"),
    ):
        if mask.any():
            first = int(np.flatnonzero(mask)[0])
            problems.add(
                code,
                what,
                "Weights must be finite and >= 0.",
                row=first,
                value=str(array[first]),
                count=int(mask.sum()),
            )
    if len(problems) > before:
        return None
    if not array.any():
        problems.add("zero_weights", "every weight is 0", "Give at least one positive weight.")
        return None
    weights = array.astype(np.float64)
    return None if np.all(weights == 1.0) else weights


def as_offset(offset: Any, n: int | None, problems: Problems) -> Float64Array | None:
    """Check what is added to the linear predictor; None where it is absent or 0 everywhere."""
    if offset is None:
        return None
    array = as_numbers(plain(offset), "offset", problems)
    if array is None:
        return None
    if array.ndim not in (1, 2) or (n is not None and len(array) != n):
        problems.add(
            "length",
            f"`offset` has shape {array.shape} for {n} rows",
            "Give one number per row, or one per row and column of the linear predictor.",
        )
        return None
    bad = ~np.isfinite(array)
    if bad.any():
        first = int(np.flatnonzero(bad.reshape(len(array), -1).any(axis=1))[0])
        problems.add(
            "nonfinite",
            "`offset` contains NaN or infinity",
            "Offsets must be finite; the logarithm of an exposure of 0 is not.",
            row=first,
            count=int(bad.sum()),
        )
        return None
    if not array.any():
        return None
    return np.ascontiguousarray(array.reshape(len(array), -1), dtype=np.float64)


def _groups(groups: Any, n: int | None, problems: Problems) -> npt.NDArray[Any] | None:
    if groups is None:
        return None
    labels = np.asarray(plain(groups))
    if labels.ndim != 1 or (n is not None and len(labels) != n):
        problems.add(
            "length", f"`groups` has shape {labels.shape} for {n} rows", "Give one label per row."
        )
        return None
    missing = labels != labels  # NaN alone differs from itself
    if np.any(missing) or any(label is None for label in labels.tolist()):
        problems.add("nonfinite", "`groups` has missing labels", "Give every row a group.")
        return None
    return labels


def note_target_among_features(
    design: Design | None,
    target: Float64Array | None,
    names: tuple[str, ...] | None,
    problems: Problems,
) -> None:
    """Note a DataFrame that contains the (one, named) target: the fit would copy it."""
    if design is None or target is None or target.ndim != 1 or names is None:
        return
    if len(target) != design.shape[0] or target.min() == target.max():
        return
    low, high = float(target.min()), float(target.max())
    same = np.flatnonzero((design.scan.minimum == low) & (design.scan.maximum == high))
    for j in same:
        column = next(iter(design.take(np.array([j])).blocks())).rows
        if np.array_equal(column[:, 0], target[: len(column)]):
            problems.add(
                "target_among_features",
                "a column of `X` equals the target",
                "Remove it from `X`: it would not be known when predicting.",
                column=names[j],
            )
