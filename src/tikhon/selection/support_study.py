"""Cross-validation of support vector machines: folds, strengths, classes and kernels.

Each fold solves its path warm from strength to strength; folds and tasks run side by side on
threads. Where nothing of the kernel matrix depends on the rows of a fold (no standardizing, a given
gamma) all folds and strengths share its rows, each computed once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon import _kernels
from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.engine import map_units
from tikhon.errors import UnsupportedError
from tikhon.losses import EpsilonInsensitive, Hinge, SquaredHinge
from tikhon.losses.base import Loss
from tikhon.paths.grid import Grid
from tikhon.results import Certificate, Path, Status
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows, Split
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.solvers.support_machine import BoundMachine, SupportMachine, Task
from tikhon.solvers.support_path import SupportPath
from tikhon.typing import Float64Array

__all__ = ["SupportStudy", "SupportTasks", "fit_support", "study_support", "support_lams"]


@dataclass(frozen=True, slots=True, eq=False)
class SupportTasks:
    """The problems of one fit, and what their values mean together.

    Attributes
    ----------
    tasks : sequence of Task
    combine : callable
        Values (rows, tasks) to decisions (rows,) or (rows, classes).
    """

    tasks: Sequence[Task]
    combine: Callable[[Float64Array], Float64Array]


@dataclass(frozen=True, slots=True, eq=False)
class SupportStudy:
    """A study with what made it.

    Attributes
    ----------
    study : Study
    bound : BoundMachine
        All rows.
    paths : tuple of SupportPath
        One for each task, on all rows.
    held_out : ndarray of shape (L, n) or (L, n, classes)
        Decisions for rows by machines that have not seen them; nan for rows never tested.
    """

    study: Study
    bound: BoundMachine
    paths: tuple[SupportPath, ...]
    held_out: Float64Array


def weights_of(data: Data) -> Float64Array:
    """Return sample weights, ones where there are none."""
    return np.ones(len(data.y)) if data.s is None else data.s


def support_lams(bound: BoundMachine, grid: Grid) -> Float64Array:
    """Return the strengths of a grid.

    Where they are not given, ``C = 1 / (lam n)`` runs from 1/100 to 100 over the mean of k(x, x).
    """
    weight = float(bound.s.sum())
    size = bound.scale_of_kernel() or 1.0
    return grid.below(100.0 * size / weight, 1e-4)


def fit_support(
    bound: BoundMachine, tasks: SupportTasks, lams: Float64Array, stop: Stop
) -> tuple[SupportPath, ...]:
    """Solve every task on all rows, tasks side by side."""
    return tuple(
        map_units(
            lambda task: bound.solve(task, lams, exact=True, stop=stop), tasks.tasks, stop=stop
        )
    )


def study_support(
    machine: SupportMachine,
    data: Data,
    tasks: SupportTasks,
    grid: Grid,
    *,
    folds: Any,
    rule: str | Rule,
    score: Score,
    stop: Stop,
) -> SupportStudy:
    """Score a grid of strengths on held-out rows, and solve the path on all rows."""
    if isinstance(folds, str):
        raise UnsupportedError(
            f"folds={folds!r} has no closed form for support vector machines; use a number."
        )
    started = time.perf_counter()
    s = weights_of(data)
    split = as_folds(folds, grouped=data.groups is not None).split(
        Rows(data.design, data.y, data.used, data.groups)
    )
    workers = _kernels.thread_count()
    same = machine.same_rows
    part = machine if same else machine.with_budget(machine.budget // (2 * workers))
    whole = machine.bind(data.design, s, solvers=workers)
    lams = support_lams(whole, grid)
    if lams[-1] <= 0:
        raise UnsupportedError("strengths of a support vector machine must be > 0, got 0.")

    def fold(k: int) -> Float64Array:
        weight = np.zeros(len(s))
        train = split.cells.where(split.train[k])
        weight[train] = s[train]
        bound = whole.weighted(weight) if same else part.bind(data.design, weight)
        return _held_out(bound, tasks, lams, split, k, stop)

    decisions = map_units(fold, range(len(split)), stop=stop)
    paths = fit_support(whole, tasks, lams, stop)
    kept = max(1, min(*(len(path) for path in paths), *(len(part) for part in decisions)))
    lams = lams[:kept]
    scores, held, weight = _scores(data, s, split, decisions, kept, score)
    mean, se = summarise(scores, weight)
    study = Study(
        path=path_of(paths, lams, data),
        scores=scores,
        mean=mean,
        se=se,
        fold=fold_of_rows(split),
        fold_weight=weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        method="folds",
        rule=rule,
        solver=paths[0].solver,
        seconds=time.perf_counter() - started,
        sample=Sample.of(loss_of(machine), data, intercept=machine.offset == "constraint"),
        skipped=len(grid.below(1.0, 1e-4)) - kept,
    )
    return SupportStudy(study, whole, paths, held)


def _held_out(
    bound: BoundMachine,
    tasks: SupportTasks,
    lams: Float64Array,
    split: Split,
    k: int,
    stop: Stop,
) -> Float64Array:
    """Decisions for the test rows of one fold at every strength solved: (L, rows[, classes])."""
    rows = split.cells.where(split.test[k])
    values = []
    for task in tasks.tasks:
        path = bound.solve(task, lams, exact=False, stop=stop)
        values.append(bound.values(path.solutions, rows))
    solved = min(len(value) for value in values)
    return np.array(
        [tasks.combine(np.column_stack([v[at] for v in values])) for at in range(solved)]
    )


def _scores(
    data: Data,
    s: Float64Array,
    split: Split,
    decisions: Sequence[Float64Array],
    kept: int,
    score: Score,
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Scores (L, folds), decisions held out (L, n[, classes]), and the folds' weights."""
    n = len(data.y)
    held = np.full((kept, n, *decisions[0].shape[2:]), np.nan)
    columns, weights = [], []
    for k, decided in enumerate(decisions):
        rows = split.cells.where(split.test[k])
        held[:, rows] = decided[:kept]
        part = None if data.s is None else s[rows]
        y = data.y[rows]
        columns.append([score(y, decided[at].reshape(len(rows), -1), part) for at in range(kept)])
        weights.append(float(s[rows].sum()))
    return np.array(columns).T, held, np.array(weights)


def loss_of(machine: SupportMachine) -> Loss:
    """Return the loss of a machine."""
    if machine.loss == "tube":
        return EpsilonInsensitive(machine.tube)
    return SquaredHinge() if machine.loss == "squared_hinge" else Hinge()


def path_of(paths: Sequence[SupportPath], lams: Float64Array, data: Data) -> Path:
    """Return the tasks' paths as one: coefficients of a linear machine, else dual ones."""
    kept = len(lams)
    table = [[path.solutions[k] for path in paths] for k in range(kept)]
    linear = table[0][0].coef is not None
    coefs = np.array(
        [np.column_stack([_shown(each) for each in row]) for row in table], dtype=np.float64
    )
    intercepts = np.array([[each.offset for each in row] for row in table])
    if len(paths) == 1:
        coefs, intercepts = coefs[:, :, 0], intercepts[:, 0]
    losses = np.array(
        [
            sum(e.certificate.objective - 0.5 * e.lam * max(float(e.beta @ e.f), 0.0) for e in row)
            for row in table
        ]
    )
    return Path(
        lams=lams,
        coefs=coefs,
        intercepts=intercepts,
        certificates=tuple(worst_certificate([e.certificate for e in row]) for row in table),
        df=np.full(kept, np.nan),
        losses=losses,
        status=worst_status([e.status for row in table for e in row]),
        solver=paths[0].solver,
        passes=float(sum(e.passes for row in table for e in row)),
        seconds=float(sum(path.seconds for path in paths)),
        feature_names=data.feature_names if linear else None,
    )


def _shown(solution: Any) -> Float64Array:
    return np.asarray(solution.beta if solution.coef is None else solution.coef)


def worst_certificate(certificates: Sequence[Certificate]) -> Certificate:
    """Return the certificate with the largest gap."""
    return max(certificates, key=lambda c: c.gap)


def worst_status(statuses: Sequence[Status]) -> Status:
    """Return the first status that is not converged, if there is one."""
    return next((status for status in statuses if not status.ok), statuses[0])
