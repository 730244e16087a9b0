"""Newton's systems of groups on more columns than rows, solved from the side of the rows.

With A the columns that are in and u_g = w_g / ||w_g||, the objective has the curvature

    H = A'A + C - U C_G U',    C = diag(c_g),    c_g = lam weight_g / ||w_g||,

U holding each u_g in the rows of its group. By the Woodbury identity, twice, with
``S = I + A C^-1 A'`` of the size of the rows, ``B = A U`` and ``E = B' S^-1 B``:

    H^-1 v = C^-1 (v - A'h) + U a,    E a = U'v - B' S^-1 A C^-1 v,    h = S^-1 (A C^-1 v + B a).

The curvature changes slowly along a path. Its inverse, in single precision, preconditions conjugate
gradients for many Newton systems; groups whose curvature has changed by more than a factor are
brought up to date by a product of the size of their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tikhon.typing import BoolArray, Float64Array, FloatArray, IntArray

__all__ = ["Curvature", "RowInverse", "solve_newton"]

FORCING = 0.03
"""Share of the right-hand side that conjugate gradients may leave: Newton's steps go on anyway."""

MOST_STEPS = 100

DRIFT = 2.0
"""Ratio of curvatures up to which a group counts as unchanged."""

MOST_UPDATES = 20
"""After so many changes the inverse is computed afresh."""

RIDGE = 1e-6
"""Share of a diagonal that keeps a matrix definite in single precision."""

BLOCK = 128
"""Size up to which LAPACK inverts: beyond, products of halves are faster than its factors."""


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The curvature at one point.

    Attributes
    ----------
    A : ndarray of float32, shape (n, m)
    starts : ndarray of shape (groups,)
        First column of each group; groups are contiguous.
    sizes : ndarray of shape (groups,)
    unit : ndarray of shape (m, targets)
        w_g / ||w_g||, and 0 in groups that are 0.
    pull : ndarray of shape (groups,)
        lam weight_g / ||w_g||, and 0 in groups that are 0.
    free : ndarray of bool, shape (m, targets)
        Entries that may move.
    """

    A: FloatArray
    starts: IntArray
    sizes: IntArray
    unit: Float64Array
    pull: Float64Array
    free: BoolArray

    def times(self, V: Float64Array) -> Float64Array:
        """Return ``H V`` for V of shape (m, targets), 0 where entries are not free."""
        V32 = V.astype(np.float32)
        image = (self.A.T @ (self.A @ V32)).astype(np.float64)
        along = np.add.reduceat((self.unit * V).sum(axis=1), self.starts)
        turned = V - self.unit * np.repeat(along, self.sizes)[:, None]
        image += np.repeat(self.pull, self.sizes)[:, None] * turned
        image[~self.free] = 0.0
        return image


class RowInverse:
    """The inverse of the curvature at one point; elsewhere, what to precondition with."""

    pull: Float64Array
    inverse: FloatArray
    S_inverse: FloatArray
    updates: int

    def __init__(self, at: Curvature) -> None:
        self._build(at)
        self._turn(at)

    def follow(self, at: Curvature) -> None:
        """Go on to another point: groups whose curvature is another change the inverse."""
        pull = np.zeros(len(at.pull))
        pull[: len(self.pull)] = self.pull
        changed = (at.pull > DRIFT * pull) | (pull > DRIFT * at.pull)
        columns = np.flatnonzero(np.repeat(changed, at.sizes))
        if 2 * len(columns) > len(at.A) or self.updates >= MOST_UPDATES:
            self._build(at)
        else:
            kept = np.where(changed, at.pull, pull)
            inverse = _per_column(kept, at)
            before = np.zeros_like(inverse)
            before[: len(self.inverse)] = self.inverse
            self._update(at.A[:, columns], (inverse - before)[columns])
            self.pull, self.inverse = kept, inverse
        self._turn(at)

    def _build(self, at: Curvature) -> None:
        self.pull, self.inverse = at.pull, _per_column(at.pull, at)
        self.updates = 0
        used = np.flatnonzero(self.inverse)
        half = at.A[:, used] * np.sqrt(self.inverse[used])
        S = half @ half.T
        S[np.diag_indices(len(S))] += 1.0
        self.S_inverse = _inverse(S)

    def _update(self, A: FloatArray, change: FloatArray) -> None:
        """``(S + A diag(change) A')^-1`` from ``S^-1``."""
        moved = change != 0
        A, change = A[:, moved], change[moved]
        if not len(change):
            return
        Y = self.S_inverse @ A
        middle = A.T @ Y
        middle[np.diag_indices(len(middle))] += 1.0 / change
        self.S_inverse -= (Y @ np.linalg.inv(middle)) @ Y.T
        self.updates += 1

    def _turn(self, at: Curvature) -> None:
        """Take the directions of the groups."""
        groups = np.flatnonzero(self.pull > 0)
        place = np.full(len(at.pull), -1)
        place[groups] = np.arange(len(groups))
        owner = np.repeat(place, at.sizes)
        mine = np.flatnonzero(owner >= 0)
        self.groups, self.m = groups, len(owner)
        self.unit = at.unit.astype(np.float32)
        columns = []
        for t in range(at.unit.shape[1]):
            entries: Any = (self.unit[mine, t], (owner[mine], mine))
            U = sparse.coo_array(entries, (len(groups), self.m)).tocsr()
            columns.append(np.ascontiguousarray((U @ at.A.T).T))
        # Targets one below the other: (targets n, groups).
        self.B = np.concatenate(columns)
        self.SB = np.concatenate([self.S_inverse @ part for part in columns])
        E = self.B.T @ self.SB
        E[np.diag_indices(len(E))] *= 1.0 + RIDGE
        self.E_inverse = _inverse(E)

    def times(self, at: Curvature, V: Float64Array, own: Float64Array) -> Float64Array:
        """Return the preconditioned V (m, targets); `own` bounds the curvature of each group."""
        X = np.empty_like(V)
        groups, m = len(self.pull), self.m
        A, starts, sizes = at.A[:, :m], at.starts[:groups], at.sizes[:groups]
        V32 = V[:m].astype(np.float32)
        Sq = self.S_inverse @ (A @ (self.inverse[:, None] * V32))
        z = np.add.reduceat((self.unit * V32).sum(axis=1), starts)[self.groups]
        a = self.E_inverse @ (z - self.B.T @ Sq.T.ravel())
        h = Sq + (self.SB @ a).reshape(Sq.T.shape).T
        spread = np.zeros(groups, dtype=np.float32)
        spread[self.groups] = a
        X[:m] = self.inverse[:, None] * (V32 - A.T @ h)
        X[:m] += self.unit * np.repeat(spread, sizes)[:, None]
        late = np.ones(len(at.sizes), dtype=np.bool_)
        late[self.groups] = False
        columns = np.repeat(late, at.sizes)
        X[columns] = _alone(at, V, own)[columns]
        X[~at.free] = 0.0
        return X


def _per_column(pull: Float64Array, at: Curvature) -> FloatArray:
    """Return 1 / pull for each column that may move, 0 for the others."""
    inverse = np.divide(1.0, pull, out=np.zeros_like(pull), where=pull > 0)
    return (np.repeat(inverse, at.sizes) * at.free.any(axis=1)).astype(np.float32)


def _alone(at: Curvature, V: Float64Array, own: Float64Array) -> Float64Array:
    """Invert each group's curvature with a multiple of the identity for its moments."""
    across = np.repeat(own + at.pull, at.sizes)[:, None]
    along = np.add.reduceat((at.unit * V).sum(axis=1), at.starts) * at.pull / own
    return (V + at.unit * np.repeat(along, at.sizes)[:, None]) / across


def solve_newton(
    at: Curvature, inverse: RowInverse, right: Float64Array, own: Float64Array
) -> tuple[Float64Array, int]:
    """Solve ``H X = right`` to the forcing share; return X and the steps it took."""
    X = np.zeros_like(right)
    left = right.copy()
    Z = inverse.times(at, left, own)
    P = Z.copy()
    energy = float(np.sum(left * Z))
    enough = FORCING**2 * energy
    steps = 0
    while energy > enough and steps < MOST_STEPS:
        image = at.times(P)
        curve = float(np.sum(P * image))
        if curve <= 0.0:
            break
        X += energy / curve * P
        left -= energy / curve * image
        Z = inverse.times(at, left, own)
        following = float(np.sum(left * Z))
        P = Z + following / energy * P
        energy = following
        steps += 1
    return X, steps


def _inverse(S: FloatArray) -> FloatArray:
    """Invert a positive definite matrix by halves."""
    size = len(S)
    if size <= BLOCK:
        return np.linalg.inv(S)
    half = size // 2
    first = _inverse(S[:half, :half])
    across = first @ S[:half, half:]
    last = _inverse(S[half:, half:] - S[half:, :half] @ across)
    corner = across @ last
    found = np.empty_like(S)
    found[:half, :half] = first + corner @ across.T
    found[:half, half:] = -corner
    found[half:, :half] = -corner.T
    found[half:, half:] = last
    return found
