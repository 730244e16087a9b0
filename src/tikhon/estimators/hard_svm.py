"""The support vector machine without slack: the widest margin, or a witness that there is none."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.design import Design
from tikhon.errors import InseparableError, UnsupportedError
from tikhon.estimators.classifier import Classifier
from tikhon.estimators.decompose import class_pairs, votes
from tikhon.estimators.support import clock
from tikhon.problem.support import SupportProblem
from tikhon.results import Certificate, Status, StatusCode
from tikhon.solvers.hard_margin import HardMargin, Witness, hard_margin, separate
from tikhon.solvers.support_linear import LinearTable
from tikhon.solvers.support_newton import newton_machine
from tikhon.typing import Float64Array

__all__ = ["HardSVM"]

OFFSETS = ("constraint", "none")
SOFT = 1e-6
"""Strength of the soft machine that stands in, over the mean of ||x||^2."""


class HardSVM(Classifier):
    """The support vector machine without slack, ``min ||w||^2 / 2, y_i (x_i . w + b) >= 1``.

    Its direction ``w / ||w||`` has the widest margin, ``max min_i y_i (x_i . w + b), ||w|| = 1``:
    lecture 001's two formulations. Where the convex hulls of the classes meet there is no such
    machine; `witness_` then holds convex weights of the rows of both classes with one mean.

    Parameters
    ----------
    inseparable : {"warn", "raise"}, default "warn"
        What to do where no machine separates: warn, with the status "inseparable", and keep a soft
        machine of next to no penalty; or raise `tk.InseparableError`.
    offset : {"constraint", "none"}, default "constraint"
    tol : float, default 1e-8
        Largest relative duality gap that counts as converged.
    max_seconds : float, optional

    Attributes
    ----------
    coef_ : ndarray of shape (machines, d)
        Formulation 2: the nearest rows have ``y (x . w + b) = 1``. For more than two classes there
        is a machine for each pair.
    intercept_ : ndarray of shape (machines,)
    direction_, direction_intercept_ : ndarray, likewise
        Formulation 1: the same hyperplane with ``||w|| = 1``.
    margin_ : float or ndarray of shape (machines,)
        The distance of the nearest row; 0 where no machine separates.
    support_ : ndarray of int
        Rows with a dual coefficient.
    dual_coef_ : ndarray of shape (machines, support)
    witness_ : Witness or None
        Of the first pair of classes whose hulls meet.
    classes_ : ndarray of shape (K,)
    certificate_ : Certificate
    status_ : Status
    n_features_in_ : int
    feature_names_in_ : ndarray of str, where X has column names

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [4.0, 5.0]])
    >>> model = tk.HardSVM().fit(X, [0, 0, 1, 1])
    >>> round(model.margin_, 6), (abs(model.direction_) > 1e-6).tolist()
    (1.5, [[True, False]])
    """

    foreign_strengths: ClassVar[dict[str, str]] = {
        "C": "C={value} allows slack: tk.LinearSVM with `lam` = 1 / (C n); for 1,000 rows "
        "{per_1000}.",
    }

    def __init__(
        self,
        *,
        inseparable: str = "warn",
        offset: str = "constraint",
        tol: float = 1e-8,
        max_seconds: float | None = None,
    ) -> None:
        self.inseparable = inseparable
        self.offset = offset
        self.tol = tol
        self.max_seconds = max_seconds

    class_weight = None

    def _fit_checked(self, data: Data) -> None:
        if self.inseparable not in ("warn", "raise"):
            raise ValueError(f"`inseparable` must be 'warn' or 'raise', got {self.inseparable!r}.")
        if self.offset not in OFFSETS:
            raise UnsupportedError(
                f"`offset` of a machine without slack must be 'constraint' or 'none', got "
                f"{self.offset!r}; a penalised one is tk.LinearSVM's."
            )
        stop = clock(self.max_seconds)
        count = len(self.classes_)
        codes = [-1.0, 1.0] if count == 2 else [float(k) for k in range(count)]
        pairs = [(codes[i], codes[j]) for i, j in class_pairs(count)]
        n = len(data.y)
        self.witness_: Witness | None = None
        found, alphas = [], np.zeros((len(pairs), n))
        for at, (low, high) in enumerate(pairs):
            y = data.y[:, 0]
            rows = np.intersect1d(np.flatnonzero((y == low) | (y == high)), data.used)
            sign = np.where(y[rows] == high, 1.0, -1.0)
            machine = self._pair(data.design.rows(rows), sign, rows, n, stop)
            alphas[at, rows] = sign * machine.alpha
            found.append(machine)
        self._keep(found, alphas)

    def _pair(self, design: Design, y: Float64Array, rows: Any, n: int, stop: Stop) -> HardMargin:
        """One pair of classes: its machine, or a witness and a soft machine in its place."""
        offset = self.offset == "constraint"
        table = LinearTable.of(design, None, standardize=False, offset=self.offset)
        answer = separate(table, y, offset=offset)
        if not isinstance(answer, Witness):
            start = answer * table.scale
            return hard_margin(table, y, start, offset=offset, tol=self.tol, stop=stop)
        weights = np.zeros(n)
        weights[rows] = answer.weights
        witness = Witness(weights, answer.point, answer.distance)
        if self.inseparable == "raise":
            raise InseparableError(
                f"no hyperplane separates the classes: {len(witness.rows)} rows, weighted by "
                f"`error.witness.weights`, have the same mean in both (to {answer.distance:.1e} "
                "standard deviations). Use tk.LinearSVM or tk.SVM, which allow slack.",
                witness,
            )
        self.witness_ = witness if self.witness_ is None else self.witness_
        problem = SupportProblem.classes(y, np.full(len(y), 1.0 / len(y)), offset=self.offset)
        strength = 1.0 / (SOFT * (table.mean_square() or 1.0))
        end = newton_machine(table, problem, strength, gap=1e-6, stop=stop)
        intercept = end.offset - float(table.mean @ end.w)
        z = y * (table.predict(end.w) + end.offset)
        return HardMargin(end.w / table.scale, intercept, y * end.beta, z, float("nan"))

    def _keep(self, found: list[HardMargin], alphas: Float64Array) -> None:
        """Set the fitted attributes."""
        self.coef_ = np.array([each.w for each in found])
        self.intercept_ = np.array([each.b for each in found])
        norms = np.linalg.norm(self.coef_, axis=1)
        safe = np.where(norms > np.finfo(np.float64).tiny, norms, 1.0)
        self.direction_ = self.coef_ / safe[:, None]
        self.direction_intercept_ = self.intercept_ / safe
        separated = np.array([np.isfinite(each.gap) for each in found])
        margins = np.where(separated, 1.0 / safe, 0.0)
        self.margin_ = float(margins[0]) if len(found) == 1 else margins
        self.support_ = np.flatnonzero(np.any(alphas != 0, axis=0))
        self.dual_coef_ = alphas[:, self.support_]
        worst = max((each.gap for each in found if np.isfinite(each.gap)), default=float("nan"))
        objective = 0.5 * float(norms.max()) ** 2
        gap = worst if separated.all() else float("nan")
        self._certify(Certificate(gap, gap, objective, objective), self._status(gap))

    def _status(self, gap: float) -> Status:
        if self.witness_ is not None:
            return Status(
                StatusCode.INSEPARABLE,
                f"the convex hulls of the classes meet: `witness_` has {len(self.witness_.rows)} "
                "rows whose weighted means agree; a soft machine stands in.",
                "Use tk.LinearSVM or tk.SVM.",
            )
        if gap <= self.tol:
            return Status(StatusCode.CONVERGED)
        return Status(
            StatusCode.MAX_ITER, f"gap {gap:.1e}, wanted {self.tol:.0e}.", "Scale the columns."
        )

    def _decide(self, design: Design) -> Float64Array:
        values = np.asarray(design.predict(np.asarray(self.coef_.T))) + self.intercept_
        return values[:, 0] if len(self.classes_) == 2 else votes(values, len(self.classes_))
