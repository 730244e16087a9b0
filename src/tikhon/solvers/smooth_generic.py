"""Smooth losses by proximal gradient: any penalty with a prox, one training set after the other.

For penalties that no compiled solver has a form for, such as norm balls and a user's own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.problem import Problem
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.proximal_gradient import proximal_gradient
from tikhon.solvers.smooth import SmoothMachine
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
        training, own = self.training, self.table.columns(train)
        rows = training.cells.where(train)
        design = training.design.rows(rows)
        view = StandardizedDesign(design, self.table.shift + own.mean, own.scale)
        single = training.y.shape[1] == 1
        y = training.y[rows, 0] if single else training.y[rows]
        s = None if training.s is None else training.s[rows]
        offset = None if training.offset is None else training.offset[rows]
        if offset is not None and single and not self.loss.per_class:
            offset = offset[:, 0]
        outputs, d = self.frame.outputs, design.shape[1]
        flat = single and not self.loss.per_class
        penalty = self.penalty.on_scaled(own.scale)
        start = self.start_of(train, fold)
        w = np.zeros(d) if flat else np.zeros((d, outputs))
        b = start[0] if flat else start
        coefs, intercepts = np.empty((len(lams), d, outputs)), np.empty((len(lams), outputs))
        solved = 0
        for k, lam in enumerate(lams):
            if not self.stopped:
                loop = proximal_gradient(
                    Problem(self.loss, penalty, float(lam), training.intercept),
                    view,
                    y,
                    s,
                    (w, np.asarray(b)),
                    offset=offset,
                    tol=SHARE * self.tol,
                    callback=lambda _: self.stopped,
                )
                w, b = loop.state.w, loop.state.b
                solved += 0 if self.stopped else 1
            V, c = view.to_base(w, b)
            coefs[k], intercepts[k] = V.reshape(d, outputs), c
        if not training.intercept:
            intercepts[:] = 0.0
        return PathFit(training, lams, np.arange(d), coefs, intercepts, solved)
