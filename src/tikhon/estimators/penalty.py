"""The penalty an estimator is given: by name, or as an object."""

from __future__ import annotations

from typing import Any

from tikhon.penalties import L1, L2, ElasticNet
from tikhon.penalties.base import Penalty

__all__ = ["as_penalty"]

_BY_NAME: dict[str, Penalty] = {"l2": L2(), "l1": L1(), "elastic_net": ElasticNet(0.5)}


def as_penalty(penalty: Any) -> Penalty:
    """Return the penalty of a name, or the one that was given."""
    if isinstance(penalty, Penalty):
        return penalty
    if isinstance(penalty, str) and penalty in _BY_NAME:
        return _BY_NAME[penalty]
    raise ValueError(
        "`penalty` must be 'l2', 'l1', 'elastic_net' (equal parts) or one of tk.penalties, such as "
        f"tk.penalties.ElasticNet(0.3), got {penalty!r}."
    )
