r"""The machine without slack: the widest margin between two classes, or a proof that there is none.

    max over ||w|| = 1, b   min_i y_i (x_i . w + b)            (formulation 1)
    min over w, b           ||w||^2 / 2,   y_i (x_i . w + b) >= 1      (formulation 2)

The second one's w, divided by its norm, is the first one's, and the margin is ``1 / ||w||``.
Classes can be separated if and only if their convex hulls do not meet. The linear programme

    min ||sum_+ u_i x_i - sum_- v_j x_j||_1,     u, v >= 0,  sum u = sum v = 1

decides: at 0 its weights are a point of both hulls, a witness that anybody can check; otherwise its
dual variables separate. A separating w, scaled to be feasible, bounds ``||w_opt||^2 = sum alpha``
and with it every alpha_i: the soft machine with that C has no coefficient at its bound, so it *is*
the hard one, and its solver is used.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from tikhon._kernels import Stop
from tikhon.problem.support import SupportProblem
from tikhon.solvers.support_linear import LinearTable
from tikhon.solvers.support_newton import newton_machine
from tikhon.typing import Float64Array, IntArray

__all__ = ["HardMargin", "Witness", "hard_margin", "separate"]

ROUNDS = 4


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """Why two classes cannot be separated: convex weights of either class with one mean.

    Attributes
    ----------
    weights : ndarray of shape (n,)
        >= 0, summing to 1 over the rows of each class (over all rows, without an offset: then the
        rows times their class have mean 0).
    point : ndarray of shape (d,)
        The common point, on the scale of X; 0 without an offset.
    distance : float
        How far apart the two means are, in standard deviations of the columns: rounding.
    """

    weights: Float64Array
    point: Float64Array
    distance: float

    @property
    def rows(self) -> IntArray:
        """The rows with a weight."""
        return np.flatnonzero(self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class HardMargin:
    """The machine without slack.

    Attributes
    ----------
    w : ndarray of shape (d,)
        ``y_i (x_i . w + b) >= 1``, on the scale of X.
    b : float
    alpha : ndarray of shape (n,)
    margins : ndarray of shape (n,)
        ``y_i (x_i . w + b)``.
    gap : float
        ``(||w||^2 / 2 - dual) / (||w||^2 / 2)``.
    """

    w: Float64Array
    b: float
    alpha: Float64Array
    margins: Float64Array
    gap: float

    @property
    def margin(self) -> float:
        """Formulation 1's optimum: the distance of the nearest row from the hyperplane."""
        return float(1.0 / np.linalg.norm(self.w))


def separate(table: LinearTable, y: Float64Array, *, offset: bool) -> Witness | Float64Array:
    """Return a separating direction on the scale of X, or the witness that there is none."""
    n, d = table.shape
    scale = _spread(table)
    signed: Any = sparse.csc_array((table.rows(np.arange(n)) / scale * y[:, None]).T)
    sums = (
        sparse.csc_array(np.array([y > 0, y < 0], dtype=np.float64))
        if offset
        else sparse.csc_array(np.ones((1, n)))
    )
    slack = sparse.hstack([sparse.eye_array(d), -sparse.eye_array(d)])
    A = sparse.vstack(
        [
            sparse.hstack([signed, slack]),
            sparse.hstack([sums, sparse.csc_array((sums.shape[0], 2 * d))]),
        ],
        format="csc",
    )
    right = np.concatenate([np.zeros(d), np.ones(sums.shape[0])])
    cost = np.concatenate([np.zeros(n), np.ones(2 * d)])
    found = linprog(cost, A_eq=A, b_eq=right, bounds=(0, None), method="highs")
    if found.x is None:
        raise ArithmeticError(f"the linear programme of the hulls failed: {found.message}")
    direction = -np.asarray(found.eqlin.marginals[:d])
    for w in (direction, -direction):
        if _separates(np.asarray(signed.T @ w), y, offset=offset):
            return np.asarray(w / scale, dtype=np.float64)
    weights = np.maximum(found.x[:n], 0.0)
    weights[weights < 1e-15] = 0.0
    for side in (y > 0, y < 0) if offset else (np.ones(n, dtype=np.bool_),):
        weights[side] /= weights[side].sum()
    distance = float(np.linalg.norm(signed @ weights))
    positive = np.where(y > 0, weights, 0.0)
    X = table.design
    point = np.asarray(X.correlate(positive)) if offset else np.zeros(d)
    return Witness(weights, point, distance)


def _spread(table: LinearTable) -> Float64Array:
    """Standard deviations of the columns, 1 for constant ones."""
    return table.design.stats().scale


def _separates(products: Float64Array, y: Float64Array, *, offset: bool) -> bool:
    """Whether ``y_i x_i . w`` leaves a gap between the classes."""
    if not offset:
        return bool(products.min() > 0)
    return bool(products[y > 0].min() > -products[y < 0].min())


def hard_margin(
    table: LinearTable,
    y: Float64Array,
    direction: Float64Array,
    *,
    offset: bool,
    tol: float,
    stop: Stop | None = None,
) -> HardMargin:
    """Return the widest margin, given any direction that separates.

    Parameters
    ----------
    table : LinearTable
        Not scaled.
    y : ndarray of shape (n,)
        -1 and +1.
    direction : ndarray of shape (d,)
    offset : bool
    tol : float
        Relative gap to reach.
    """
    n = len(y)
    problem = SupportProblem.classes(
        y, np.full(n, 1.0 / n), offset="constraint" if offset else "none"
    )
    w, _ = _feasible(table, y, direction, offset=offset)
    bound = 2.0 * float(w @ w)
    size = bound
    best: HardMargin | None = None
    beta: Float64Array | None = None
    start = 0.0
    for _ in range(ROUNDS):
        goal = 0.05 * tol * size / (bound * n)  # of the mean loss, whose C is bound * n
        end = newton_machine(
            table, problem, bound * n, gap=goal, beta=beta, offset=start, stop=stop
        )
        beta, start = end.beta, end.offset
        found = _judged(table, y, end.w, y * beta, offset=offset)
        if found is None:
            size *= 1e-3
            continue
        if best is None or found.gap < best.gap:
            best = found
        if best.gap <= tol or end.stopped:
            break
        size = min(0.1 * size, float(best.w @ best.w))
    return best if best is not None else _judged_or_direction(table, y, direction, offset=offset)


def _feasible(
    table: LinearTable, y: Float64Array, w: Float64Array, *, offset: bool
) -> tuple[Float64Array, float]:
    """Scale w, and place b, so that the nearest rows of both classes are at 1."""
    f = table.predict(w)
    low, high = float(f[y > 0].min()), float(f[y < 0].max())
    if not offset:
        least = min(low, -high)
        return w / least, 0.0
    half = (low - high) / 2
    return w / half, -(low + high) / 2 / half


def _judged(
    table: LinearTable, y: Float64Array, w: Float64Array, alpha: Float64Array, *, offset: bool
) -> HardMargin | None:
    """The machine with its gap; None if w does not separate."""
    if not _separates(y * table.predict(w), y, offset=offset):
        return None
    alpha = np.maximum(alpha, 0.0)
    w, b = _feasible(table, y, w, offset=offset)
    of_alpha = table.correlate(y * alpha)
    primal, square = 0.5 * float(w @ w), float(of_alpha @ of_alpha)
    # of all multiples of alpha the best one: (sum alpha)^2 / (2 ||sum alpha y x||^2)
    dual = float(alpha.sum()) ** 2 / (2.0 * square) if square > 0 else 0.0
    if square > 0:
        alpha = alpha * (float(alpha.sum()) / square)
    margins = y * (table.predict(w) + b)
    coef = w / table.scale
    intercept = b - float(table.mean @ coef)
    gap = float(max(0.0, 1.0 - dual / primal))
    return HardMargin(coef, intercept, alpha, margins, gap)


def _judged_or_direction(
    table: LinearTable, y: Float64Array, direction: Float64Array, *, offset: bool
) -> HardMargin:
    found = _judged(table, y, direction, np.zeros(len(y)), offset=offset)
    assert found is not None
    return found
