"""Proximal gradient, plain (ISTA) and with momentum (FISTA): any smooth loss, any penalty.

    v = w + m (w - w_before)               m = 0, or Nesterov's (theta - 1) / theta_next
    w = prox(v - t grad(v), t lam)         t = 1 / L, or short enough, found by backtracking

Plain steps descend, at rate 1/k; momentum gives 1/k^2. With restarts, momentum is dropped whenever
it points uphill: that is the reference which faster solvers are checked against, and what is used
for a combination that has no faster one. The intercept is a coordinate without penalty; columns
are centred for the iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.problem import Problem
from tikhon.results import Solution
from tikhon.solvers.task import Point, Task
from tikhon.solvers.textbook.options import at_least, one_of
from tikhon.solvers.textbook.smoothness import top_curvature
from tikhon.typing import Float64Array

__all__ = ["ProximalGradient"]


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """Coefficients, intercept and predictions; the previous ones; theta, m and inverse step."""

    w: Float64Array
    b: Float64Array
    z: Float64Array
    w_before: Float64Array
    b_before: Float64Array
    z_before: Float64Array
    theta: float
    m: float
    inverse_step: float
    passes: float


@dataclass(frozen=True, slots=True)
class ProximalGradient:
    """Gradient steps on the loss, proximal steps on the penalty: ISTA, and FISTA with momentum.

    ``w <- prox(v - t gradient(v), t lam)``; for the lasso, a gradient step and soft thresholding.

    The objective is at most ``2 L ||w_0 - w*||^2 / (k + 1)^2`` above its least after k steps with
    momentum, ``L ||w_0 - w*||^2 / (2 k)`` without.

    Parameters
    ----------
    momentum : bool, default False
        Nesterov's extrapolation before each step.
    restart : bool, default False
        Drop the momentum whenever it points uphill. Needs `momentum`.
    step : "auto", "backtracking" or float, default "auto"
        "auto" is 1 / L, L the smoothness constant of the mean loss on the centred columns, or
        backtracking where the loss has none. A number is a constant step.
    max_iter : int, default 20000
    measure_every : int, default 10
        Objective and gap are computed and recorded this often: that costs as much as two steps.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> lasso = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 1.0)
    >>> X = X / X.std(axis=0)
    >>> ista = tk.solve(lasso, X, y, solver=tk.solvers.ProximalGradient())
    >>> fista = tk.solve(lasso, X, y, solver=tk.solvers.ProximalGradient(momentum=True))
    >>> ista.status == fista.status == "converged", fista.passes < ista.passes
    (True, True)
    """

    momentum: bool = False
    restart: bool = False
    step: Literal["auto", "backtracking"] | float = "auto"
    max_iter: int = 20_000
    measure_every: int = 10

    def __post_init__(self) -> None:
        at_least("max_iter", self.max_iter, 0)
        at_least("measure_every", self.measure_every, 1)
        if self.restart and not self.momentum:
            raise ValueError("`restart` drops the momentum: give `momentum=True` with it.")
        if isinstance(self.step, str):
            one_of("step", self.step, ("auto", "backtracking"))
        elif not (self.step > 0 and np.isfinite(self.step)):
            raise ValueError(f"`step` must be positive and finite, got {self.step}.")

    @property
    def title(self) -> str:
        """Return "proximal gradient", and which."""
        if self.restart:
            return "proximal gradient"
        return f"proximal gradient ({'FISTA' if self.momentum else 'ISTA'})"

    def solve(self, task: Task, start: Solution | None = None) -> Solution:
        """Solve the problem of a task, from a previous solution if there is one.

        Raises
        ------
        UnsupportedError
            For a loss with kinks.
        """
        task.smooth("proximal gradient", "SquaredHinge in place of Hinge, Huber in place of "
                    "Quantile or EpsilonInsensitive")  # fmt: skip
        view = task.view
        w, b = _start(task, view, start)
        z = view.predict(w) + b
        inverse, search, passes = self._inverse_step(task, view)
        first = _At(w, b, z, w, b, z, 1.0, 0.0, inverse, 1.0 + passes)
        loop = task.iterate(
            first,
            lambda at: self._step(task, view, at, search=search),
            lambda at: task.measure(view, at.w, at.b),
            lambda at: at.passes,
            max_iter=self.max_iter,
            measure_every=self.measure_every,
        )
        coef, intercept = view.to_base(loop.state.w, loop.state.b)
        return task.solution(loop, coef, intercept, self.title, loop.state.passes)

    def _inverse_step(self, task: Task, view: StandardizedDesign) -> tuple[float, bool, float]:
        """What 1 over the step starts from, whether to search for it, and the sweeps it took."""
        if not isinstance(self.step, str):
            return 1.0 / self.step, False, 0.0
        smoothness = task.problem.loss.smoothness
        if self.step == "backtracking" or smoothness is None:
            return _first_inverse_step(task, view), True, 3.0
        top = top_curvature(view, task.shares, intercept=task.problem.intercept)
        L = smoothness * top.value
        return (L if L > 0 else 1.0), False, top.passes

    def _step(self, task: Task, view: StandardizedDesign, at: _At, *, search: bool) -> _At:
        problem, y, s = task.scaled, task.y, task.s
        v, c = at.w + at.m * (at.w - at.w_before), at.b + at.m * (at.b - at.b_before)
        z_v = at.z + at.m * (at.z - at.z_before)
        u = problem.slopes(y, z_v, s)
        g, g_b = view.correlate(u), u.sum(axis=0)
        base = problem.mean_loss(y, z_v, s)
        # A searched step may grow again after a cautious stretch.
        inverse, passes = at.inverse_step * (0.95 if search else 1.0), at.passes + 1.0
        while True:
            w, b = _proximal_step(problem, v, c, g, g_b, inverse)
            z = view.predict(w) + b
            passes += 1.0
            dw, db = w - v, b - c
            bound = base + float(np.sum(g * dw)) + float(np.sum(g_b * db))
            bound += inverse / 2.0 * (float(np.sum(dw * dw)) + float(np.sum(db * db)))
            short = not search or problem.mean_loss(y, z, s) <= bound + 1e-14 * abs(base)
            if short or inverse > 1e300:
                break
            inverse *= 2.0
        theta = (1.0 + np.sqrt(1.0 + 4.0 * at.theta**2)) / 2.0 if self.momentum else 1.0
        m = (at.theta - 1.0) / theta
        if self.restart:
            uphill = float(np.sum((v - w) * (w - at.w))) + float(np.sum((c - b) * (b - at.b)))
            theta, m = (1.0, 0.0) if uphill > 0 else (theta, m)
        return _At(w, b, z, at.w, at.b, at.z, theta, m, inverse, passes)


def _proximal_step(
    problem: Problem, v: Float64Array, c: Float64Array, g: Float64Array, g_b: object, inverse: float
) -> Point:
    strength = max(problem.lam, 1e-300) / inverse
    w = np.asarray(problem.penalty.prox(v - g / inverse, strength), dtype=np.float64)
    b = c - np.asarray(g_b) / inverse if problem.intercept else c
    return w, b


def _first_inverse_step(task: Task, view: StandardizedDesign) -> float:
    """A guess of the Lipschitz constant of the gradient, from the gradient's own direction."""
    w, b = task.scaled.null(view, task.y, task.s)
    b = np.where(np.isfinite(b), b, 0.0)
    g, _ = task.scaled.gradient(view, task.y, w, b, task.s)
    size = float(np.linalg.norm(g))
    if size == 0.0:
        return 1.0
    z = view.predict(g / size)
    return max(float(np.sum(z * z)) / len(z), 1e-300)


def _start(task: Task, view: StandardizedDesign, start: Solution | None) -> Point:
    """A previous solution, or the null model (made finite, for a single class)."""
    if start is not None:
        w, b = view.from_base(start.coef, start.intercept)
        return w, np.asarray(b)
    w, b = task.scaled.null(view, task.y, task.s)
    return w, np.clip(np.asarray(b, dtype=np.float64), -30.0, 30.0)
