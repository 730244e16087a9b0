"""Stochastic gradient descent with mini-batches: lecture 004.

    w <- w - rho(tau) ( mean over the batch of loss'(y_i, z_i) x_i + lam w )

The lecture's sum over the batch, times n / k, estimates the gradient of the summed loss; here
everything is a mean, so its rho is ours over n. Batches are cut from a random order of the rows,
drawn anew in every epoch; one of size n is gradient descent. At a kink a subgradient is taken. An
L1 part of the penalty is a soft thresholding after each step.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.problem.problem import Problem
from tikhon.results import Solution
from tikhon.solvers.task import KINKED, Task
from tikhon.solvers.textbook.duals import FoundSlopes
from tikhon.solvers.textbook.options import AVERAGES, Averaging, Step, at_least, one_of, schedule_of
from tikhon.solvers.textbook.rows import Rows, Rules
from tikhon.solvers.textbook.schedules import Inverse, InverseSqrt, Schedule
from tikhon.solvers.textbook.stochastic_state import Manner, StochasticState
from tikhon.typing import Float64Array

__all__ = ["SAMPLINGS", "StochasticGradientDescent", "descend"]

SAMPLINGS = ("epoch", "uniform")


@dataclass(frozen=True, slots=True)
class StochasticGradientDescent:
    """Stochastic gradient descent: any loss with a derivative or subgradient, L2 and L1.

    ``w <- w - rho(tau) (mean gradient of the batch + lam w)``.

    It comes near the optimum in few passes and goes on slowly: the suboptimality falls as 1 / tau
    at best. Scale the columns first.

    Parameters
    ----------
    step : "auto", float, schedule or callable, default "auto"
        "auto" is ``1 / (mu tau + L)``, mu the strength of the L2 part and L the smoothness constant
        of a batch, that of the largest row for batches of one; without an L2 part
        ``1 / (L sqrt(1 + e))``, e the epochs so far. Else as for `GradientDescent`.
    batch_size : int, default 1
    epochs : int, default 20
        Passes over the rows.
    averaging : {"suffix", "average", "last"}, default "suffix"
        What is returned: the mean of the later iterates (see `StochasticState`), of all, or the
        last one, which is sparse under L1 where means are not.
    sampling : {"epoch", "uniform"}, default "epoch"
        Every row once in each epoch, or draws with replacement.
    seed : int, default 0
        The same seed gives the same result, to the bit.
    measure_every : int, default 2
        Epochs between two certificates, which cost as much as one or two epochs.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.sign(y - 140.5)
    >>> problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.1)
    >>> sgd = tk.solvers.StochasticGradientDescent(batch_size=10, epochs=30)
    >>> tk.solve(problem, X, y, solver=sgd).certificate.gap < 1e-3
    True
    """

    step: Step = "auto"
    batch_size: int = 1
    epochs: int = 20
    averaging: Averaging = "suffix"
    sampling: str = "epoch"
    seed: int = 0
    measure_every: int = 2

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("epochs", 0), ("seed", 0), ("measure_every", 1)):
            at_least(name, getattr(self, name), least)
        one_of("averaging", self.averaging, AVERAGES)
        one_of("sampling", self.sampling, SAMPLINGS)
        if isinstance(self.step, str):
            one_of("step", self.step, ("auto",))
        schedule_of(self.step)

    @property
    def title(self) -> str:
        """Return "stochastic gradient descent", and the size of the batches."""
        return f"stochastic gradient descent (batches of {self.batch_size})"

    def begin(
        self, problem: Problem, n_features: int, n_outputs: int | None = None
    ) -> StochasticState:
        """Return a state at 0, to learn from rows as they come.

        Parameters
        ----------
        problem : Problem
        n_features : int
        n_outputs : int, optional
            Targets, or classes of a multinomial loss; None for one target as a vector.

        Raises
        ------
        UnsupportedError
            For penalties other than L2, L1, their mixture and none.
        """
        schedule = schedule_of(self.step)
        if schedule is None and problem.loss.smoothness is None and problem.loss.name not in KINKED:
            raise UnsupportedError(
                f"{problem.loss!r} has no smoothness constant to choose a step by; give `step`, "
                "such as 0.01 or tk.solvers.schedules.Inverse(1.0, delay=100.0)."
            )
        manner = Manner(self.batch_size, self.sampling, self.averaging, self.seed)
        outputs = () if n_outputs is None else (n_outputs,)
        rules = rules_of(problem, n_features)
        find = functools.partial(automatic, rules, self.batch_size)
        return StochasticState(rules, manner, (n_features, *outputs), schedule, find)

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task."""
        w, _ = task.zero()
        outputs = w.shape[1] if w.ndim == 2 else None
        state = self.begin(task.problem, len(w), outputs)
        draws = self.epochs * len(task.y)
        return descend(task, state, draws, self.measure_every, "epochs", self.title)


def rules_of(problem: Problem, d: int, radius: float = float("inf")) -> Rules:
    """Return what every step has in common, refusing penalties that are no mixture of L1 and L2."""
    form = problem.penalty.coordinates(d)
    plain = form is not None and not (
        np.isfinite(form.lower).any() or np.isfinite(form.upper).any()
    )
    if form is None or not plain or np.ptp(form.l1) > 0 or np.ptp(form.l2) > 0:
        raise UnsupportedError(
            f"stochastic solvers take L2, L1, ElasticNet and NoPenalty, got {problem.penalty!r}; "
            "use tk.solvers.ProximalGradient()."
        )
    lam = problem.lam
    return Rules(
        problem.loss, lam * float(form.l1[0]), lam * float(form.l2[0]), problem.intercept, radius
    )


def automatic(rules: Rules, batch_size: int, rows: Rows) -> tuple[Schedule, float]:
    """Return steps that begin at 1 / L and fall no faster than they have to; and the sweeps."""
    smoothness = rules.loss.smoothness
    curvature = rows.batch_curvature(batch_size, intercept=rules.intercept)
    L = (1.0 if smoothness is None else smoothness) * curvature.value + rules.l2
    if L == 0:
        return Inverse(1.0), curvature.passes
    if rules.l2 > 0:
        return Inverse(1.0 / rules.l2, delay=L / rules.l2), curvature.passes
    epoch = max(len(rows) / batch_size, 1.0)
    return InverseSqrt(np.sqrt(epoch) / L, delay=epoch), curvature.passes


def descend(
    task: Task, state: StochasticState, draws: int, measure_every: int, limit: str, title: str
) -> Solution:
    """Let a state learn from the rows of a task, epoch after epoch, `draws` in all."""
    rows, n = Rows(task.design, task.y), len(task.y)
    found = FoundSlopes(n) if task.problem.loss.name in KINKED and task.y.ndim == 1 else None
    per_row = 2.0 if state.manner.averaging == "last" else 3.0

    def epoch(state: StochasticState) -> StochasticState:
        left = min(n, draws - state.rows_drawn)
        record = None if found is None else found.record
        state.learn_rows(rows, task.s, draws=left, late=task.late, record=record)
        return state

    def subgradients(w: Float64Array, b: float | Float64Array) -> Float64Array | None:
        if found is None:
            return None
        z = task.design.predict(w) + b
        slopes = np.asarray(task.problem.loss.derivative(task.y, z), dtype=np.float64)
        return found.mean(slopes)

    def measure(state: StochasticState) -> tuple[float, float]:
        w, b = state.coef, state.intercept
        return task.measure(task.design, w, b, subgradients(w, b))

    def passes(state: StochasticState) -> float:
        return state.searched + per_row * state.rows_drawn / n

    loop = task.iterate(
        state,
        epoch,
        measure,
        passes,
        max_iter=-(-draws // n),
        measure_every=measure_every,
        limit=limit,
    )
    w, b = state.coef, state.intercept
    known = subgradients(w, b) if np.isfinite(w).all() else None
    return task.solution(loop, w, b, title, passes(state), known)
