"""What solvers on second moments are asked, and what they answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from tikhon import _kernels
from tikhon.typing import Float64Array, IntArray

__all__ = ["SLACK", "GramSolution", "GramSolver"]

SLACK = 0.05
"""Share of the tolerance left to the slopes: the gap of a solution is of their order."""


@dataclass(frozen=True, slots=True, eq=False)
class GramSolution:
    """Coefficients (L, m, targets) of the scaled columns, and how many strengths were solved."""

    coefs: Float64Array
    solved: int


class GramSolver(Protocol):
    """A method for one kind of penalty."""

    @property
    def unit(self) -> bool:
        """Whether columns should come with unit spread, whatever scale is penalised."""
        ...

    def solve(
        self,
        K: Float64Array,
        C: Float64Array,
        columns: IntArray,
        inner: Float64Array,
        lams: Float64Array,
        start: Float64Array,
        stop: _kernels.Stop,
    ) -> GramSolution:
        """Solve at each strength in turn.

        Parameters
        ----------
        K, C : ndarray of shape (m, m) and (m, targets)
            Moments of the columns divided by the solver's scale.
        columns : ndarray of shape (m,)
            Which columns these are.
        inner : ndarray of shape (m,)
            The scale that is penalised over the scale of K: penalised coefficients are these
            times the solver's.
        start : ndarray of shape (m, targets)
        """
        ...
