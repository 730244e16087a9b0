"""A strength in the library's own convention, and what a conversion must know of the data."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tikhon.penalties import L1, L2, ElasticNet, Penalty

__all__ = ["Sample", "Strength"]


@dataclass(frozen=True, slots=True)
class Strength:
    """The strength `lam` and the mixture `l1_ratio` of the library's objective.

    ``lam (l1_ratio ||w||_1 + (1 - l1_ratio) ||w||^2 / 2)``, added to the mean loss.

    Parameters
    ----------
    lam : float
        Finite and >= 0.
    l1_ratio : float
        Between 0 (L2) and 1 (L1).

    Examples
    --------
    >>> Strength(0.5, l1_ratio=0.2).penalty
    ElasticNet(l1_ratio=0.2)
    """

    lam: float
    l1_ratio: float

    def __post_init__(self) -> None:
        if not 0 <= self.lam < math.inf:
            raise ValueError(
                f"`lam` must be finite and >= 0, got {self.lam}. Use 0 for no regularization."
            )
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"`l1_ratio` must be between 0 and 1, got {self.l1_ratio}.")
        object.__setattr__(self, "lam", float(self.lam))
        object.__setattr__(self, "l1_ratio", float(self.l1_ratio))

    @classmethod
    def of_weights(cls, l1: float, l2: float, l1_ratio: float) -> Strength:
        """Return the strength of ``l1 ||w||_1 + l2 ||w||^2 / 2``.

        `l1_ratio` is the mixture where both weights are 0 and leave it open.
        """
        lam = l1 + l2
        return cls(lam, l1 / lam if lam > 0 else l1_ratio)

    @property
    def l1(self) -> float:
        """Return ``lam l1_ratio``, the weight of ``||w||_1``."""
        return self.lam * self.l1_ratio

    @property
    def l2(self) -> float:
        """Return ``lam (1 - l1_ratio)``, the weight of ``||w||^2 / 2``."""
        return self.lam * (1.0 - self.l1_ratio)

    @property
    def penalty(self) -> Penalty:
        """Return the penalty to use with `lam`: L2, L1 or their mixture."""
        if self.l1_ratio == 0:
            return L2()
        return L1() if self.l1_ratio == 1 else ElasticNet(self.l1_ratio)


@dataclass(frozen=True, slots=True)
class Sample:
    """What a conversion may need to know of the data; nan where the rule does not ask.

    Attributes
    ----------
    n : float
        The sum of the sample weights; the number of rows if there are none.
    y_sd : float
        The standard deviation of the targets.
    """

    n: float = math.nan
    y_sd: float = math.nan
