"""A distribution whose truth is known: rows, a regression function, and the size of the noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.datasets import Simulation
from tikhon.typing import Float64Array

__all__ = ["Simulator", "as_simulator"]


@dataclass(frozen=True, slots=True, eq=False)
class Simulator:
    """Draws rows and targets, ``y = truth(x) + noise``.

    Parameters
    ----------
    rows : callable
        ``rows(rng, n)`` returns n rows, (n, d).
    truth : callable
        ``truth(X)`` returns the regression function at each row, (n,).
    noise : float
        Standard deviation of the noise, normal.

    Examples
    --------
    >>> import numpy as np
    >>> wave = Simulator(lambda rng, n: rng.random((n, 1)), lambda X: np.sin(6 * X[:, 0]), 0.3)
    >>> X, y = wave.draw(np.random.default_rng(0), 5)
    >>> X.shape, y.shape
    ((5, 1), (5,))
    """

    rows: Callable[[np.random.Generator, int], Any]
    truth: Callable[[Any], Float64Array]
    noise: float

    def __post_init__(self) -> None:
        if not (self.noise >= 0 and np.isfinite(self.noise)):
            raise ValueError(f"`noise` must be >= 0 and finite, got {self.noise}.")

    def draw(self, rng: np.random.Generator, n: int) -> tuple[Any, Float64Array]:
        """Return n rows and their targets."""
        X = self.rows(rng, n)
        truth = np.asarray(self.truth(X), dtype=np.float64)
        return X, truth + self.noise * rng.standard_normal(len(truth))


def as_simulator(what: Simulator | Simulation) -> Simulator:
    """Return a simulator; of simulated data, one that draws from their rows."""
    if isinstance(what, Simulator):
        return what
    if not isinstance(what, Simulation):
        raise TypeError(
            f"`simulator` must be tk.theory.Simulator or a simulation of tk.datasets, got {what!r}."
        )
    data = what

    def rows(rng: np.random.Generator, n: int) -> Float64Array:
        return data.X[rng.integers(len(data.X), size=n)]

    return Simulator(rows, lambda X: X @ data.coef + data.intercept, data.noise)
