"""The lasso by quadratic-penalty splitting: lecture 002.

    min  ||y - A x||^2 / 2 + beta / 2 ||z - x||^2 + lambda ||z||_1,      lambda = lam n

    x <- ridge with the target y - A z in x - z            one factorization for every beta
    z <- soft threshold of x at lambda / beta              a dead zone of that width
    beta <- growth beta, when both steps have come to rest

Divided by n, with (1/n) A'A = V diag(e) V' and the gradient's spectral coordinates
``q = V'A'(y - A z) / n``, the ridge step is ``x = z + V diag(1 / (e + beta / n)) q``: no beta needs
a factorization of its own.

What it can reach: the minimiser for a beta differs from the lasso's by O(1 / beta), and so does
the certified gap, while the steps for that beta number O(beta). Each further digit costs ten times
as many steps; eight digits are not for this method.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.data.moments import Cells
from tikhon.errors import UnsupportedError
from tikhon.losses import Squared
from tikhon.penalties import L1, soft_threshold
from tikhon.results import Solution
from tikhon.solvers.ridge_tall import TallMachine
from tikhon.solvers.ridge_wide import WideMachine
from tikhon.solvers.task import Task
from tikhon.solvers.textbook.options import at_least
from tikhon.solvers.training import Machine, Training
from tikhon.typing import Float64Array

__all__ = ["QuadraticPenaltySplitting"]

DECOMPOSABLE = 3000
"""Largest matrix that is decomposed: one d^3 for everything that follows."""


@dataclass(frozen=True, slots=True, eq=False)
class _At:
    """Both copies of the coefficients, the strength of the quadratic penalty, and steps so far."""

    x: Float64Array
    z: Float64Array
    beta: float
    rests: bool


@dataclass(frozen=True, slots=True)
class QuadraticPenaltySplitting:
    """The lasso by alternating a ridge step and soft thresholding, beta doubling.

    ``x <- argmin ||y - A x||^2 / 2 + beta / 2 ||x - z||^2``, ``z <- soft(x, lambda / beta)``.

    The answer is z, which is sparse. Its gap falls as 1 / beta and the number of steps grows as
    beta, so ask for a `tol` of 1e-3 to 1e-5, and use ``solver="auto"`` for more.

    Parameters
    ----------
    beta : float, default 1.0
        The first strength of the quadratic penalty, in the lecture's units (sums, not means).
    growth : float, default 2.0
        What beta is multiplied by; 1 keeps it, and the answer then is that beta's.
    inner : float, default 0.5
        Both steps have come to rest for a beta when what still moves is smaller, by this factor,
        than what beta itself leaves amiss; both measured as gradients.
    max_iter : int, default 100000
        Pairs of steps in all.
    measure_every : int, default 100
        Pairs of steps between two certificates; those sweep over the rows, the steps do not.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> lasso = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 5.0)
    >>> X = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> split = tk.solve(lasso, X, y, solver=tk.solvers.QuadraticPenaltySplitting(), tol=1e-4)
    >>> split.status == "converged", int(np.count_nonzero(split.coef))
    (True, 5)
    """

    beta: float = 1.0
    growth: float = 2.0
    inner: float = 0.5
    max_iter: int = 100_000
    measure_every: int = 100

    def __post_init__(self) -> None:
        at_least("max_iter", self.max_iter, 0)
        at_least("measure_every", self.measure_every, 1)
        for name, value in (("beta", self.beta), ("inner", self.inner)):
            if not (value > 0 and np.isfinite(value)):
                raise ValueError(f"`{name}` must be positive and finite, got {value}.")
        if not (self.growth >= 1 and np.isfinite(self.growth)):
            raise ValueError(f"`growth` must be >= 1 and finite, got {self.growth}.")

    @property
    def title(self) -> str:
        """Return "quadratic-penalty splitting"."""
        return "quadratic-penalty splitting"

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task.

        Raises
        ------
        UnsupportedError
            For anything but the squared loss with L1, or where both sides of the table are longer
            than 3000.
        """
        machine = _machine(task)
        spectrum, frame = machine.spectrum, machine.frame
        n, lam = frame.weight, task.problem.lam
        e = spectrum.e[:, None]

        def step(at: _At) -> _At:
            beta = at.beta * self.growth if at.rests else at.beta
            q = spectrum.c - e * spectrum.drop(at.z)
            x = at.z + spectrum.lift(q / (e + beta / n))
            z = np.asarray(soft_threshold(x, lam * n / beta), dtype=np.float64)
            moved = beta / n * float(np.linalg.norm(z - at.z))
            amiss = float(np.linalg.norm(e / (e + beta / n) * q))
            return _At(x, z, beta, moved <= self.inner * amiss)

        def base(z: Float64Array) -> tuple[Float64Array, Float64Array]:
            w, b = frame.to_user(z)
            return (w, b) if task.y.ndim == 2 else (w[:, 0], b[0])

        zero = np.zeros((task.design.shape[1], 1 if task.y.ndim == 1 else task.y.shape[1]))
        loop = task.iterate(
            _At(zero, zero, self.beta, False),
            step,
            lambda at: task.measure(task.design, *base(at.z)),
            lambda _: 1.0,
            max_iter=self.max_iter,
            measure_every=self.measure_every,
        )
        title = f"{self.title} (beta = {loop.state.beta:g})"
        return task.solution(loop, *base(loop.state.z), title, 1.0)


def _machine(task: Task) -> Machine:
    """The table, prepared for one factorization."""
    loss, penalty = task.problem.loss, task.problem.penalty
    if not (isinstance(loss, Squared) and isinstance(penalty, L1)):
        raise UnsupportedError(
            f"quadratic-penalty splitting is for Squared() with L1(), got {loss!r} with "
            f"{penalty!r}; use tk.solvers.ProximalGradient()."
        )
    n, d = task.design.shape
    if min(n, d) > DECOMPOSABLE:
        raise UnsupportedError(
            f"quadratic-penalty splitting factorizes a matrix of side min(n, d) = {min(n, d)}, at "
            f"most {DECOMPOSABLE}; use solver='auto'."
        )
    y = task.y.reshape(n, -1)
    training = Training(task.design, y, task.s, Cells.single(n), False, task.problem.intercept)
    return TallMachine(training) if n >= d else WideMachine(training)
