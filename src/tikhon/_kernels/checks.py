"""What arrays must look like before compiled code may read or write them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tikhon.typing import Float64Array, FloatArray

if TYPE_CHECKING:
    from scipy import sparse

REAL = (np.dtype(np.float32), np.dtype(np.float64))


def kind(value: object) -> str:
    return str(value.dtype) if isinstance(value, np.ndarray) else type(value).__name__


def check_matrix(name: str, value: object) -> None:
    """Refuse what is not a dense real matrix with strides that a kernel can walk."""
    if not isinstance(value, np.ndarray) or value.dtype not in REAL:
        raise TypeError(f"`{name}` must be a float32 or float64 array, got {kind(value)}.")
    if value.ndim != 2:
        raise ValueError(f"`{name}` must have two dimensions, got shape {value.shape}.")
    if not value.flags.aligned:
        raise ValueError(f"`{name}` must be aligned in memory. Pass `{name}.copy()`.")
    for length, stride in zip(value.shape, value.strides, strict=True):
        if length > 1 and (stride < 0 or stride % value.itemsize != 0):
            raise ValueError(
                f"`{name}` must have strides that are non-negative multiples of the item size "
                f"{value.itemsize}, got {value.strides}. Pass `{name}.copy()`."
            )


def check_array(
    name: str,
    value: object,
    dtype: type[np.generic],
    shape: tuple[int | None, ...],
    *,
    written: bool = False,
) -> None:
    """Refuse what is not a C-ordered array of this type and shape; None stands for any length."""
    if not isinstance(value, np.ndarray) or value.dtype != np.dtype(dtype):
        raise TypeError(f"`{name}` must be an array of {np.dtype(dtype)}, got {kind(value)}.")
    fits = value.ndim == len(shape) and all(
        want is None or have == want for have, want in zip(value.shape, shape, strict=True)
    )
    if not fits:
        wanted = tuple("any" if want is None else want for want in shape)
        raise ValueError(f"`{name}` must have shape {wanted}, got {value.shape}.")
    if not (value.flags.c_contiguous and value.flags.aligned):
        raise ValueError(
            f"`{name}` must be aligned and contiguous in C order, got strides {value.strides}. "
            f"Pass `np.ascontiguousarray({name})`."
        )
    if written and not value.flags.writeable:
        raise ValueError(f"`{name}` must be writeable.")


def check_optional(
    name: str, value: object, dtype: type[np.generic], shape: tuple[int, ...]
) -> None:
    if value is not None:
        check_array(name, value, dtype, shape)


def check_apart(outputs: dict[str, Float64Array], inputs: dict[str, FloatArray | None]) -> None:
    """Refuse outputs that overlap an input or one another: kernels write while they read."""
    seen = dict(inputs)
    for name, array in outputs.items():
        for other, value in seen.items():
            if value is not None and np.may_share_memory(array, value):
                raise ValueError(f"`{name}` must not share memory with `{other}`.")
        seen[name] = array


def compressed(
    X: sparse.csr_array | sparse.csc_array,
) -> tuple[FloatArray, NDArray[np.signedinteger[Any]], NDArray[np.signedinteger[Any]]]:
    """Return values, indices and starts of a compressed matrix, as kernels take them."""
    if X.data.dtype not in REAL:
        raise TypeError(f"`X` must be float32 or float64, got {X.data.dtype}.")
    # scipy gives indices and indptr the same type, unless somebody assigned to the attributes.
    narrow = X.indices.dtype == X.indptr.dtype == np.int32
    integer: type[np.signedinteger[Any]] = np.int32 if narrow else np.int64
    values = np.ascontiguousarray(X.data)
    indices = np.ascontiguousarray(X.indices, dtype=integer)
    starts = np.ascontiguousarray(X.indptr, dtype=integer)
    runs = X.shape[0] if X.format == "csr" else X.shape[1]
    check_array("X.data", values, values.dtype.type, (None,))
    check_array("X.indices", indices, integer, values.shape)
    check_array("X.indptr", starts, integer, (runs + 1,))
    return values, indices, starts
