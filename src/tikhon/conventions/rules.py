"""The four ways in which a strength is written elsewhere, each with its inverse.

`Scaled` is a multiple of ours, `Cost` the inverse of a multiple, `LabelScaled` acts on targets
that were divided by their standard deviation, `Separate` gives L1 and L2 a number each. A
convention is one of them with names and factors filled in, so that the formula that is shown and
the one that is computed are the same object.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

from tikhon.conventions.strength import Sample, Strength

__all__ = ["L1_ONLY", "L2_ONLY", "Cost", "LabelScaled", "Mixture", "Rule", "Scaled", "Separate"]


@dataclass(frozen=True, slots=True)
class Mixture:
    """Where the mixture comes from.

    Attributes
    ----------
    name : str or None
        The parameter that holds it there; None if it cannot be chosen.
    value : float
        That parameter's default, or the mixture that cannot be chosen.
    """

    name: str | None
    value: float

    def of(self, values: Mapping[str, float]) -> float:
        """Return the mixture that `values` ask for."""
        return self.value if self.name is None else values.get(self.name, self.value)

    def as_values(self, l1_ratio: float) -> dict[str, float]:
        """Return the parameter that asks for `l1_ratio`, if there is one."""
        return {} if self.name is None else {self.name: l1_ratio}


L2_ONLY = Mixture(None, 0.0)
L1_ONLY = Mixture(None, 1.0)


class Rule(ABC):
    """A translation between the parameters of another convention and a `Strength`."""

    __slots__ = ()

    @property
    @abstractmethod
    def strengths(self) -> tuple[str, ...]:
        """Return the parameters that must be given."""

    @property
    @abstractmethod
    def mixture(self) -> Mixture | None:
        """Return where the mixture comes from; None if it follows from the strengths."""

    @property
    def needs(self) -> tuple[str, ...]:
        """Return which fields of `Sample` the rule uses."""
        return ()

    @property
    def infinite(self) -> bool:
        """Return whether an infinite parameter, instead of 0, means no regularization."""
        return False

    @property
    @abstractmethod
    def lam(self) -> str:
        """Return the formula of `lam`."""

    @property
    def l1_ratio(self) -> str:
        """Return the formula of `l1_ratio`."""
        mixture = self.mixture
        assert mixture is not None
        return f"{mixture.value:g}" if mixture.name is None else mixture.name

    @abstractmethod
    def to_lam(self, values: Mapping[str, float], sample: Sample) -> Strength:
        """Return the strength in the library's convention."""

    @abstractmethod
    def from_lam(self, strength: Strength, sample: Sample) -> dict[str, float]:
        """Return the parameters of the other convention."""


@dataclass(frozen=True, slots=True)
class Scaled(Rule):
    """``lam = factor strength``, over n where the loss is a sum there.

    Examples
    --------
    >>> Scaled("alpha", L2_ONLY, over_n=True).lam
    'alpha / n'
    """

    strength: str
    mixture: Mixture
    factor: float = 1.0
    over_n: bool = False

    @property
    def strengths(self) -> tuple[str, ...]:
        """Return the one strength."""
        return (self.strength,)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return `n` where the loss is a sum."""
        return ("n",) if self.over_n else ()

    @property
    def lam(self) -> str:
        """Return the formula of `lam`."""
        return _product(self.factor, self.strength, over_n=self.over_n)

    def to_lam(self, values: Mapping[str, float], sample: Sample) -> Strength:
        """Return the multiple."""
        lam = self.factor * values[self.strength]
        return Strength(lam / sample.n if self.over_n else lam, self.mixture.of(values))

    def from_lam(self, strength: Strength, sample: Sample) -> dict[str, float]:
        """Return the multiple undone."""
        value = strength.lam / self.factor
        value = value * sample.n if self.over_n else value
        return {self.strength: value} | self.mixture.as_values(strength.l1_ratio)


@dataclass(frozen=True, slots=True)
class Cost(Rule):
    """``lam = factor / (C n)``: the strength there multiplies a sum of losses.

    Examples
    --------
    >>> Cost("C", L2_ONLY, factor=0.5).lam
    '1 / (2 C n)'
    """

    cost: str
    mixture: Mixture
    factor: float = 1.0

    @property
    def strengths(self) -> tuple[str, ...]:
        """Return the one cost."""
        return (self.cost,)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return `n`: the loss is a sum."""
        return ("n",)

    @property
    def infinite(self) -> bool:
        """Return True: the smaller, the stronger."""
        return True

    @property
    def lam(self) -> str:
        """Return the formula of `lam`."""
        top = max(self.factor, 1.0)
        return f"{top:g} / ({_product(top / self.factor, self.cost)} n)"

    def to_lam(self, values: Mapping[str, float], sample: Sample) -> Strength:
        """Return the inverse."""
        lam = self.factor / values[self.cost] / sample.n
        return Strength(lam, self.mixture.of(values))

    def from_lam(self, strength: Strength, sample: Sample) -> dict[str, float]:
        """Return the inverse, ``inf`` for a strength of 0."""
        lam_n = strength.lam * sample.n
        value = self.factor / lam_n if lam_n > 0 else math.inf
        return {self.cost: value} | self.mixture.as_values(strength.l1_ratio)


@dataclass(frozen=True, slots=True)
class LabelScaled(Rule):
    """The elastic net on ``y / y_sd``, its strength given in the unit of y.

    With ``y = y_sd v`` and ``w = y_sd u``, the objective there is

        mean (v - X u)^2 / 2 + (strength / y_sd) (mix ||u||_1 + (1 - mix) ||u||^2 / 2).

    Times ``y_sd^2``, in w: the weight of ``||w||_1`` is ``strength mix``, that of ``||w||^2 / 2``
    is ``strength (1 - mix) / y_sd``.
    """

    strength: str
    mixture: Mixture

    @property
    def strengths(self) -> tuple[str, ...]:
        """Return the one strength."""
        return (self.strength,)

    @property
    def needs(self) -> tuple[str, ...]:
        """Return `y_sd`."""
        return ("y_sd",)

    @property
    def lam(self) -> str:
        """Return the formula of `lam`."""
        mix = self.mixture.name
        return f"{self.strength} {mix} + {self.strength} (1 - {mix}) / y_sd"

    @property
    def l1_ratio(self) -> str:
        """Return the formula of `l1_ratio`."""
        return f"{self.strength} {self.mixture.name} / lam"

    def to_lam(self, values: Mapping[str, float], sample: Sample) -> Strength:
        """Return the strength on the targets as they are."""
        mix = self.mixture.of(values)
        l1 = values[self.strength] * mix
        l2 = values[self.strength] * (1.0 - mix) / sample.y_sd
        return Strength.of_weights(l1, l2, mix)

    def from_lam(self, strength: Strength, sample: Sample) -> dict[str, float]:
        """Return strength and mixture there."""
        there = Strength.of_weights(strength.l1, strength.l2 * sample.y_sd, strength.l1_ratio)
        return {self.strength: there.lam} | self.mixture.as_values(there.l1_ratio)


@dataclass(frozen=True, slots=True)
class Separate(Rule):
    """L1 and L2 have a number each: ``l1_factor`` and ``l2_factor`` times it are our weights.

    Examples
    --------
    >>> Separate("l1", "l2", l1_factor=0.5).lam
    'l1 / 2 + l2'
    """

    l1: str
    l2: str
    l1_factor: float = 1.0
    l2_factor: float = 1.0

    @property
    def strengths(self) -> tuple[str, ...]:
        """Return both strengths."""
        return (self.l1, self.l2)

    @property
    def mixture(self) -> None:
        """Return None: the mixture follows from the strengths."""
        return

    @property
    def lam(self) -> str:
        """Return the formula of `lam`."""
        return f"{_product(self.l1_factor, self.l1)} + {_product(self.l2_factor, self.l2)}"

    @property
    def l1_ratio(self) -> str:
        """Return the formula of `l1_ratio`."""
        top = _product(self.l1_factor, self.l1)
        return f"({top}) / lam" if " " in top else f"{top} / lam"

    def to_lam(self, values: Mapping[str, float], sample: Sample) -> Strength:  # noqa: ARG002
        """Return both as one strength with its mixture."""
        l1, l2 = self.l1_factor * values[self.l1], self.l2_factor * values[self.l2]
        return Strength.of_weights(l1, l2, 0.0)

    def from_lam(self, strength: Strength, sample: Sample) -> dict[str, float]:  # noqa: ARG002
        """Return the two weights."""
        return {self.l1: strength.l1 / self.l1_factor, self.l2: strength.l2 / self.l2_factor}


def _product(factor: float, name: str, *, over_n: bool = False) -> str:
    """Write ``factor name``, over n if so: "2 alpha", "alpha / 2", "alpha / (2 n)"."""
    top = f"{factor:g} {name}" if factor > 1 else name
    bottom = [f"{1 / factor:g}"] * (factor < 1) + ["n"] * over_n
    if not bottom:
        return top
    return f"{top} / {bottom[0]}" if len(bottom) == 1 else f"{top} / ({' '.join(bottom)})"
