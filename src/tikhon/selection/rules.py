"""Rules that choose a strength from a study; they look at figures only, nothing is fitted.

    min    the best mean score
    1se    the strongest strength whose mean is within one standard error of the best
    kse    the same with k standard errors: "2se", "0.5se", `StandardErrors(k)`

Ties go to the simpler model: the grid is ordered strongest first and the first one wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["Min", "Rule", "StandardErrors", "as_rule"]


@runtime_checkable
class Rule(Protocol):
    """Chooses a position of the grid (strongest first) from mean costs and standard errors."""

    def choose(self, cost: Float64Array, se: Float64Array) -> int:
        """Return the chosen position; a smaller cost is better."""
        ...


@dataclass(frozen=True)
class Min:
    """The best mean score."""

    def choose(self, cost: Float64Array, se: Float64Array) -> int:  # noqa: ARG002
        """Return the position of the smallest cost."""
        if np.isnan(cost).all():
            raise ValueError("every score of the study is nan: no strength can be chosen.")
        return int(np.nanargmin(cost))


@dataclass(frozen=True)
class StandardErrors:
    """The strongest strength within `k` standard errors of the best.

    Parameters
    ----------
    k : float, default 1
    """

    k: float = 1.0

    def __post_init__(self) -> None:
        if not self.k >= 0:
            raise ValueError(f"`k` must be >= 0, got {self.k}.")

    def choose(self, cost: Float64Array, se: Float64Array) -> int:
        """Return the first position whose cost is within k standard errors of the smallest."""
        best = Min().choose(cost, se)
        if not np.isfinite(se[best]):
            raise ValueError(
                "this study has no standard error (one fold, or a closed-form criterion); "
                "use rule='min'."
            )
        return int(np.argmax(cost <= cost[best] + self.k * se[best]))


def as_rule(rule: str | Rule) -> Rule:
    """Turn "min", "1se", "2.5se" or a rule object into a rule."""
    if isinstance(rule, str):
        if rule == "min":
            return Min()
        match = re.fullmatch(r"(\d+(?:\.\d+)?)se", rule)
        if match:
            return StandardErrors(float(match.group(1)))
    elif isinstance(rule, Rule):
        return rule
    raise ValueError(f"`rule` must be 'min', '1se', '2se', ... or a rule object, got {rule!r}.")
