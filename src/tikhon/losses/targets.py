"""Sentences about targets that a loss cannot take: what was expected, what was got, what to do."""

import numpy as np
import numpy.typing as npt


def first_problem(
    y: npt.ArrayLike, suits: npt.ArrayLike | bool, expected: str, remedy: str
) -> str | None:
    """Return a sentence about the first target that is not finite or does not suit, else None.

    Parameters
    ----------
    y : array of shape (n,) or (n, n_targets)
    suits : array of bool, the shape of `y`
    expected : str
        Subject and rule, as in "Targets of the Poisson loss must be >= 0".
    remedy : str
        What the user can do, a full sentence.
    """
    y = np.asarray(y)
    finite = np.isfinite(y)
    bad = np.argwhere(~(finite & suits))
    if not len(bad):
        return None
    place = tuple(bad[0])
    got = f"got {y[place]} at row {place[0]}"
    if not finite[place]:
        return f"Targets must be finite, {got}. Remove that row or impute its target."
    return f"{expected}, {got}. {remedy}"


def not_numeric(y: npt.ArrayLike) -> str | None:
    """Return a sentence if `y` does not hold numbers, else None."""
    y = np.asarray(y)
    if y.dtype.kind in "fiub":
        return None
    return f"Targets must be numbers, got an array of type {y.dtype}. Encode them first."


def sign_problem(y: npt.ArrayLike, name: str) -> str | None:
    """Return a sentence if `y` is anything but -1 and +1, else None."""
    return not_numeric(y) or first_problem(
        y,
        np.abs(y) == 1,
        f"Targets of the {name} loss must be -1 or +1",
        "Encode one class as -1 and the other as +1.",
    )
