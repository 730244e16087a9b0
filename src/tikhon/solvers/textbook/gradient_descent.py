"""Gradient descent: lectures 000 (logistic regression) and 004 (with a step schedule).

    w <- w - rho(tau) ( sum_i p_i loss'(y_i, z_i) x_i + lam w ),      z = X w + b,  p = s / sum s
    b <- b - rho(tau)   sum_i p_i loss'(y_i, z_i)

from ``w = 0``. The strength's part stands outside the mean: lecture 000 prints it inside, divided
by n once too often. The intercept is the coefficient of a column of ones without a penalty.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.results import Solution
from tikhon.solvers.task import Task
from tikhon.solvers.textbook.options import Step, at_least, schedule_of
from tikhon.solvers.textbook.schedules import Schedule, rates
from tikhon.solvers.textbook.smoothness import top_curvature
from tikhon.typing import Float64Array

__all__ = ["GradientDescent"]


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """Coefficients, intercept, their predictions, the number of steps, the last step's length."""

    w: Float64Array
    b: Float64Array
    z: Float64Array
    tau: int
    rho: float
    passes: float


@dataclass(frozen=True, slots=True)
class GradientDescent:
    """Gradient descent on a smooth loss with an L2 penalty, from ``w = 0``.

    ``w <- w - rho(tau) (gradient of the mean loss + lam w)``.

    With the step 1 / L, L the smoothness constant of the objective, every step descends, and the
    suboptimality falls at least by the factor ``1 - mu / L`` each time, mu >= lam.

    Parameters
    ----------
    step : "auto", "backtracking", float, schedule or callable, default "auto"
        "auto" is 1 / L, or backtracking where the loss has no L (Poisson, Gamma, a user's own).
        "backtracking" halves the step until the objective falls by half of what the slope
        promises, and lets it grow in between. A number is a constant step; a schedule is one of
        `tk.solvers.schedules` or a function of the step's number 1, 2, 3, ...
    max_iter : int, default 10000
    measure_every : int, default 10
        Objective and gap are computed and recorded this often: that costs as much as two steps.
    seed : int, optional
        Start from random coefficients, as lecture 004 does, in place of 0.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.sign(y - 140.5)
    >>> problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.1)
    >>> found = tk.solve(problem, X, y, solver=tk.solvers.GradientDescent())
    >>> found.status == "converged", bool(np.all(np.diff(found.history.objective) <= 0))
    (True, True)
    """

    step: Step = "auto"
    max_iter: int = 10_000
    measure_every: int = 10
    seed: int | None = None

    def __post_init__(self) -> None:
        at_least("max_iter", self.max_iter, 0)
        at_least("measure_every", self.measure_every, 1)
        schedule_of(self.step)

    @property
    def title(self) -> str:
        """Return "gradient descent"."""
        return "gradient descent"

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task.

        Raises
        ------
        UnsupportedError
            For a loss with kinks, or a penalty without a gradient.
        """
        task.smooth(
            "gradient descent",
            "tk.solvers.StochasticGradientDescent() or tk.solvers.Pegasos(), which take "
            "subgradients, or a smooth relative: SquaredHinge, Huber",
        )
        slope = _Slope(task, task.problem.lam * task.quadratic("gradient descent"))
        first, step = self._steps(task, slope)
        loop = task.iterate(
            first,
            step,
            lambda at: task.measure(task.design, at.w, at.b),
            lambda at: at.passes,
            max_iter=self.max_iter,
            measure_every=self.measure_every,
        )
        end = loop.state
        return task.solution(loop, end.w, end.b, self.title, end.passes)

    def _steps(self, task: Task, slope: _Slope) -> tuple[_At, Callable[[_At], _At]]:
        w, b = task.zero()
        if self.seed is not None:
            w = np.random.default_rng(self.seed).standard_normal(w.shape)
        z = task.design.predict(w) + b
        schedule = schedule_of(self.step)
        if schedule is not None:
            return _At(w, b, z, 0, 0.0, 1.0), lambda at: slope.scheduled(at, schedule)
        smoothness = task.problem.loss.smoothness
        if self.step == "backtracking" or smoothness is None:
            return _At(w, b, z, 0, 1.0, 1.0), slope.backtracked
        top = top_curvature(task.design, task.shares, intercept=task.problem.intercept)
        L = smoothness * top.value + float(slope.strength.max(initial=0.0))
        rho = 1.0 / L if L > 0 else 1.0
        return _At(w, b, z, 0, rho, 1.0 + top.passes), lambda at: slope.moved(at, rho)


@dataclass(frozen=True, slots=True, eq=False)
class _Slope:
    """Where the objective of a task falls; `strength` is lam times the multiplier of each w."""

    task: Task
    strength: Float64Array

    def at(self, at: _At) -> tuple[Float64Array, Any]:
        """Gradient of the objective in w and in b: one sweep."""
        u = self.task.problem.slopes(self.task.y, at.z, self.task.s)
        g = self.task.design.correlate(u) + (self.strength * at.w.T).T
        return g, (u.sum(axis=0) if self.task.problem.intercept else np.zeros_like(at.b))

    def taken(self, at: _At, g: Float64Array, g_b: Any, rho: float, passes: float) -> _At:
        """The point a step away: one sweep."""
        w, b = at.w - rho * g, at.b - rho * g_b
        z = self.task.design.predict(w) + b
        return _At(w, b, z, at.tau + 1, rho, at.passes + passes)

    def moved(self, at: _At, rho: float) -> _At:
        """A step of length `rho`."""
        return self.taken(at, *self.at(at), rho, 2.0)

    def scheduled(self, at: _At, schedule: Schedule) -> _At:
        """The next step of a schedule."""
        return self.moved(at, float(rates(schedule, at.tau + 1, 1)[0]))

    def backtracked(self, at: _At) -> _At:
        """A step short enough that the objective falls by half of what the slope promises."""
        g, g_b = self.at(at)
        square = float(np.sum(g * g) + np.sum(g_b * g_b))
        before, rho = self.value(at), 2.0 * at.rho
        for trial in range(1, 200):
            there = self.taken(at, g, g_b, rho, 1.0 + trial)
            wanted = before - 0.5 * rho * square
            if self.value(there) <= wanted + 1e-15 * abs(before):
                return there
            rho *= 0.5
        return there

    def value(self, at: _At) -> float:
        """The objective, from predictions already made."""
        half = 0.5 * float(np.sum((self.strength * (at.w * at.w).T).T))
        with np.errstate(over="ignore"):
            return self.task.problem.mean_loss(self.task.y, at.z, self.task.s) + half
