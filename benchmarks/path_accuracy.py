r"""The common truth of penalties that set coefficients to 0: a certificate from below.

For any residual ``r`` with mean 0, scaled by t so that no group's correlation exceeds what the
penalty allows, the dual objective bounds the optimum from below:

.. math:: P(w, b) \ge D(u) = \tfrac1n y^\top u - \tfrac{1}{2n} \|u\|^2, \quad u = t r, \quad
          \tfrac1n \|X_g^\top u\| \le \lambda \sqrt{d_g}.

Whoever found ``r``, the bound holds: it is computed here from the raw data, and shares nothing with
any library. The residuals are those of one library's answers at a much tighter tolerance than is
asked for; bound and objective of these must be within `REFERENCE_GAP`, so the bound is the optimum
to that many digits. The suboptimality of an answer is its objective minus the bound, relative to
the objective of the null model: never too small, and too large by that gap at most.

With groups of one column, this is the lasso.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

import tikhon as tk

if TYPE_CHECKING:
    from benchmarks.problems import Problem

ASKED = 1e-12
REFERENCE_GAP = 1e-9


@dataclass(slots=True)
class PathReference:
    """Bounds on the optimum at every strength of one problem."""

    problem: Problem
    null: float = field(init=False)
    bounds: np.ndarray = field(init=False)
    gap: float = field(init=False)

    def __post_init__(self) -> None:
        problem = self.problem
        centred = problem.y - problem.y.mean()
        self.null = float(centred @ centred) / (2 * len(centred))
        coefs, intercepts = self._solved(np.arange(len(centred)))
        rows = zip(problem.lams, coefs, intercepts, strict=True)
        self.bounds = np.array([self._dual(lam, w, b) for lam, w, b in rows])
        self.gap = float(self.suboptimality(problem.lams, coefs, intercepts).max())
        if self.gap > REFERENCE_GAP:
            raise ArithmeticError(f"the reference stayed at relative gap {self.gap:.1e}")

    def _solved(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        problem = self.problem
        grouped = problem.group_size > 1
        penalty = tk.penalties.Group(problem.groups) if grouped else tk.penalties.L1()
        path = tk.path(
            tk.losses.Squared(),
            penalty,
            problem.X if len(rows) == len(problem.y) else problem.X[rows],
            problem.y[rows],
            lams=tk.Grid(values=problem.lams),
            tol=ASKED,
        )
        return path.coefs, path.intercepts

    def _residual(self, w: np.ndarray, b: float) -> np.ndarray:
        used = np.flatnonzero(w)
        return self.problem.y - self.problem.X[:, used] @ w[used] - b

    def _norms(self, v: np.ndarray) -> np.ndarray:
        """Norm of each group over the root of its size."""
        size = self.problem.group_size
        return np.sqrt((v.reshape(-1, size) ** 2).sum(axis=1) / size)

    def _dual(self, lam: float, w: np.ndarray, b: float) -> float:
        r = self._residual(w, b)
        r -= r.mean()
        n = len(r)
        largest = float(self._norms(self.problem.X.T @ r / n).max())
        u = r * min(1.0, lam / largest)
        return float(self.problem.y @ u - u @ u / 2) / n

    def _objective(self, lam: float, w: np.ndarray, b: float) -> float:
        r = self._residual(w, b)
        penalty = self.problem.group_size * float(self._norms(w).sum())
        return float(r @ r) / (2 * len(r)) + lam * penalty

    def suboptimality(
        self, lams: np.ndarray, coefs: np.ndarray, intercepts: np.ndarray
    ) -> np.ndarray:
        """Relative gaps (L,) of a library's answers; infinite where not finite."""
        gaps = np.empty(len(lams))
        for k, (lam, w, b) in enumerate(zip(lams, coefs, intercepts, strict=True)):
            place = int(np.argmin(np.abs(np.log(self.problem.lams / lam))))
            if not np.isclose(self.problem.lams[place], lam, rtol=1e-9):
                raise ValueError(f"lam = {lam} is not a strength of the problem.")
            gaps[k] = (self._objective(lam, w, b) - self.bounds[place]) / self.null
        return np.where(np.isfinite(gaps), gaps, np.inf)

    def curve(self) -> np.ndarray | None:
        """Mean held-out squared error at every strength, from the rows; None without folds."""
        if self.problem.n_folds == 1:
            return None
        errors = []
        for train, held in self.problem.splits():
            coefs, intercepts = self._solved(train)
            Z = self.problem.X[held] @ coefs.T + intercepts
            errors.append(np.mean((self.problem.y[held, None] - Z) ** 2, axis=0))
        return np.mean(errors, axis=0)
