"""Penalties with one parameter per column: read-only arrays as fields of frozen dataclasses."""

from dataclasses import fields

import numpy as np
import numpy.typing as npt

from tikhon.typing import FloatArray


class HoldsArrays:
    """Equality, hash and repr for frozen dataclasses with array fields.

    The ones that dataclasses write themselves would compare arrays elementwise and fail. To be
    listed before the penalty among the bases, of a dataclass with ``eq=False, repr=False``.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, HoldsArrays) or type(other) is not type(self):
            return NotImplemented
        return self._key() == other._key()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._key()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={_text(value)}" for name, value in self._parameters())
        return f"{type(self).__name__}({shown})"

    def _parameters(self) -> list[tuple[str, object]]:
        return [(f.name, getattr(self, f.name)) for f in fields(self) if f.repr]  # type: ignore[arg-type]

    def _key(self) -> tuple[object, ...]:
        return tuple(_comparable(value) for _, value in self._parameters())


def frozen_copy(values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return a read-only float64 copy, with -0 as 0 so that equal values have equal bytes."""
    copy = np.array(values, dtype=np.float64) + 0.0
    copy.setflags(write=False)
    return copy


def per_row(values: FloatArray, w: FloatArray, name: str) -> FloatArray:
    """Return one value per column of X, in the float type of `w` and shaped to multiply its rows.

    Raises
    ------
    ValueError
        If there are not as many values as rows of `w`.
    """
    if len(values) != len(w):
        raise ValueError(
            f"`{name}` has {len(values)} entries for {len(w)} coefficients. "
            "Give one entry per column of X."
        )
    return values.astype(w.dtype, copy=False).reshape((-1,) + (1,) * (w.ndim - 1))


def _comparable(value: object) -> object:
    if isinstance(value, np.ndarray):
        return value.shape, value.dtype.str, value.tobytes()
    return value


def _text(value: object) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, separator=", ", threshold=8)
    return repr(value)
