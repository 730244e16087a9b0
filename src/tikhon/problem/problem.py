"""The one objective of the library, and the certificates of a candidate solution.

    P(w, b) = (1 / sum s) sum_i s_i loss(y_i, x_i . w + b)  +  lam R(w)

For u with ``sum s u = 0`` (if there is an intercept) Fenchel's inequality gives the lower bound

    D(u) = -(1 / sum s) sum_i s_i loss*(y_i, -u_i)  -  lam R*(X' diag(s) u / (lam sum s))

so ``gap = P - D`` bounds the distance from the optimum. The dual point is minus the derivative of
the loss at the candidate, balanced for the intercept and scaled until R* is finite: at the optimum
it is the optimal one and the gap is zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.penalties.base import Penalty
from tikhon.problem.dual import balanced, mean_floor, row_shares
from tikhon.results import Certificate
from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = ["Problem", "Yardstick"]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What figures of a certificate are relative to: the null model on the same rows.

    Attributes
    ----------
    objective : float
        Of the null model.
    worth : float
        How much there is to gain at most: `objective` less the best mean loss of any prediction.
    slope : float
        Norm of the gradient in the coefficients there.
    """

    objective: float
    worth: float
    slope: float

    def relative_gap(self, gap: float) -> float:
        """Return a gap as a share of what there is to gain."""
        return gap / self.worth if self.worth > 0 else gap

    def relative_kkt(self, kkt: float) -> float:
        """Return a violation as a share of the null model's gradient."""
        return kkt / (self.slope if self.slope > 0 else 1.0)


@dataclass(frozen=True, slots=True)
class Problem:
    """Loss, penalty, strength, and whether there is an unpenalised intercept.

    Parameters
    ----------
    loss : Loss
    penalty : Penalty
    lam : float
        The strength, >= 0.
    intercept : bool, default True

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> problem = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam=1.0, intercept=False)
    >>> X, y = np.array([[1.0], [1.0]]), np.array([2.0, 2.0])
    >>> problem.value(X, y, np.array([1.0]))  # (2 - 1)^2 / 2 + 1^2 / 2
    1.0
    >>> problem.duality_gap(X, y, np.array([1.0]))
    0.0
    """

    loss: Loss
    penalty: Penalty
    lam: float
    intercept: bool = True

    def __post_init__(self) -> None:
        if not self.lam >= 0 or not np.isfinite(self.lam):
            raise ValueError(
                f"`lam` must be finite and >= 0, got {self.lam}. Use 0 for no regularization."
            )

    def value(self, X: Any, y: FloatArray, w: FloatArray, b: Any = 0.0, s: Any = None) -> float:
        """Return the objective at coefficients `w` and intercept `b`, with row weights `s`."""
        z = _products(X).predict(w) + b
        return self._mean(self.loss.value(y, z), s) + self._penalty(w)

    def mean_loss(self, y: FloatArray, z: FloatArray, s: Any = None) -> float:
        """Return the weighted mean loss of predictions `z`, without the penalty."""
        return self._mean(self.loss.value(y, z), s)

    def gradient(
        self, X: Any, y: FloatArray, w: FloatArray, b: Any = 0.0, s: Any = None
    ) -> tuple[Float64Array, Any]:
        """Return the gradient of the mean loss in `w` and in `b` (the penalty not included)."""
        table = _products(X)
        u = self.slopes(y, table.predict(w) + b, s)
        return table.correlate(u), u.sum(axis=0)

    def slopes(self, y: FloatArray, z: FloatArray, s: Any = None) -> Float64Array:
        """Return the gradient of the mean loss in the predictions `z`, with row weights `s`."""
        return _weigh(self.loss.derivative(y, z), s)

    def duality_gap(
        self,
        X: Any,
        y: FloatArray,
        w: FloatArray,
        b: Any = 0.0,
        s: Any = None,
        subgradients: FloatArray | None = None,
    ) -> float:
        """Return ``P(w, b) - D(u)`` at the dual point of `w`: an upper bound on P - P*.

        u is minus the derivative of the loss at the candidate or, where `subgradients` are given,
        minus these: at a kink the derivative is any number in between, and the best one is not
        known to the loss. Whatever is given is made feasible first, so the bound holds.

        inf where no feasible dual point of that form exists (a strength of 0, say), nan where
        the loss or the penalty has no conjugate.
        """
        if not (self.loss.has_conjugate and self.penalty.has_conjugate):
            return float("nan")
        table = _products(X)
        z = table.predict(w) + b
        slopes = self.loss.derivative(y, z) if subgradients is None else subgradients
        v = np.asarray(self.loss.feasible(y, slopes), dtype=np.float64)
        if self.lam == 0:
            return self._gap_without_strength(table, v, w, s)
        free = self.penalty.unpenalised(table.shape[1])
        if free.any():
            if not isinstance(self.loss, Squared):
                return float("nan")  # no projection onto the orthogonal complement stays feasible
            v = self._orthogonal(table, v, np.flatnonzero(free), s)
        elif self.intercept:
            v = balanced(self.loss, y, v, row_shares(len(v), s))
        correlation = -table.correlate(_weigh(v, s)) / self.lam
        correlation[free] = 0.0
        t = self.penalty.dual_scale(correlation)
        dual = -self._mean(self.loss.conjugate(y, t * v), s)
        dual -= self.lam * self.penalty.conjugate(t * correlation)
        primal = self._mean(self.loss.value(y, z), s) + self._penalty(w)
        return max(float(primal - dual), 0.0)

    def kkt(self, X: Any, y: FloatArray, w: FloatArray, b: Any = 0.0, s: Any = None) -> float:
        """Return the norm of the violation of the optimality conditions, absolute."""
        g, g_b = self.gradient(X, y, w, b, s)
        if self.lam == 0:
            left = float(np.linalg.norm(g))
        else:
            distance = self.penalty.subgradient_distance(np.asarray(w), g / self.lam)
            left = self.lam * float(np.linalg.norm(distance))
        return float(np.hypot(left, np.linalg.norm(g_b))) if self.intercept else left

    def null(self, X: Any, y: FloatArray, s: Any = None) -> tuple[Float64Array, Any]:
        """Return the null model: coefficients 0 and the best constant (0 without intercept)."""
        columns = (int(np.max(y)) + 1,) if self.loss.per_class else np.shape(y)[1:]
        w = np.zeros((_products(X).shape[1], *columns))
        if not self.intercept:
            return w, np.zeros(columns)
        return w, self.loss.null_prediction(y, s)

    def lam_max(self, X: Any, y: FloatArray, s: Any = None) -> float:
        """Return the smallest strength at which every penalised coefficient is zero."""
        table = _products(X)
        w, b = self.null(table, y, s)
        if self.penalty.unpenalised(table.shape[1]).any():
            w, b = self._fit_unpenalised(table, y, s)
        g, _ = self.gradient(table, y, w, b, s)
        return self.penalty.lam_max(g)

    def certificate(
        self,
        X: Any,
        y: FloatArray,
        w: FloatArray,
        b: Any = 0.0,
        s: Any = None,
        subgradients: FloatArray | None = None,
    ) -> Certificate:
        """Return gap and KKT residual, relative to the null model, from the raw data.

        `subgradients` are those of a dual point, for `duality_gap`.
        """
        table = _products(X)
        w, y = np.asarray(w, dtype=np.float64), np.asarray(y, dtype=np.float64)
        null = self.yardstick(table, y, s)
        gap = self.duality_gap(table, y, w, b, s, subgradients)
        mu = self.lam * self.penalty.strong_convexity
        bound = float(np.sqrt(2.0 * gap / mu)) if mu > 0 and np.isfinite(gap) else None
        return Certificate(
            gap=null.relative_gap(gap),
            kkt=null.relative_kkt(self.kkt(table, y, w, b, s)),
            objective=self.value(table, y, w, b, s),
            null_objective=null.objective,
            error_bound=bound,
        )

    def yardstick(self, X: Any, y: FloatArray, s: Any = None) -> Yardstick:
        """Return what the null model is like: certificates are relative to it."""
        table = _products(X)
        w, b = self.null(table, y, s)
        objective = self.value(table, y, w, b, s)
        if np.isinf(objective):  # bounds that exclude 0: what the loss alone has to gain
            objective = self.mean_loss(y, table.predict(w) + b, s)
        g, _ = self.gradient(table, y, w, b, s)
        return Yardstick(
            objective, objective - mean_floor(self.loss, y, s), float(np.linalg.norm(g))
        )

    def _penalty(self, w: FloatArray) -> float:
        """``lam R(w)``; a constraint stays a constraint at strength 0."""
        R = self.penalty.value(np.asarray(w))
        return R if np.isinf(R) else self.lam * R

    def _mean(self, values: FloatArray, s: Any) -> float:
        """Weighted mean over rows, summed over targets."""
        if s is None:
            return float(np.sum(values, dtype=np.float64) / len(values))
        used = np.asarray(s) > 0
        return float(np.tensordot(np.asarray(s)[used], values[used], axes=1).sum() / np.sum(s))

    def _gap_without_strength(self, table: _Table, v: Float64Array, w: FloatArray, s: Any) -> float:
        """Without a penalty the dual point must be orthogonal to the columns: project it there.

        The projection is available for the squared loss, whose domain is the whole line.
        """
        if not isinstance(self.loss, Squared) or np.isinf(self.penalty.value(np.asarray(w))):
            return float("inf")
        left = self._orthogonal(table, v, np.arange(table.shape[1]), s)
        return self._mean((v - left) ** 2, s) / 2.0

    def _orthogonal(
        self, table: _Table, v: Float64Array, columns: IntArray, s: Any
    ) -> Float64Array:
        """What is left of `v` after projection on some columns and the intercept's."""
        A = self._columns(table, columns)
        root = np.ones(len(A)) if s is None else np.sqrt(np.asarray(s, dtype=np.float64))
        found = np.linalg.lstsq(A * root[:, None], (v.T * root).T, rcond=None)[0]
        return np.asarray(v - A @ found)

    def _columns(self, table: _Table, columns: IntArray) -> Float64Array:
        """Some columns, dense, and the constant one if there is an intercept."""
        unit = np.zeros((table.shape[1], len(columns)))
        unit[columns, np.arange(len(columns))] = 1.0
        A = np.asarray(table.predict(unit))
        return np.column_stack([A, np.ones(len(A))]) if self.intercept else A

    def _fit_unpenalised(self, table: _Table, y: FloatArray, s: Any) -> tuple[Float64Array, Any]:
        """Least squares on the columns without a penalty, and the intercept."""
        if not isinstance(self.loss, Squared):
            raise UnsupportedError(
                "`lam_max` with unpenalised columns is computed for the squared loss; for "
                f"{type(self.loss).__name__}, fit the unpenalised columns first and pass their "
                "prediction as the null model, or give `lam` as numbers."
            )
        free = np.flatnonzero(self.penalty.unpenalised(table.shape[1]))
        A = self._columns(table, free)
        root = np.ones(len(A)) if s is None else np.sqrt(np.asarray(s, dtype=np.float64))
        found = np.linalg.lstsq(A * root[:, None], (y.T * root).T, rcond=None)[0]
        w = np.zeros((table.shape[1], *np.shape(y)[1:]))
        w[free] = found[: len(free)]
        return w, (found[len(free)] if self.intercept else 0.0)


_Table = Design | StandardizedDesign


def _products(X: Any) -> _Table:
    """Anything with `predict` and `correlate` is used as it is, an array is checked and wrapped."""
    return X if hasattr(X, "predict") and hasattr(X, "correlate") else as_design(X)


def _weigh(values: FloatArray, s: Any) -> Float64Array:
    """Divide by the number of rows, or multiply by the weights' share."""
    values = np.asarray(values, dtype=np.float64)
    if s is None:
        return values / len(values)
    share = np.asarray(s, dtype=np.float64) / np.sum(s)
    return np.asarray((values.T * share).T)
