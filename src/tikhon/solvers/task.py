"""One problem on its rows, and when to stop: what an iterative solver is given.

A solver is a small frozen value with its options, `tk.solvers.GradientDescent(step=0.1)`, and one
method, `solve(task)`. The task has the rows in use, hands out starting points, measures iterates
and turns the end of a loop into a solution whose certificate is computed afresh.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.errors import UnsupportedError
from tikhon.problem.offset import OffsetLoss
from tikhon.problem.problem import Problem, Yardstick
from tikhon.results import Certificate, Solution, Status, StatusCode
from tikhon.solvers.loop import Loop, Progress, run
from tikhon.typing import Float64Array

__all__ = ["Point", "Solver", "Task", "generic_view", "named_if_separable"]

State = TypeVar("State")
Point = tuple[Float64Array, Float64Array]
"""Coefficients (d,) or (d, k) and intercept () or (k,)."""


@runtime_checkable
class Solver(Protocol):
    """An algorithm with its options: what `tk.solve` takes as `solver`."""

    @property
    def title(self) -> str:
        """What a solution says it was computed by."""
        ...

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task."""
        ...


@dataclass(frozen=True, eq=False)
class Task:
    """One problem on its rows.

    Attributes
    ----------
    problem : Problem
    design : Design
        Rows of positive weight alone.
    y : ndarray of shape (n,) or (n, targets)
    s : ndarray of shape (n,) or None
    tol : float
        The relative gap to reach.
    max_seconds : float, optional
    callback : callable, optional
    standardize : bool
        Whether the penalty is of the coefficients of columns divided by their standard deviation;
        for solvers that work in `view`.
    """

    problem: Problem
    design: Design
    y: Float64Array
    s: Float64Array | None
    tol: float
    max_seconds: float | None = None
    callback: Callable[[Progress], bool | None] | None = None
    standardize: bool = False
    began: float = field(default_factory=time.perf_counter)

    @classmethod
    def of(
        cls,
        problem: Problem,
        data: Data,
        tol: float,
        max_seconds: float | None = None,
        callback: Callable[[Progress], bool | None] | None = None,
        *,
        standardize: bool = False,
    ) -> Task:
        """Keep the rows in use, and one target as a vector."""
        began = time.perf_counter()
        everything = len(data.used) == len(data.y)
        design = data.design if everything else data.design.rows(data.used)
        y = data.y[data.used][:, 0] if data.one_target else data.y[data.used]
        s = None if data.s is None else data.s[data.used]
        if data.offset is not None:
            offset = data.offset[data.used]
            flat = data.one_target and not problem.loss.per_class
            shifted = OffsetLoss(problem.loss, offset[:, 0] if flat else offset)
            problem = replace(problem, loss=shifted)
        return cls(problem, design, y, s, tol, max_seconds, callback, standardize, began)

    @cached_property
    def shares(self) -> Float64Array:
        """Weights of the rows, summing to 1."""
        n = len(self.y)
        return np.full(n, 1.0 / n) if self.s is None else np.asarray(self.s / self.s.sum())

    @cached_property
    def view(self) -> StandardizedDesign:
        """The columns centred where there is an intercept, and scaled if asked for."""
        return generic_view(
            self.design, self.s, standardize=self.standardize, intercept=self.problem.intercept
        )

    @cached_property
    def scaled(self) -> Problem:
        """The problem in the coordinates of `view`."""
        if not self.standardize:
            return self.problem
        return replace(self.problem, penalty=self.problem.penalty.on_scaled(self.view.scale))

    @cached_property
    def yardstick(self) -> Yardstick:
        """The null model, which gaps are relative to."""
        return self.scaled.yardstick(self._table, self.y, self.s)

    @property
    def _table(self) -> Design | StandardizedDesign:
        """What certificates are computed on."""
        return self.view if self.standardize else self.design

    def zero(self) -> Point:
        """Return coefficients and intercept of 0: where the lectures start."""
        columns: tuple[int, ...] = self.y.shape[1:]
        if self.problem.loss.per_class:
            columns = (int(np.max(self.y)) + 1,)
        return np.zeros((self.design.shape[1], *columns)), np.zeros(columns)

    def late(self) -> bool:
        """Whether the time is up."""
        spent = time.perf_counter() - self.began
        return self.max_seconds is not None and spent > self.max_seconds

    def measure(
        self, table: Any, w: Float64Array, b: Any, subgradients: Float64Array | None = None
    ) -> tuple[float, float]:
        """Return objective and relative gap, or the relative KKT residual without a dual point.

        `table` is the design or, where the solver works in it, the view that `w` and `b` belong to.
        `subgradients` are those of a dual point, where the solver has one.
        """
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            return float("inf"), float("inf")
        objective = self.scaled.value(table, self.y, w, b, self.s)
        if not np.isfinite(objective):
            return float("inf"), float("inf")
        gap = self.scaled.duality_gap(table, self.y, w, b, self.s, subgradients)
        if np.isfinite(gap):
            return objective, self.yardstick.relative_gap(gap)
        kkt = self.scaled.kkt(table, self.y, w, b, self.s)
        return objective, self.yardstick.relative_kkt(kkt)

    def iterate(
        self,
        state: State,
        step: Callable[[State], State],
        measure: Callable[[State], tuple[float, float]],
        passes: Callable[[State], float],
        *,
        max_iter: int,
        measure_every: int,
        limit: str = "max_iter",
    ) -> Loop[State]:
        """Run the one iteration loop with what this task says of its end."""
        spent = time.perf_counter() - self.began
        left = None if self.max_seconds is None else max(self.max_seconds - spent, 0.0)
        # A step too long overflows before the loop finds that it diverges.
        with np.errstate(over="ignore", invalid="ignore"):
            return run(
                state,
                step,
                measure,
                tol=self.tol,
                max_iter=max_iter,
                measure_every=measure_every,
                passes_of=passes,
                limit=limit,
                max_seconds=left,
                callback=self.callback,
            )

    def solution(
        self,
        loop: Loop[Any],
        w: Float64Array,
        b: Any,
        title: str,
        passes: float,
        subgradients: Float64Array | None = None,
    ) -> Solution:
        """Return the end of a loop as a solution, its certificate computed from the rows."""
        status = loop.status
        loss = self.problem.loss
        finite = bool(np.isfinite(w).all() and np.isfinite(b).all())
        if finite and loss.classification and not loss.per_class:
            z = self.design.predict(w) + b
            margins = self.y * (z + loss.offset if isinstance(loss, OffsetLoss) else z)
            status = named_if_separable(status, self.problem, w, margins)
        return Solution(
            coef=w,
            intercept=float(b) if np.ndim(b) == 0 else np.asarray(b),
            lam=self.problem.lam,
            certificate=self.certificate(w, b, subgradients),
            status=status,
            solver=title,
            passes=passes,
            seconds=time.perf_counter() - self.began,
            history=loop.history,
        )

    def certificate(
        self, w: Float64Array, b: Any, subgradients: Float64Array | None = None
    ) -> Certificate:
        """Return the certificate of a point, from the rows; infinite where the point is."""
        if not (np.isfinite(w).all() and np.isfinite(b).all()):
            return Certificate(np.inf, np.inf, np.inf, self.yardstick.objective)
        with np.errstate(over="ignore", invalid="ignore"):
            if self.standardize:
                w, b = self.view.from_base(w, b)
            return self.scaled.certificate(self._table, self.y, w, b, self.s, subgradients)

    def quadratic(self, title: str) -> Float64Array:
        """Return the multipliers l2 of ``lam l2_j w_j^2 / 2``, refusing any other penalty."""
        form = self.problem.penalty.coordinates(self.design.shape[1])
        bounded = form is None or np.isfinite(form.lower).any() or np.isfinite(form.upper).any()
        if form is None or bounded or form.l1.any():
            raise UnsupportedError(
                f"{title} needs a penalty with a gradient (L2, none, or weighted L2), got "
                f"{self.problem.penalty!r}; use tk.solvers.ProximalGradient()."
            )
        return form.l2

    def smooth(self, title: str, instead: str) -> None:
        """Refuse a loss with kinks."""
        if self.problem.loss.smoothness is None and self.problem.loss.name in KINKED:
            raise UnsupportedError(
                f"{self.problem.loss!r} is not differentiable, as {title} wants it; use {instead}."
            )


KINKED = ("hinge", "quantile", "epsilon_insensitive")
"""Losses without a derivative everywhere."""


def named_if_separable(
    status: Status, problem: Problem, coef: Float64Array, margins: Float64Array
) -> Status:
    """Name classes that a plane separates when nothing keeps the coefficients finite."""
    free = problem.lam == 0 or problem.penalty.unpenalised(len(coef)).all()
    if not free or np.any(margins <= 0):
        return status
    return Status(
        StatusCode.SEPARABLE,
        "a plane separates the classes, so the loss has no minimiser: coefficients grow without "
        "end, and these are where the solver stopped.",
        "Use a penalty with `lam` > 0.",
    )


def generic_view(
    design: Design, s: Float64Array | None, *, standardize: bool, intercept: bool
) -> StandardizedDesign:
    """Centre and scale the columns for a generic solver; about 0 without an intercept."""
    d = design.shape[1]
    if not (standardize or intercept):
        return StandardizedDesign(design, np.zeros(d), np.ones(d))
    stats = design.stats(s)
    scale = stats.scale if intercept else np.hypot(stats.sd, stats.mean)
    scale = np.where((scale > 0) & ~stats.constant, scale, 1.0) if standardize else np.ones(d)
    return StandardizedDesign(design, stats.mean if intercept else np.zeros(d), scale)
