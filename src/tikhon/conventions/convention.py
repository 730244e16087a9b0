"""One row of the table: the objective of another package or lecture, and its translation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tikhon.conventions.rules import Rule
from tikhon.conventions.strength import Sample, Strength
from tikhon.errors import UnsupportedError

__all__ = ["Convention"]

_WHY = {
    "n": "whose loss is a sum over the rows: give the sum of the sample weights, or the number "
    "of rows if there are none",
    "y_sd": "which divides the targets by their standard deviation: give that of `y` (numpy's "
    "`y.std()`, weighted if the rows are)",
}


@dataclass(frozen=True, slots=True)
class Convention:
    """How the strength is written elsewhere.

    Attributes
    ----------
    name : str
        What `to_lam` and `from_lam` call it.
    objective : str
        What is minimised there, with ``z = Xw + b``; sum and mean run over the rows.
    rule : Rule
        The translation; it states its formulas.
    aliases : tuple of str
        Other classes with the same objective up to the loss.
    note : str
        What else differs: columns that are standardised, an intercept that is penalised.

    Examples
    --------
    >>> import tikhon as tk
    >>> row = tk.conventions.find("sklearn.Ridge")
    >>> row.objective, row.lam
    ('sum (y - z)^2 + alpha ||w||^2', 'alpha / n')
    """

    name: str
    objective: str
    rule: Rule
    aliases: tuple[str, ...] = ()
    note: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the name and the aliases."""
        return (self.name, *self.aliases)

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return the parameters there: strengths, then the mixture if it can be chosen."""
        mixture = self.rule.mixture
        chosen = () if mixture is None or mixture.name is None else (mixture.name,)
        return self.rule.strengths + chosen

    @property
    def needs(self) -> tuple[str, ...]:
        """Return what must be known of the data: "n", "y_sd" or nothing."""
        return self.rule.needs

    @property
    def lam(self) -> str:
        """Return the formula of `lam`."""
        return self.rule.lam

    @property
    def l1_ratio(self) -> str:
        """Return the formula of `l1_ratio`."""
        return self.rule.l1_ratio

    def to_lam(
        self, values: Mapping[str, float], n: float | None = None, y_sd: float | None = None
    ) -> Strength:
        """Return the strength here of the parameters there; see `tikhon.conventions.to_lam`."""
        for name, value in values.items():
            self._check_parameter(name, value)
        missing = [name for name in self.rule.strengths if name not in values]
        if missing:
            raise TypeError(
                f"`{missing[0]}` is missing: the strength of {self.name} is "
                f"{_listed(self.rule.strengths)}."
            )
        return self.rule.to_lam(values, self._sample(n, y_sd))

    def from_lam(
        self,
        lam: float,
        l1_ratio: float | None = None,
        n: float | None = None,
        y_sd: float | None = None,
    ) -> dict[str, float]:
        """Return the parameters there of a strength; see `tikhon.conventions.from_lam`."""
        strength = Strength(lam, self._ratio(l1_ratio))
        return self.rule.from_lam(strength, self._sample(n, y_sd))

    def _check_parameter(self, name: str, value: float) -> None:
        if name not in self.parameters:
            raise TypeError(
                f"`{name}` is not a parameter of {self.name}, which has {_listed(self.parameters)}."
            )
        if name not in self.rule.strengths:
            if not 0 <= value <= 1:
                raise ValueError(f"`{name}` must be between 0 and 1, got {value}.")
        elif self.rule.infinite:
            if not value > 0:
                raise ValueError(f"`{name}` must be > 0, got {value}. Use inf for no penalty.")
        elif not 0 <= value < math.inf:
            raise ValueError(f"`{name}` must be finite and >= 0, got {value}.")

    def _ratio(self, l1_ratio: float | None) -> float:
        mixture = self.rule.mixture
        if mixture is None or mixture.name is not None:
            if l1_ratio is None:
                raise TypeError(
                    f"`l1_ratio` is needed for {self.name}, which has both penalties: 0 for L2 "
                    "alone, 1 for L1 alone."
                )
            return l1_ratio
        if l1_ratio is not None and l1_ratio != mixture.value:
            raise UnsupportedError(
                f"{self.name} has the penalty of `l1_ratio` {mixture.value:g} only, got "
                f"{l1_ratio}. Choose a convention with both penalties, such as "
                "sklearn.ElasticNet."
            )
        return mixture.value

    def _sample(self, n: float | None, y_sd: float | None) -> Sample:
        given = {"n": n, "y_sd": y_sd}
        for name in self.needs:
            value = given[name]
            if value is None:
                raise TypeError(f"`{name}` is needed for {self.name}, {_WHY[name]}.")
            if not 0 < value < math.inf:
                raise ValueError(f"`{name}` must be finite and > 0, got {value}.")
        return Sample(**{name: float(given[name] or 0.0) for name in self.needs})


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)
