"""Newton's method: what gradient descent is compared with.

    (X~' diag(p c) X~ + lam L2) step = gradient,      c_i = loss''(y_i, z_i)
    (w, b) <- (w, b) - t step                         t = 1, halved until the objective falls enough

Near the optimum the number of correct digits doubles with each step; the price is a matrix of d
squared entries, made from all rows, and its factorization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from tikhon.data.moments import Cells
from tikhon.errors import UnsupportedError
from tikhon.results import Solution
from tikhon.solvers.task import Task
from tikhon.solvers.textbook.options import at_least
from tikhon.typing import Float64Array

__all__ = ["Newton"]

FEWEST_HALVINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """Coefficients, intercept, their predictions and objective, and sweeps so far."""

    w: Float64Array
    b: float
    z: Float64Array
    value: float
    passes: float


@dataclass(frozen=True, slots=True)
class Newton:
    """Newton's method with a line search on a smooth loss with an L2 penalty, from ``w = 0``.

    ``w <- w - t H^-1 g``, H the second derivative of the objective and g its gradient.

    A step sweeps over the rows three times, once of which computes as much as d products of the
    data with a vector. For one target; `tk.solve` has faster ways for whole grids of strengths.

    Parameters
    ----------
    max_iter : int, default 100
    measure_every : int, default 1
        Objective and gap are computed and recorded this often: that costs as much as two sweeps.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> y = np.sign(y - 140.5)
    >>> problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 1e-4)
    >>> found = tk.solve(problem, X, y, solver=tk.solvers.Newton(), tol=1e-12)
    >>> found.status == "converged", len(found.history.gap) < 12
    (True, True)
    """

    max_iter: int = 100
    measure_every: int = 1

    def __post_init__(self) -> None:
        at_least("max_iter", self.max_iter, 0)
        at_least("measure_every", self.measure_every, 1)

    @property
    def title(self) -> str:
        """Return "Newton's method"."""
        return "Newton's method"

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task.

        Raises
        ------
        UnsupportedError
            For a loss with kinks, a penalty without a gradient, or more than one target or class.
        """
        task.smooth("Newton's method", "a smooth relative: SquaredHinge, Huber")
        strength = task.problem.lam * task.quadratic("Newton's method")
        w, b = task.zero()
        if w.ndim == 2:
            raise UnsupportedError(
                f"Newton's method here takes one target, got coefficients of shape {w.shape}; use "
                "solver='auto', or tk.solvers.GradientDescent()."
            )
        z = np.zeros(len(task.y))
        first = _At(w, float(b), z, _value(task, strength, w, z), 0.0)
        loop = task.iterate(
            first,
            lambda at: _step(task, strength, at),
            lambda at: task.measure(task.design, at.w, np.asarray(at.b)),
            lambda at: at.passes,
            max_iter=self.max_iter,
            measure_every=self.measure_every,
        )
        end = loop.state
        return task.solution(loop, end.w, np.asarray(end.b), self.title, end.passes)


def _value(task: Task, strength: Float64Array, w: Float64Array, z: Float64Array) -> float:
    return task.problem.mean_loss(task.y, z, task.s) + 0.5 * float(strength @ (w * w))


def _step(task: Task, strength: Float64Array, at: _At) -> _At:
    """One step, in the coordinates of shifted columns, where large means do no harm."""
    problem, design = task.problem, task.design
    d = len(at.w)
    shift = design.centre() if problem.intercept else np.zeros(d)
    u = problem.slopes(task.y, at.z, task.s)
    g = np.append(design.correlate(u, shift if problem.intercept else None), u.sum())
    g[:d] += strength * at.w
    direction = _solved(_hessian(task, strength, at, shift), g)
    if not problem.intercept:
        direction[d] = 0.0
    dw, db = direction[:d], direction[d] - shift @ direction[:d]
    dz = design.predict(dw) + db
    promised = float(g @ direction)
    t = 1.0
    for _ in range(FEWEST_HALVINGS):
        w, z = at.w - t * dw, at.z - t * dz
        value = _value(task, strength, w, z)
        if value <= at.value - 1e-4 * t * promised + 1e-15 * abs(at.value):
            break
        t *= 0.5
    return _At(w, float(at.b - t * db), z, value, at.passes + 3.0)


def _hessian(task: Task, strength: Float64Array, at: _At, shift: Float64Array) -> Float64Array:
    """Second derivative in the coefficients of shifted columns and, last, the intercept."""
    c = task.shares * np.asarray(task.problem.loss.curvature(task.y, at.z), dtype=np.float64)
    cells = Cells.single(len(c))
    (moments,) = task.design.gram(np.zeros((len(c), 1)), c, cells, shift)
    d = len(shift)
    H = np.empty((d + 1, d + 1))
    xx = np.triu(moments.xx)
    H[:d, :d] = xx + np.triu(xx, 1).T + np.diag(strength)
    H[:d, d] = H[d, :d] = moments.x if task.problem.intercept else 0.0
    H[d, d] = moments.weight if task.problem.intercept else 1.0
    return H


def _solved(H: Float64Array, g: Float64Array) -> Any:
    """``H^-1 g``; of least norm where H is singular."""
    try:
        factor = linalg.cho_factor(H, check_finite=False)
        return linalg.cho_solve(factor, g, check_finite=False)
    except linalg.LinAlgError:
        return np.linalg.lstsq(H, g, rcond=None)[0]
