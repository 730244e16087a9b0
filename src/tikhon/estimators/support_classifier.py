"""Support vector classifiers: classes to machines, machines to decisions and probabilities."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from tikhon.data.coerce import Data
from tikhon.errors import UnsupportedError
from tikhon.estimators.classifier import Classifier
from tikhon.estimators.decompose import class_pairs, votes
from tikhon.estimators.support import (
    FittedSupport,
    clock,
    fit_machines,
    outcome,
    strength_of,
    support_vectors,
)
from tikhon.paths.grid import Grid
from tikhon.results import Path
from tikhon.selection.decision_probabilities import Calibration, calibrate
from tikhon.selection.rules import as_rule
from tikhon.selection.scores import as_class_score
from tikhon.selection.study import Study
from tikhon.selection.support_study import SupportTasks, path_of, weights_of
from tikhon.solvers.support_machine import SupportMachine, Task
from tikhon.solvers.support_path import SupportPath
from tikhon.typing import Float64Array, IntArray

__all__ = ["MULTICLASS", "SupportClassifier"]

MULTICLASS = ("one_vs_one", "one_vs_rest")


class SupportClassifier(Classifier):
    """A support vector machine for two or more classes."""

    lam: Any
    multiclass: str
    folds: Any
    rule: Any
    scoring: Any
    max_seconds: float | None
    calibration_: Calibration | None
    study_: Study | None
    path_: Path

    @abstractmethod
    def _machines(self) -> list[SupportMachine]:
        """Return the machines to choose from."""

    def _fit_checked(self, data: Data) -> None:
        if self.multiclass not in MULTICLASS:
            raise ValueError(
                f"`multiclass` must be one of {', '.join(map(repr, MULTICLASS))}, got "
                f"{self.multiclass!r}."
            )
        as_rule(self.rule)
        lam = strength_of(self.lam)
        asked = self.folds is not None or isinstance(lam, Grid)
        fitted = fit_machines(
            self._machines(),
            data,
            self._tasks(data),
            lam,
            folds=self._folds(self.folds, data) if asked else None,
            rule=self.rule,
            score=as_class_score(self.scoring),
            stop=clock(self.max_seconds),
            user_grid=isinstance(self.lam, Grid),
        )
        self._keep(data, fitted)
        self.calibration_ = None
        if fitted.held_out is not None:
            classes = self._codes(data)
            self.calibration_ = calibrate(fitted.held_out, classes, weights_of(data))

    def _codes(self, data: Data) -> IntArray:
        y = data.y[:, 0]
        return np.asarray((y > 0) if len(self.classes_) == 2 else y).astype(np.int64)

    def _tasks(self, data: Data) -> SupportTasks:
        """The machines that the classes ask for, and how they decide together."""
        count, y = len(self.classes_), data.y[:, 0]
        everyone = np.ones(len(y), dtype=np.bool_)
        if count == 2:
            return SupportTasks([Task(y, everyone)], lambda values: values[:, 0])
        if self.multiclass == "one_vs_rest":
            tasks = [Task(np.where(y == k, 1.0, -1.0), everyone) for k in range(count)]
            return SupportTasks(tasks, lambda values: values)
        pairs = [
            Task(np.where(y == j, 1.0, -1.0), (y == i) | (y == j)) for i, j in class_pairs(count)
        ]
        return SupportTasks(pairs, lambda values: votes(values, count))

    def _together(self, values: Float64Array) -> Float64Array:
        """Decisions from the machines' values, (n, tasks)."""
        count = len(self.classes_)
        if count == 2:
            return values[:, 0]
        return votes(values, count) if self.multiclass == "one_vs_one" else values

    def _keep(self, data: Data, fitted: FittedSupport) -> None:
        """Set the fitted attributes."""
        support, solutions = fitted.support, fitted.solutions
        beta = np.array([each.beta[support] for each in solutions])
        targets = np.array([problem.target for problem in fitted.problems])
        values = np.array([each.f + each.offset_centred for each in solutions])
        self.lam_ = solutions[0].lam
        self.study_ = None if fitted.chosen is None else fitted.chosen.study
        self.lam_1se_ = float("nan")
        if self.study_ is not None and np.isfinite(self.study_.se).any():
            self.lam_1se_ = self.study_.lam("1se")
        self.path_ = self._path(data, fitted)
        self.solver_ = self.path_.solver
        self.support_ = support
        self.support_vectors_ = support_vectors(data.design, support)
        self.dual_coef_ = beta
        self.at_bound_ = _one(fitted.at_bound[:, support])
        self.margins_ = _one((targets * values)[:, support])
        self.slackness_ = _one(np.array([each.slack for each in solutions]))
        self.n_support_ = np.bincount(self._codes(data)[support], minlength=len(self.classes_))
        norms = np.sqrt([max(float(each.beta @ each.f), 0.0) for each in solutions])
        with np.errstate(divide="ignore"):
            self.margin_ = _one(1.0 / norms)
        self.intercept_ = fitted.offsets
        self._certify(*outcome(fitted))

    def _path(self, data: Data, fitted: FittedSupport) -> Path:
        if fitted.chosen is not None:
            return fitted.chosen.study.path
        paths = [SupportPath((each,), fitted.solver, 0.0) for each in fitted.solutions]
        return path_of(paths, np.array([self.lam_]), data)

    def _calibrated(self) -> bool:
        if self.folds is None and not isinstance(strength_of(self.lam), Grid):
            raise UnsupportedError(
                "probabilities are fitted on decisions of folds, and `lam` was given without "
                "`folds`; use folds=10, or lam='cv'."
            )
        return True

    @available_if(_calibrated)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64Array:
        """Predict the probability of each class, calibrated on held-out decisions.

        The predicted class is the one with the largest probability.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)

        Returns
        -------
        ndarray of shape (n, K)
        """
        decisions = self.decision_function(X)
        assert self.calibration_ is not None
        return self.calibration_.probabilities(decisions)


def _one(values: Any) -> Any:
    """The only row, where there is one machine."""
    return values[0] if len(values) == 1 else values
