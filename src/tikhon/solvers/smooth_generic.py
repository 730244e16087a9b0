"""Smooth losses by proximal gradient: any penalty with a prox, one training set after the other.

For penalties that no compiled solver has a form for, such as norm balls and a user's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tikhon.data.coerce import Data
from tikhon.problem.problem import Problem
from tikhon.results import Solution, StatusCode
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.proximal_gradient import ProximalGradient
from tikhon.solvers.smooth import SmoothMachine
from tikhon.solvers.task import Task
from tikhon.typing import BoolArray, Float64Array

__all__ = ["SmoothGeneric"]

SHARE = 0.5
"""Of the tolerance: what is certified is rounded once more."""


class SmoothGeneric(SmoothMachine):
    """Accelerated proximal gradient along the path."""

    name = "proximal gradient"

    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set."""
        alone = len(trains) == 1
        return [
            self._fit(train, lams, -1 if alone or k == 0 else k - 1)
            for k, train in enumerate(trains)
        ]

    def _fit(self, train: BoolArray, lams: Float64Array, fold: int) -> PathFit:
        training, outputs = self.training, self.frame.outputs
        self.start_of(train, fold)  # refuses a training set without a null model
        rows = training.cells.where(train)
        data = Data(
            training.design.rows(rows),
            training.y[rows],
            None if training.s is None else training.s[rows],
            None,
            training.y.shape[1] == 1,
            None,
            None if training.offset is None else training.offset[rows],
        )
        d = data.design.shape[1]
        coefs, intercepts = np.empty((len(lams), d, outputs)), np.empty((len(lams), outputs))
        solver = ProximalGradient(momentum=True, restart=True, step="backtracking")
        last: Solution | None = None
        solved = 0
        for k, lam in enumerate(lams):
            if last is None or not self.stop.now:
                task = Task.of(
                    Problem(self.loss, self.penalty, float(lam), training.intercept),
                    data,
                    SHARE * self.tol,
                    callback=lambda _: self.stop.now,
                    standardize=training.standardize,
                )
                last = solver.solve(task, last)
                if last.status.code is StatusCode.INTERRUPTED and not self.stop.now:
                    raise KeyboardInterrupt
                solved += 0 if self.stop.now else 1
            coefs[k] = last.coef.reshape(d, outputs)
            intercepts[k] = last.intercept
        return PathFit(training, lams, np.arange(d), coefs, intercepts, solved)
