"""What machines for smooth losses share: the table, certificates, corrections, and their judgement.

A smooth loss has a derivative that changes continuously: logistic, multinomial, Poisson, Gamma,
Huber, squared hinge, and any of a user's own. Machines differ in how they solve a path; everything
that is said about their solutions is said here, from the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.errors import InputError, Problems, UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.penalties.base import Penalty
from tikhon.problem.null import best_constant
from tikhon.problem.penalised import Certified
from tikhon.problem.smooth import SmoothFrame, SmoothNull, smooth_certificates, smooth_null
from tikhon.results import Status, StatusCode
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.penalised import CertifiedFit, judge
from tikhon.solvers.smooth_freedom import smooth_degrees_of_freedom
from tikhon.solvers.training import Training
from tikhon.solvers.wide_table import WideTable
from tikhon.typing import BoolArray, Float64Array

__all__ = ["SmoothMachine", "is_smooth", "smooth_training"]

FIRMER = 1e-2
"""Share of the tolerance asked for where a certificate has found a solution wanting."""

NOT_SMOOTH = ("hinge", "quantile", "epsilon_insensitive")


def is_smooth(loss: Loss) -> bool:
    """Whether a loss, not the squared one, has a derivative that changes continuously."""
    return loss.name not in NOT_SMOOTH and not isinstance(loss, Squared)


def smooth_training(
    loss: Loss, data: Data, cells: Cells, *, standardize: bool, intercept: bool
) -> Training:
    """Prepare checked data for a smooth loss.

    Targets of rows without weight become that of a row with some: whatever they were, the loss may
    then be taken of all rows at once.
    """
    y, offset = data.y, data.offset
    if data.s is not None and len(data.used) < len(y):
        y = np.where((data.s == 0)[:, None], y[data.used[0]], y)
    if loss.per_class and y.shape[1] != 1:
        raise UnsupportedError(
            f"{type(loss).__name__} takes one target of class codes, got {y.shape[1]} columns."
        )
    outputs = int(y.max()) + 1 if loss.per_class else y.shape[1]
    if offset is not None and offset.shape[1] not in (1, outputs):
        problems = Problems()
        problems.add(
            "shape",
            f"`offset` has {offset.shape[1]} columns for {outputs} of the linear predictor",
            "Give one column, or one for each target or class.",
        )
        problems.raise_if_any()
    return Training(data.design, y, data.s, cells, standardize, intercept, offset)


class SmoothMachine(ABC):
    """A smooth loss on a prepared table, under one penalty; subclasses say how a path is solved."""

    solves_zero = True
    name = "smooth"
    passes = 1.0
    """Sweeps over the rows so far, for the record."""

    def __init__(
        self, table: WideTable, loss: Loss, penalty: Penalty, tol: float, stop: Stop
    ) -> None:
        self.table = table
        self.loss = loss
        self.penalty = penalty
        self.tol = tol
        self.stop = stop

    @property
    def training(self) -> Training:
        """What the table was prepared from."""
        return self.table.training

    @cached_property
    def frame(self) -> SmoothFrame:
        """Coordinates of the fit to all rows in use."""
        squared, training = self.table.frame, self.training
        return SmoothFrame(
            self.loss, squared.view, training.y, training.offset, squared.p, training.intercept
        )

    def with_penalty(self, penalty: Penalty) -> Self:
        """Return the same table under another penalty."""
        return type(self)(self.table, self.loss, penalty, self.tol, self.stop)

    def with_tol(self, tol: float) -> Self:
        """Return the same table, to be solved to another tolerance."""
        return type(self)(self.table, self.loss, self.penalty, tol, self.stop)

    @cached_property
    def _null(self) -> SmoothNull:
        return smooth_null(self.frame)

    def null(self) -> SmoothNull:
        """Return the null model's figures."""
        return self._null

    def curvature(self) -> float:
        """Return the mean curvature of the null model's loss along a penalised column."""
        frame = self.frame
        Z = frame.predict(
            np.zeros((1, frame.view.shape[1], frame.outputs)), self._null.intercept[None]
        )
        h = frame.shares @ np.asarray(self.loss.curvature(frame.targets(), Z))[:, 0]
        variance = np.ones(1)
        if not self.training.standardize:
            variance = self.training.design.stats(self.training.s).sd ** 2
        return float(np.mean(h) * np.mean(variance))

    def lam_max(self) -> float:
        """Return the least strength at which every penalised coefficient of all rows is 0."""
        frame, d = self.frame, self.training.design.shape[1]
        penalty = self.penalty.on_scaled(frame.view.scale)
        coef, b = np.zeros((1, d, frame.outputs)), self._null.intercept[None]
        free = penalty.unpenalised(d)
        if free.any():
            coef, b = self._unpenalised(free)
        g = -self.certify(self._null, np.ones(1), coef, b).correlation[0]
        return penalty.lam_max(g[:, 0] if g.shape[1] == 1 else g)

    def _unpenalised(self, free: BoolArray) -> tuple[Float64Array, Float64Array]:
        """Fit the columns without a penalty alone: coefficients (1, d, outputs), intercepts."""
        from tikhon.penalties import NoPenalty
        from tikhon.solvers.choose_smooth import plan_smooth

        columns = np.flatnonzero(free)
        small = replace(self.training, design=self.training.design.take(columns))
        plan = plan_smooth(small.design, self.loss, NoPenalty(), targets=small.y.shape[1])
        machine = plan.machine(small, self.loss, NoPenalty(), self.tol, self.stop)
        fit = machine.fits([small.everything()], np.zeros(1))[0]
        coefs = np.zeros((1, len(free), self.frame.outputs))
        coefs[:, columns] = fit.dense()
        return coefs, fit.intercepts

    @abstractmethod
    def fits(self, trains: Sequence[BoolArray], lams: Float64Array) -> list[PathFit]:
        """Solve the path of each training set."""

    def start_of(self, train: BoolArray, fold: int) -> Float64Array:
        """Return the null model's intercept for one training set; an error where there is none."""
        training = self.training
        if not training.intercept:
            return np.zeros(self.frame.outputs)
        rows = training.cells.where(train)
        y = training.y[rows, 0] if self.loss.per_class else training.y[rows]
        s = None if training.s is None else training.s[rows]
        offset = None if training.offset is None else training.offset[rows]
        if self.loss.per_class and len(np.unique(y)) < self.frame.outputs:
            raise _no_null(self.loss, fold)
        b = np.atleast_1d(np.asarray(best_constant(self.loss, y, s, offset), dtype=np.float64))
        if not np.isfinite(b).all():
            raise _no_null(self.loss, fold)
        return b

    def certify(
        self, null: Any, lams: Float64Array, coefs: Float64Array, intercepts: Float64Array
    ) -> Certified:
        """Certify solutions on all rows, in one pass."""
        return smooth_certificates(self.frame, self.penalty, lams, coefs, intercepts, null)

    def mended(self, lams: Float64Array, found: CertifiedFit) -> tuple[Float64Array, Float64Array]:
        """Solve strengths again to a smaller tolerance: coefficients and intercepts."""
        asked = np.maximum(FIRMER * self.tol * np.minimum(self.tol / found.distances, 1.0), 1e-15)
        order = np.argsort(-lams)
        again = self.with_tol(float(np.nanmin(asked)))
        fit = again.fits([self.training.everything()], lams[order])[0]
        coefs, intercepts = np.empty_like(found.coefs), np.empty_like(found.intercepts)
        coefs[order], intercepts[order] = fit.dense(), fit.intercepts
        return coefs, intercepts

    def df(self, lams: Float64Array, found: CertifiedFit) -> Float64Array:
        """Return degrees of freedom of each strength, nan where they are unknown."""
        return smooth_degrees_of_freedom(
            self.frame, self.penalty, lams, found.coefs, found.intercepts
        )

    def judge(self, lams: Float64Array, found: CertifiedFit, solved: int) -> Status:
        """Judge solutions by their certificates, and name what no certificate can mend."""
        objectives = np.array([certificate.objective for certificate in found.certificates])
        lost = np.flatnonzero(~np.isfinite(objectives))
        if len(lost):
            return Status(
                StatusCode.OVERFLOW,
                f"at lam={lams[lost[0]]:.3g} the objective is {objectives[lost[0]]}.",
                "Scale the columns (standardize=True), or use a larger `lam`.",
            )
        status = judge(lams, found.distances, solved, self.tol)
        if self.loss.classification:
            free = (lams == 0) | self.penalty.unpenalised(found.coefs.shape[1]).all()
            suspects = np.flatnonzero(free | (found.distances > self.tol))
            for k in suspects[np.argsort(lams[suspects])][:1]:
                if self._separated(found.coefs[[k]], found.intercepts[[k]]):
                    return _separable(float(lams[k]), free=bool(free[k]))
        return status

    def _separated(self, coef: Float64Array, b: Float64Array) -> bool:
        """Whether a solution tells the classes of all rows in use apart."""
        frame = self.frame
        Z = frame.predict(coef, b)[:, 0][frame.used]
        y = frame.y[frame.used]
        if not self.loss.per_class:
            return bool(np.all(y * Z > 0))
        return bool(np.all(np.argmax(Z, axis=1) == y[:, 0]) and np.ptp(Z, axis=1).min() > 0)


def _separable(lam: float, *, free: bool) -> Status:
    if free:
        return Status(
            StatusCode.SEPARABLE,
            "a plane separates the classes, so the loss has no minimiser: coefficients grow "
            "without end, and these are where the solver stopped.",
            "Use a penalty with `lam` > 0.",
        )
    return Status(
        StatusCode.SEPARABLE,
        f"a plane separates the classes, and lam={lam:.3g} hardly keeps the coefficients from "
        "growing without end.",
        "Use a larger `lam`.",
    )


def _no_null(loss: Loss, fold: int) -> InputError:
    """One class only, or nothing but zero counts: no intercept is best."""
    where = "all rows" if fold < 0 else f"the training rows of fold {fold}"
    problems = Problems()
    if loss.classification:
        problems.add(
            "class_missing_in_fold",
            f"{where} lack a class that other rows have, so no intercept is best",
            "Use tk.folds.Stratified, or fewer folds.",
        )
    else:
        problems.add(
            "no_constant",
            f"no constant prediction is best for {where}: every target is at the edge of the "
            f"range of {type(loss).__name__}",
            "Use fewer folds, or intercept=False.",
        )
    try:
        problems.raise_if_any()
    except InputError as error:
        return error
    raise AssertionError
