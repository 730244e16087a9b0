"""Penalised least squares from second moments: the small problem inside every larger one.

    min_w  w'Kw / 2 - c'w + lam R(w)

with K = X~'PX~ and c = X~'Py of some columns. A table with few columns gives all of them; a wide
one gives those of a working set. Which compiled method applies is the penalty's to say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon import _kernels
from tikhon.errors import UnsupportedError
from tikhon.penalties.base import Penalty
from tikhon.penalties.coordinates import Coordinates
from tikhon.solvers.gram_solution import SLACK, GramSolution, GramSolver
from tikhon.solvers.group_solver import GroupSolver
from tikhon.typing import Float64Array, IntArray

__all__ = ["gram_solver", "within_bounds"]

ROUNDING = 4e-15
"""Slopes of unit columns, over the spread of the targets, that rounding cannot tell from 0."""


RESTING = 1e-15
"""Distance from a bound, relative to it, that is a rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class CoordinateSolver:
    """Sizes, squares and bounds: the active-set Newton method, target by target."""

    coordinates: Coordinates
    tol: float
    unit: bool = True

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
        """Solve at each strength in turn."""
        part = self.coordinates.take(columns)
        penalty = (part.l1 * inner, part.l2 * inner**2, part.lower / inner, part.upper / inner)
        coefs = np.empty((len(lams), *C.shape))
        solved = len(lams)
        for t in range(C.shape[1]):
            found = _kernels.gram_path(
                K,
                np.ascontiguousarray(C[:, t]),
                penalty,
                lams,
                relative=SLACK * self.tol,
                absolute=ROUNDING * float(np.abs(C[:, t]).max(initial=0.0)),
                start=np.ascontiguousarray(start[:, t]),
                stop=stop,
            )
            coefs[:, :, t] = found.coefs
            solved = min(solved, found.solved)
        return GramSolution(coefs, solved)


def gram_solver(penalty: Penalty, d: int, tol: float) -> GramSolver:
    """Choose the method for a penalty of coefficients on the penalised scale."""
    coordinates = penalty.coordinates(d)
    if coordinates is not None:
        return CoordinateSolver(coordinates, tol)
    groups = penalty.group_form(d)
    if groups is not None:
        return GroupSolver(groups, tol)
    raise UnsupportedError(f"no moment-based solver for {type(penalty).__name__}.")


def within_bounds(penalty: Penalty, d: int, columns: IntArray, V: Float64Array) -> Float64Array:
    """Return coefficients (..., m, targets) on the user's scale, exactly within their bounds.

    Scaling back and forth may carry a coefficient that rests on its bound off it by a rounding.
    One that is past it has no finite objective, and one that is short of it is not held by it.
    """
    form = penalty.coordinates(d)
    if form is None or not (np.isfinite(form.lower).any() or np.isfinite(form.upper).any()):
        return V
    part = form.take(columns)
    for end in (part.lower[:, None], part.upper[:, None]):
        inside = np.isfinite(end)
        near = inside & (np.abs(V - np.where(inside, end, 0.0)) <= RESTING * np.abs(end))
        V = np.where(near, end, V)
    return np.asarray(np.clip(V, part.lower[:, None], part.upper[:, None]))
