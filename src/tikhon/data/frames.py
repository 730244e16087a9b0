"""DataFrames of any kind (pandas, Polars, Arrow, ...) to one float array, through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.data.numbers import COLUMNS_NAMED, usable
from tikhon.errors import Problems
from tikhon.typing import FloatArray

__all__ = ["frame_to_array", "is_frame"]


def is_frame(X: Any) -> bool:
    """Whether X is a DataFrame narwhals knows; arrays are sorted out without importing it."""
    if isinstance(X, np.ndarray | list | tuple):
        return False
    kind = type(X)  # a lazy frame would resolve its schema to answer hasattr on the object
    return hasattr(kind, "columns") or hasattr(kind, "column_names") or hasattr(X, "columns")


def frame_to_array(X: Any, problems: Problems) -> tuple[FloatArray | None, tuple[str, ...] | None]:
    """Return a column-ordered array and the column names; note whatever is not a number."""
    if hasattr(X, "collect"):
        problems.add("lazy", f"`X` is a {type(X).__name__}, not read yet", "Use `X.collect()`.")
        return None, None
    names = _duplicates(X, problems)
    if len(problems):
        return None, names
    import narwhals as nw

    columns = list(nw.from_native(X, eager_only=True).iter_columns())
    for column, name in zip(columns, names, strict=True):
        _check_column(column, name, problems)
    if len(problems):
        return None, names
    kinds = {column.dtype for column in columns}
    if len(kinds) == 1 and kinds <= {nw.Float64(), nw.Float32()}:
        array = np.asarray(nw.from_native(X, eager_only=True).to_numpy())
        if array.dtype in (np.float32, np.float64):
            return usable(array), names
    dtype = np.float32 if kinds == {nw.Float32()} else np.float64
    out = np.empty((len(columns[0]) if columns else 0, len(columns)), dtype=dtype, order="F")
    for j, column in enumerate(columns):
        out[:, j] = column.to_numpy().astype(dtype)
    return out, names


def _duplicates(X: Any, problems: Problems) -> tuple[str, ...]:
    columns = X.columns if hasattr(X, "columns") and not hasattr(X, "column_names") else None
    labels = list(X.column_names if columns is None else columns)
    names = tuple(str(name) for name in labels)
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problems.add(
                "duplicate_name", "two columns have the same name", "Rename one.", column=name
            )
        seen.add(name)
    return names


def _check_column(column: Any, name: str, problems: Problems) -> None:
    """Note a column that is not numeric, or has missing values."""
    kind = column.dtype
    if not (kind.is_numeric() or str(kind) == "Boolean"):
        if str(kind) == "Object" and _all_numbers(column):
            return
        first = next((v for v in column.to_list() if v is not None), None)
        problems.add(
            "not_numeric",
            f"a column of type {kind} holds no numbers",
            "Encode it as numbers, or leave the column out.",
            column=name,
            value=repr(first),
        )
        return
    if len(problems) >= COLUMNS_NAMED:
        return
    missing = column.is_null().to_numpy().astype(np.bool_)
    infinite = np.zeros(len(missing), dtype=np.bool_)
    if kind.is_float():
        values = column.to_numpy().astype(np.float64)
        missing, infinite = np.isnan(values), np.isinf(values)
    for what, bad, remedy in (
        ("NaN (missing values)", missing, "Impute them or drop these rows."),
        ("infinity", infinite, "Mend or drop these rows."),
    ):
        if bad.any():
            problems.add(
                "nonfinite",
                f"Input X contains {what}",
                remedy,
                column=name,
                row=int(np.flatnonzero(bad)[0]),
                count=int(bad.sum()),
            )


def _all_numbers(column: Any) -> bool:
    try:
        np.asarray(column.to_list(), dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True
