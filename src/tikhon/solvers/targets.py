"""Targets that a loss has a meaning for, checked before anything is solved."""

from __future__ import annotations

from tikhon.data.coerce import Data
from tikhon.errors import Problems, UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared

__all__ = ["check_offset", "check_targets"]


def check_targets(loss: Loss, data: Data) -> None:
    """Refuse targets that a loss has no meaning for, among the rows of positive weight."""
    y = data.y[data.used]
    complaint = loss.check_targets(y[:, 0] if loss.per_class else y)
    problems = Problems()
    if complaint:
        problems.add("target", complaint, "See the loss for the targets it takes.")
    elif loss.classification and y.min() == y.max():
        problems.add(
            "one_class",
            "every target is the same class",
            "Give rows of at least two classes.",
            value=f"{y[0, 0]:g}",
            count=len(y),
        )
    problems.raise_if_any()


def check_offset(loss: Loss, data: Data) -> None:
    """Refuse an offset where subtracting it from the target says the same."""
    if data.offset is not None and isinstance(loss, Squared):
        raise UnsupportedError(
            "`offset` with the squared loss is the same as a target less by it: give y - offset."
        )
