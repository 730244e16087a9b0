"""Linear support vector machines that learn from rows as they come: a Pegasos for each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tikhon.errors import Problems
from tikhon.losses import Hinge
from tikhon.penalties import L2
from tikhon.problem.problem import Problem
from tikhon.solvers.textbook.pegasos import Pegasos
from tikhon.solvers.textbook.stochastic_state import StochasticState
from tikhon.typing import Float64Array

__all__ = ["Stream", "streams"]


def streams(lam: Any, loss: str, offset: str, *, standardize: bool) -> bool:
    """Whether a machine of these options can learn from rows as they come."""
    number = isinstance(lam, int | float | np.number) and not isinstance(lam, bool)
    return number and lam > 0 and loss == "hinge" and offset != "augmented" and not standardize


@dataclass(frozen=True, slots=True, eq=False)
class Stream:
    """The states of one machine for two classes, or of one for each class against the rest."""

    classes: npt.NDArray[Any]
    states: tuple[StochasticState, ...]

    @classmethod
    def begin(cls, lam: float, d: int, classes: npt.NDArray[Any], *, free: bool) -> Stream:
        """Start at zero."""
        problem = Problem(Hinge(), L2(), lam, intercept=free)
        count = 1 if len(classes) == 2 else len(classes)
        return cls(classes, tuple(Pegasos(seed=k).begin(problem, d) for k in range(count)))

    def learn(self, X: Any, y: Any, s: Any) -> None:
        """Make one pass over some rows."""
        labels = np.asarray(y).ravel()
        known = np.isin(labels, self.classes)
        problems = Problems()
        if not known.all():
            row = int(np.flatnonzero(~known)[0])
            problems.add(
                "unseen_label",
                "`y` has a label that `classes` did not name",
                "Name all labels in the first call.",
                row=row,
                value=str(labels[row]),
                count=int((~known).sum()),
            )
        problems.raise_if_any()
        positive = self.classes[1:2] if len(self.classes) == 2 else self.classes
        for label, state in zip(positive, self.states, strict=True):
            state.learn(X, np.where(labels == label, 1.0, -1.0), s)

    @property
    def coef(self) -> Float64Array:
        """Averaged coefficients, (machines, d)."""
        return np.array([state.coef for state in self.states])

    @property
    def intercept(self) -> Float64Array:
        """Averaged offsets, (machines,)."""
        return np.array([float(state.intercept) for state in self.states])

    @property
    def steps(self) -> int:
        """Rows so far."""
        return self.states[0].steps
