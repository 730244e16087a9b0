"""Fitting the same algorithm again: a problem or an estimator, at one strength.

A problem starts from the solution before, where its solver iterates; ridge and the lasso solve
directly. An estimator is made anew from its own arguments, at the strength it has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from tikhon._kernels import Stop
from tikhon.data.coerce import as_data
from tikhon.data.frames import frame_to_array, is_frame
from tikhon.errors import Problems, UnsupportedError
from tikhon.losses.base import Loss
from tikhon.problem.problem import Problem
from tikhon.results import Solution
from tikhon.solvers.choose import has_machine, is_ridge
from tikhon.solvers.solve import solve, solve_generic
from tikhon.theory.models import loss_of, one_output, parameters_of, signs_of
from tikhon.typing import Float64Array

__all__ = ["Refit", "rows_of", "table_of"]

TIGHT = 1e-12
"""Relative gap of refits: replacing one of m rows moves the solution by 1 / m only."""


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """An algorithm that can be run on any rows.

    Attributes
    ----------
    what : Problem or estimator
        An estimator may be fitted: its strength is then `lam_`, and nothing is chosen again.
    loss : Loss
    """

    what: Any
    loss: Loss

    @classmethod
    def of(cls, what: Any, loss: Loss | None = None) -> Refit:
        """Wrap a problem or an estimator."""
        if isinstance(what, Problem):
            return cls(what, what.loss)
        return cls(_at_its_strength(what), loss_of(what) if loss is None else loss)

    def targets(self, y: Any) -> Float64Array:
        """Return targets as the loss takes them."""
        classes = self.loss.classification or hasattr(self.what, "classes_")
        if classes and not isinstance(self.what, Problem):
            return signs_of(self.what, y)
        return np.asarray(y, dtype=np.float64)

    def fit(self, X: Any, y: Any, start: Solution | None = None) -> Solution | Any:
        """Fit some rows; a solution, or a fitted estimator."""
        if not isinstance(self.what, Problem):
            return type(self.what)(**parameters_of(self.what)).fit(X, y)
        problem = self.what
        penalty, d = problem.penalty, X.shape[1]
        if is_ridge(problem.loss, penalty) or has_machine(problem.loss, penalty, d):
            return solve(problem, X, y, tol=1e-10)
        return solve_generic(problem, as_data(X, y), start, TIGHT, Stop())

    def linear(self, fitted: Solution | Any) -> tuple[Float64Array, float]:
        """Return coefficients and intercept of what `fit` returned."""
        if isinstance(fitted, Solution):
            return fitted.coef, float(fitted.intercept)
        return one_output(fitted)


def _at_its_strength(model: Any) -> Any:
    """The same estimator, unfitted, with the strength that it has chosen."""
    parameters = parameters_of(model)
    if hasattr(model, "lam_") and parameters.get("norm") is None and "lam" in parameters:
        parameters["lam"] = float(np.max(model.lam_))
        for name, off in (("nested", False), ("prior", None)):
            if name in parameters:
                parameters[name] = off
        if hasattr(model, "l1_ratio_"):
            parameters["l1_ratio"] = float(model.l1_ratio_)
    again = type(model)(**parameters)
    if hasattr(model, "classes_"):
        again.classes_ = model.classes_
    return again


def table_of(X: Any) -> Any:
    """Return a table whose rows can be taken: a NumPy array, or CSR."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    if is_frame(X):
        problems = Problems()
        array, _ = frame_to_array(X, problems)
        problems.raise_if_any()
        return array
    array = np.asarray(X)
    if array.ndim != 2:
        raise UnsupportedError(f"`X` must be a table (n, d), got shape {array.shape}.")
    return array


def rows_of(upper: Any, lower: Any) -> Any:
    """Stack two tables."""
    if sparse.issparse(upper) or sparse.issparse(lower):
        parts: list[Any] = [upper, lower]
        return sparse.vstack(parts, format="csr")
    return np.vstack([upper, lower])
