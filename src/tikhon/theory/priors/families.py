"""Priors in natural units, and the strengths they stand for.

    w_j ~ N(0, sd^2)           ridge at    lam n = sigma^2 / sd^2
    w_j ~ Laplace(0, scale)    the lasso at  lam n = sigma^2 / scale     (its mode)

sigma is the standard deviation of the noise, n the number of rows (the sum of their weights). The
units are those of the coefficients: target per column.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tikhon.errors import UnsupportedError
from tikhon.theory.bounds.bound import positive

__all__ = ["Laplace", "Normal"]


@dataclass(frozen=True, slots=True)
class Normal:
    """Independent normal priors of the coefficients: ridge.

    ``lam n = noise^2 / sd^2``

    Parameters
    ----------
    mean : float, default 0
        Must be 0: ridge shrinks towards it. For another, subtract ``mean * X.sum(axis=1)`` from y.
    sd : float, default 1
        Standard deviation, in units of the target per unit of a column.

    Examples
    --------
    >>> prior = Normal(0, sd=2.0)
    >>> prior.lam(noise=4.0, n=100)  # 16 / (4 * 100)
    0.04
    >>> Normal.of_strength(0.04, noise=4.0, n=100)
    Normal(mean=0.0, sd=2.0)
    """

    mean: float = 0.0
    sd: float = 1.0

    def __post_init__(self) -> None:
        if self.mean != 0:
            raise UnsupportedError(
                f"`mean` must be 0, got {self.mean}: ridge shrinks towards 0. For another mean, "
                "subtract `mean * X.sum(axis=1)` from the target."
            )
        positive(sd=self.sd)
        object.__setattr__(self, "mean", float(self.mean))
        object.__setattr__(self, "sd", float(self.sd))

    @classmethod
    def of_strength(cls, lam: float, noise: float, n: float) -> Normal:
        """Return the prior that ridge at `lam` stands for."""
        positive(lam=lam, noise=noise, n=n)
        return cls(0.0, noise / math.sqrt(lam * n))

    def lam(self, noise: float, n: float) -> float:
        """Return the strength, given the noise and the number of rows."""
        positive(noise=noise, n=n)
        return (noise / self.sd) ** 2 / n


@dataclass(frozen=True, slots=True)
class Laplace:
    """Independent Laplace priors of the coefficients: the lasso is their mode.

    ``lam n = noise^2 / scale``; the density is ``exp(-|w| / scale) / (2 scale)``.

    Parameters
    ----------
    mean : float, default 0
        Must be 0.
    scale : float, default 1
        b; the standard deviation is ``b sqrt(2)``.

    Examples
    --------
    >>> Laplace(0, scale=2.0).lam(noise=4.0, n=100)  # 16 / (2 * 100)
    0.08
    """

    mean: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        if self.mean != 0:
            raise UnsupportedError(f"`mean` must be 0, got {self.mean}: the lasso shrinks to 0.")
        positive(scale=self.scale)
        object.__setattr__(self, "mean", float(self.mean))
        object.__setattr__(self, "scale", float(self.scale))

    @classmethod
    def of_strength(cls, lam: float, noise: float, n: float) -> Laplace:
        """Return the prior whose mode is the lasso at `lam`."""
        positive(lam=lam, noise=noise, n=n)
        return cls(0.0, noise**2 / (lam * n))

    def lam(self, noise: float, n: float) -> float:
        """Return the strength, given the noise and the number of rows."""
        positive(noise=noise, n=n)
        return noise**2 / self.scale / n
