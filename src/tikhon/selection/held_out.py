"""Held-out predictions of a study: each tested row, by a model that has not seen it.

Scores keep one number for each strength and fold. What needs every row (a threshold, a reliability
diagram, a residual plot) is asked for one strength only, so it is computed when it is first asked
for: one fit per fold. `HeldOutSource` remembers how; pickling it forgets the table and keeps what
was computed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.problem.problem import Problem
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows
from tikhon.solvers.solve import solve_one
from tikhon.typing import Float64Array, IntArray

__all__ = ["HeldOut", "HeldOutSource"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HeldOut:
    """Rows and their predictions by models that have not seen them.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        Which rows were tested, in the order of the folds; a row of several test sets comes
        several times.
    fold : ndarray of int, shape (m,)
    y : ndarray of shape (m,) or (m, targets)
        Targets; classes as the loss codes them.
    z : ndarray of shape (m,), (m, targets) or (m, classes)
        Linear predictors, offset included.
    s : ndarray of shape (m,)
        Weights of the rows.
    lam : float
    loss : Loss
    """

    rows: IntArray
    fold: IntArray
    y: Float64Array
    z: Float64Array
    s: Float64Array
    lam: float
    loss: Loss

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"HeldOut({len(self)} rows in {len(np.unique(self.fold))} folds, lam={self.lam:.3g})"

    @property
    def mean(self) -> Float64Array:
        """What the predictors stand for: probabilities, expected counts, fitted values."""
        return np.asarray(self.loss.inverse_link(self.z))


@dataclass(eq=False, repr=False)
class HeldOutSource:
    """How held-out predictions are computed, and those that were.

    Attributes
    ----------
    loss : Loss
    penalty : Penalty, or callable
        Or a function of rows, where every training set makes its own; None once it was pickled.
    data : Data or None
        None once it was pickled.
    folds
        As the study was given them.
    standardize, intercept : bool
    solver : str
    tol : float
    relaxed : float
        The share of least squares on the support that is mixed in.
    """

    loss: Loss
    penalty: Penalty | Callable[[Data], Penalty] | None
    data: Data | None
    folds: Any
    standardize: bool
    intercept: bool
    solver: str
    tol: float
    relaxed: float = 0.0
    known: dict[float, HeldOut] = field(default_factory=dict)

    def at(self, lam: float) -> HeldOut:
        """Return the held-out predictions at one strength."""
        if lam not in self.known:
            if self.data is None:
                raise UnsupportedError(
                    f"held-out predictions at lam={lam:.3g} were not computed before the study was "
                    "stored, and the rows are not stored with it; fit again, or ask for them "
                    "before storing."
                )
            self.known[lam] = self._computed(self.data, lam)
        return self.known[lam]

    def _computed(self, data: Data, lam: float) -> HeldOut:
        rule = as_folds(self.folds, grouped=data.groups is not None)
        split = rule.split(Rows(data.design, data.y, data.used, data.groups))
        parts, predictors, folds = [], [], []
        for k in range(len(split)):
            train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
            rows = data.rows(train)
            penalty = self.penalty if isinstance(self.penalty, Penalty) else None
            if penalty is None:
                assert callable(self.penalty)
                penalty = self.penalty(rows)
            solution = solve_one(
                Problem(self.loss, penalty, lam, self.intercept),
                rows,
                standardize=self.standardize,
                solver=self.solver,
                tol=self.tol,
                stop=Stop(),
                relaxed=self.relaxed,
            ).solution
            z = data.design.rows(test).predict(solution.coef) + solution.intercept
            z = np.asarray(z).reshape(len(test), -1)
            predictors.append(z if data.offset is None else z + data.offset[test])
            parts.append(test)
            folds.append(np.full(len(test), k))
        tested, z = np.concatenate(parts), np.concatenate(predictors)
        y = data.y[tested]
        return HeldOut(
            rows=tested,
            fold=np.concatenate(folds),
            y=y[:, 0] if y.shape[1] == 1 else y,
            z=z[:, 0] if z.shape[1] == 1 else z,
            s=np.ones(len(tested)) if data.s is None else data.s[tested],
            lam=lam,
            loss=self.loss,
        )

    def __getstate__(self) -> dict[str, Any]:
        kept = self.penalty if isinstance(self.penalty, Penalty) else None
        return self.__dict__ | {"data": None, "folds": None, "penalty": kept}
