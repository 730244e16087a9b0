"""Rules that choose a strength from a study; they look at figures only, nothing is fitted.

    min     the best mean score
    1se     the strongest strength whose mean is within one standard error of the best
    kse     the same with k standard errors: "2se", "0.5se", `StandardErrors(k)`
    aic     training loss and degrees of freedom: see `tikhon.selection.criteria`
    bic     the same, with a higher price for each degree of freedom
    ebic    the same, higher still where there are many columns: `EBIC(gamma)`
    srm     the least bound on the risk over nested classes: see `tikhon.selection.structural`
    mdl     the same, by the length of a description

Ties, within rounding, go to the simpler model: the grid is ordered strongest first and the first
one wins.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.selection.criteria import AIC, BIC, EBIC
from tikhon.selection.evidence import Evidence, strongest_of_the_best
from tikhon.selection.structural import MDL, SRM

__all__ = [
    "AIC",
    "BIC",
    "EBIC",
    "MDL",
    "SRM",
    "Evidence",
    "Min",
    "Rule",
    "StandardErrors",
    "as_rule",
]


@runtime_checkable
class Rule(Protocol):
    """Chooses a position of the grid (strongest first) from what a study knows."""

    def choose(self, evidence: Evidence) -> int:
        """Return the chosen position."""
        ...


@dataclass(frozen=True)
class Min:
    """The best mean score."""

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the smallest cost."""
        return strongest_of_the_best(evidence.cost)


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

    def choose(self, evidence: Evidence) -> int:
        """Return the first position whose cost is within k standard errors of the smallest."""
        se = evidence.se[Min().choose(evidence)]
        if not np.isfinite(se):
            raise UnsupportedError(
                "this study has no standard error (one fold, or a closed-form criterion); "
                "use rule='min'."
            )
        return strongest_of_the_best(evidence.cost, self.k * float(se))


_BY_NAME: dict[str, Rule] = {
    "min": Min(),
    "aic": AIC(),
    "bic": BIC(),
    "ebic": EBIC(),
    "srm": SRM(),
    "mdl": MDL(),
}


def as_rule(rule: str | Rule) -> Rule:
    """Turn "min", "1se", "2.5se", "aic", ..., "srm", "mdl" or a rule object into a rule."""
    if isinstance(rule, str):
        if rule in _BY_NAME:
            return _BY_NAME[rule]
        match = re.fullmatch(r"(\d+(?:\.\d+)?)se", rule)
        if match:
            return StandardErrors(float(match.group(1)))
    elif isinstance(rule, Rule):
        return rule
    raise ValueError(
        "`rule` must be 'min', '1se', '2se', ..., 'aic', 'bic', 'ebic', 'srm', 'mdl' or a rule "
        f"object, got {rule!r}."
    )
