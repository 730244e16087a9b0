"""Stochastic (sub)gradient descent for the soft support vector machine: lecture 001 (Pegasos).

    theta_1 = 0
    for t = 1, ..., T:
        w_t = theta_t / (lam t)
        draw a row i at random
        theta_(t+1) = theta_t + y_i x_i   if y_i w_t . x_i < 1,   else theta_t
    return the mean of w_1, ..., w_T

for ``mean hinge + lam / 2 ||w||^2``: the lecture's lambda of that page, and the library's lam. The
page starts at t = 0, where w_t would be 0 / 0. Started at 1, w_t follows exactly the subgradient
step of length ``1 / (lam (t + 1))``,

    w_(t+1) = t / (t + 1) w_t + y_i x_i [y_i w_t . x_i < 1] / (lam (t + 1)),

which is how it is computed. With ``||x_i|| <= R`` the suboptimality of the mean is at most
``2 R^2 (1 + log T) / (lam T)`` in expectation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.losses import Hinge
from tikhon.penalties import L2
from tikhon.problem.problem import Problem
from tikhon.results import Solution
from tikhon.solvers.task import Task
from tikhon.solvers.textbook.options import AVERAGES, Averaging, at_least, one_of
from tikhon.solvers.textbook.schedules import Inverse
from tikhon.solvers.textbook.stochastic import SAMPLINGS, descend, rules_of
from tikhon.solvers.textbook.stochastic_state import Manner, StochasticState

__all__ = ["Pegasos", "pegasos_bound"]

EPOCHS = 20


@dataclass(frozen=True, slots=True)
class Pegasos:
    """The soft support vector machine by stochastic subgradient steps, as lecture 001 has it.

    ``w_t = theta_t / (lam t)``, ``theta += y_i x_i`` where ``y_i w_t . x_i < 1``; t = 1, ..., T.

    The lecture's algorithm has no offset; use it with ``intercept=False`` for its guarantee
    (`pegasos_bound`). With an intercept, b takes the same subgradient steps without a penalty, and
    no rate is promised.

    Parameters
    ----------
    steps : int, optional
        T, the number of batches.
    epochs : int, optional
        In its place, how many times as many rows are drawn as there are; 20 by default.
    batch_size : int, default 1
        Rows drawn for each step.
    projected : bool, default False
        After each step, back into the ball ``||w|| <= 1 / sqrt(lam)``, which has the optimum.
    averaging : {"average", "last", "suffix"}, default "average"
        The mean of w_1, ..., w_T; w_(T+1), the last; or the mean of the later ones, whose bound has
        no logarithm.
    sampling : {"uniform", "epoch"}, default "uniform"
        With replacement, as in the lecture, or every row once in each epoch.
    seed : int, default 0
    measure_every : int, default 2
        Epochs between two certificates, which cost as much as one or two epochs.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.sign(y - 140.5)
    >>> svm = tk.Problem(tk.losses.Hinge(), tk.penalties.L2(), 0.1, intercept=False)
    >>> solution = tk.solve(svm, X, y, solver=tk.solvers.Pegasos(steps=20_000))
    >>> R = np.linalg.norm(X, axis=1).max()
    >>> gap = solution.certificate.gap * solution.certificate.null_objective
    >>> bool(gap < tk.solvers.pegasos_bound(0.1, R, 20_000))
    True
    """

    steps: int | None = None
    epochs: int | None = None
    batch_size: int = 1
    projected: bool = False
    averaging: Averaging = "average"
    sampling: str = "uniform"
    seed: int = 0
    measure_every: int = 2

    def __post_init__(self) -> None:
        for name, least in (("batch_size", 1), ("seed", 0), ("measure_every", 1)):
            at_least(name, getattr(self, name), least)
        for name in ("steps", "epochs"):
            if getattr(self, name) is not None:
                at_least(name, getattr(self, name), 0)
        if self.steps is not None and self.epochs is not None:
            raise ValueError("`steps` and `epochs` say the same thing: give one of them.")
        one_of("averaging", self.averaging, AVERAGES)
        one_of("sampling", self.sampling, SAMPLINGS)

    @property
    def title(self) -> str:
        """Return "Pegasos", and how."""
        ball = ", projected" if self.projected else ""
        return f"Pegasos (batches of {self.batch_size}{ball})"

    def begin(
        self, problem: Problem, n_features: int, n_outputs: int | None = None
    ) -> StochasticState:
        """Return a state at 0, to learn from rows as they come.

        Raises
        ------
        UnsupportedError
            For anything but the hinge loss with L2 and ``lam > 0``.
        """
        loss, penalty = problem.loss, problem.penalty
        if not (isinstance(loss, Hinge) and isinstance(penalty, L2) and problem.lam > 0):
            raise UnsupportedError(
                f"Pegasos is for Hinge() with L2() and `lam` > 0, got {loss!r} with {penalty!r} "
                f"and lam={problem.lam}; use tk.solvers.StochasticGradientDescent()."
            )
        if n_outputs is not None:
            raise UnsupportedError("Pegasos takes one target, -1 or 1; give `y` as a vector.")
        schedule = Inverse(1.0 / problem.lam, delay=1.0)
        radius = 1.0 / float(np.sqrt(problem.lam)) if self.projected else float("inf")
        rules = rules_of(problem, n_features, radius)
        manner = Manner(self.batch_size, self.sampling, self.averaging, self.seed)
        return StochasticState(rules, manner, (n_features,), schedule)

    def solve(self, task: Task) -> Solution:
        """Solve the problem of a task."""
        outputs = None if task.y.ndim == 1 else task.y.shape[1]
        state = self.begin(task.problem, task.design.shape[1], outputs)
        n = len(task.y)
        draws = (EPOCHS if self.epochs is None else self.epochs) * n
        if self.steps is not None:
            draws = self.steps * min(self.batch_size, n)
        limit = "epochs" if self.steps is None else "steps"
        return descend(task, state, draws, self.measure_every, limit, self.title)


def pegasos_bound(
    lam: float, radius: float, steps: int, *, averaging: Averaging = "average",
    projected: bool = False,
) -> float:  # fmt: skip
    """Return what the expected suboptimality of `Pegasos` after some steps is at most.

    With ``||x_i|| <= radius`` every subgradient of the objective on the way has norm at most
    ``G = 2 radius`` (``radius + sqrt(lam)`` if projected), and

        average    G^2 (1 + log T) / (2 lam T)
        suffix     7.5 G^2 / (lam T)
        last       17 G^2 (1 + log T) / (lam T)

    The first is lecture 001's; the others are those of Rakhlin, Shamir and Sridharan (2012) for
    the last half or more, and of Shamir and Zhang (2013), proved for steps 1 / (lam t).

    Parameters
    ----------
    lam : float
    radius : float
        Largest norm of a row.
    steps : int
        T >= 1.
    averaging : {"average", "suffix", "last"}
    projected : bool

    Examples
    --------
    >>> round(pegasos_bound(0.1, 1.0, 1000), 4)
    0.1582
    """
    if not (lam > 0 and radius >= 0):
        raise ValueError(f"`lam` must be > 0 and `radius` >= 0, got {lam} and {radius}.")
    at_least("steps", steps, 1)
    one_of("averaging", averaging, AVERAGES)
    G = radius + np.sqrt(lam) if projected else 2.0 * radius
    rate = float(G * G / (lam * steps))
    logarithm = 1.0 + float(np.log(steps))
    return rate * {"average": logarithm / 2.0, "suffix": 7.5, "last": 17.0 * logarithm}[averaging]
