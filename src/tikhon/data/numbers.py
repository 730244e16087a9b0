"""From whatever holds numbers to a float array, noting each value that is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tikhon.errors import Problems
from tikhon.typing import FloatArray

__all__ = ["as_numbers", "note_nonfinite", "note_nonfinite_sparse", "plain", "usable"]

COLUMNS_NAMED = 20
"""Columns listed one by one in an error; the rest are counted."""


def plain(values: Any) -> Any:
    """Return the array inside a pandas, Polars or Arrow column; anything else as it is."""
    if hasattr(values, "to_numpy") and not isinstance(values, np.ndarray):
        return values.to_numpy()
    return values


def as_numbers(values: Any, name: str, problems: Problems) -> FloatArray | None:
    """Return a float32 or float64 array: the caller's own where it is one already."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged lists
        problems.add("shape", f"`{name}` is not a rectangular array: {error}", "Mend its rows.")
        return None
    if np.ma.is_masked(values):
        problems.add(
            "nonfinite",
            f"`{name}` has masked values",
            "Impute them or drop these rows.",
            count=int(np.ma.getmaskarray(values).sum()),
        )
        return None
    if array.dtype in (np.float32, np.float64):
        return usable(array)
    if np.issubdtype(array.dtype, np.complexfloating):
        problems.add("complex", f"Complex data not supported in `{name}`", "Give real numbers.")
        return None
    if np.issubdtype(array.dtype, np.number) or array.dtype == np.bool_:
        return array.astype(np.float64)
    if array.dtype.kind in "OUS":
        return _parse(array, name, problems)
    problems.add(
        "not_numeric",
        f"`{name}` has the type {array.dtype}",
        "Turn it into numbers first.",
    )
    return None


def usable(array: npt.NDArray[Any]) -> FloatArray:
    """Return the array itself, or a copy where its bytes or strides suit no kernel."""
    forward = all(step >= 0 and step % array.itemsize == 0 for step in array.strides)
    if array.dtype.isnative and array.flags.aligned and forward:
        return array
    return array.astype(array.dtype.newbyteorder("="), order="C")


def _parse(array: npt.NDArray[Any], name: str, problems: Problems) -> FloatArray | None:
    """Convert objects that are numbers; note the first that is not, with its place."""
    if array.dtype.kind == "O":
        try:
            return array.astype(np.float64)
        except (TypeError, ValueError):
            pass
    if array.dtype.kind in "US" and _all_parse(array):
        problems.add(
            "not_numeric",
            f"`{name}` holds numbers written as text",
            f"Convert it with `{name}.astype(float)`.",
            value=repr(str(array.flat[0])) if array.size else None,
        )
        return None
    flat = array.reshape(len(array), -1) if array.ndim else array.reshape(1, 1)
    for j in range(flat.shape[1]):
        bad = [i for i, value in enumerate(flat[:, j]) if not _is_number(value)]
        if not bad:
            continue
        value = flat[bad[0], j]
        if not isinstance(value, str | bytes | float | int | type(None)):
            problems.wrong_type = True
            kind = type(value).__name__
            what = f"`{name}`: argument must be a string or a real number, not {kind!r}"
        else:
            what = f"`{name}` holds text that is not a number"
        problems.add(
            "not_numeric",
            what,
            "Encode it as numbers, or leave the column out.",
            column=str(j) if array.ndim > 1 else None,
            row=bad[0],
            value=repr(value.item() if isinstance(value, np.generic) else value),
            count=len(bad),
        )
    return None


def _all_parse(array: npt.NDArray[Any]) -> bool:
    try:
        array.astype(np.float64)
    except ValueError:
        return False
    return True


def _is_number(value: Any) -> bool:
    if isinstance(value, str | bytes):
        return False
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def note_nonfinite(
    array: FloatArray, names: tuple[str, ...] | None, problems: Problems, what: str = "X"
) -> None:
    """Note each column with NaN or infinity: its first row, the value and the count."""
    listed, rest_columns, rest_cells = 0, 0, 0
    for j in range(array.shape[1]):
        bad = np.flatnonzero(~np.isfinite(array[:, j]))
        if not bad.size:
            continue
        if listed == COLUMNS_NAMED:
            rest_columns, rest_cells = rest_columns + 1, rest_cells + bad.size
            continue
        listed += 1
        value = array[bad[0], j]
        kind = "NaN" if np.isnan(value) else "infinity"
        problems.add(
            "nonfinite",
            f"Input {what} contains {kind}",
            "Impute or drop missing values, and mend infinite ones.",
            column=str(j) if names is None else names[j],
            row=int(bad[0]),
            value=str(value),
            count=int(bad.size),
        )
    if rest_columns:
        problems.add(
            "nonfinite",
            f"Input {what} contains NaN or infinity in {rest_columns} more columns",
            "Impute or drop missing values, and mend infinite ones.",
            count=rest_cells,
        )


def note_nonfinite_sparse(array: Any, problems: Problems) -> None:
    """Note the stored NaN and infinities of a sparse array, column by column."""
    columns = array.tocsc()
    bad = np.flatnonzero(~np.isfinite(columns.data))
    owner = np.searchsorted(columns.indptr, bad, side="right") - 1
    for j in np.unique(owner)[:COLUMNS_NAMED]:
        own = bad[owner == j]
        value = columns.data[own[0]]
        problems.add(
            "nonfinite",
            f"Input X contains {'NaN' if np.isnan(value) else 'infinity'}",
            "Mend or remove these entries.",
            column=str(int(j)),
            row=int(columns.indices[own[0]]),
            value=str(value),
            count=int(own.size),
        )
