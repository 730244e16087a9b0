r"""The common truth every library is held against: ridge solved by Cholesky, refined on the data.

With centred data and :math:`H = X^\top X / n + \lambda I`, the gap of any ``w`` is known without
cancellation from the reference ``w*``:

.. math:: P(w, b) - P(w_*, b_*) = \tfrac{1}{2n} \|X (w - w_*) + (b - b_*)\|^2
          + \tfrac{\lambda}{2} \|w - w_*\|^2

The reference itself is certified: its own gap is exactly :math:`\tfrac12 g^\top H^{-1} g` for its
gradient ``g``, and must be below 1e-12. Gaps are relative to the objective of the null model (no
coefficient, intercept alone), as in tikhon's certificates.

The cross-validation curve is computed from the rows, one Cholesky per strength and fold, sharing
nothing with the method under test.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la

if TYPE_CHECKING:
    from benchmarks.problems import Problem

REFERENCE_GAP = 1e-12


@dataclass(slots=True)
class RidgeReference:
    """Certified ridge solutions of one problem at any strengths."""

    problem: Problem
    X: np.ndarray = field(init=False)
    y: np.ndarray = field(init=False)
    null: float = field(init=False)
    tall: bool = field(init=False)
    product: np.ndarray = field(init=False)
    gap: float = field(init=False, default=0.0)
    known: dict[bytes, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problem = self.problem
        self.X = problem.X - problem.X.mean(axis=0)
        self.y = problem.y - problem.y.mean()
        n, d = self.X.shape
        self.null = float(self.y @ self.y) / (2 * n)
        self.tall = n >= d
        self.product = (self.X.T @ self.X if self.tall else self.X @ self.X.T) / n

    def solve(self, lams: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (L, d) and intercepts (L,), each with a relative gap certified < 1e-12."""
        key = lams.tobytes()
        if key not in self.known:
            W = self._refine(lams)
            intercepts = self.problem.y.mean() - W @ self.problem.X.mean(axis=0)
            self.known[key] = W, intercepts
        return self.known[key]

    def _refine(self, lams: np.ndarray) -> np.ndarray:
        n, d = self.X.shape
        identity = np.eye(min(n, d))
        factors = [la.cho_factor(self.product + lam * identity) for lam in lams]
        W = np.zeros((len(lams), d))
        for _ in range(10):
            G = (W @ self.X.T - self.y) @ self.X / n + lams[:, None] * W
            steps = self._newton(factors, G, lams)
            gaps = np.abs(np.sum(G * steps, axis=1)) / (2 * self.null)
            # One step beyond the requirement: it costs nothing and buys several digits.
            W -= steps
            if gaps.max() <= REFERENCE_GAP:
                self.gap = max(self.gap, float(gaps.max()))
                return W
        raise ArithmeticError(f"the reference stayed at relative gap {gaps.max():.1e}")

    def _newton(
        self, factors: list[tuple[np.ndarray, bool]], G: np.ndarray, lams: np.ndarray
    ) -> np.ndarray:
        """H^{-1} g, row by row; by the Woodbury identity when columns outnumber rows."""
        right = G if self.tall else G @ self.X.T
        S = np.array([la.cho_solve(factor, r) for factor, r in zip(factors, right, strict=True)])
        return S if self.tall else (G - S @ self.X / len(self.y)) / lams[:, None]

    def suboptimality(
        self, lams: np.ndarray, coefs: np.ndarray, intercepts: np.ndarray
    ) -> np.ndarray:
        """Relative gaps (L,) of a library's answers; infinite where not finite."""
        W, b = self.solve(lams)
        dW, db = coefs - W, intercepts - b
        dZ = dW @ self.problem.X.T + db[:, None]
        gaps = (np.mean(dZ**2, axis=1) + lams * np.sum(dW**2, axis=1)) / (2 * self.null)
        return np.where(np.isfinite(gaps), gaps, np.inf)

    def curve(self) -> np.ndarray:
        """Mean held-out squared error at every strength."""
        errors = [self._held_out(train, held) for train, held in self.problem.splits()]
        return np.mean(errors, axis=0)

    def _held_out(self, train: np.ndarray, held: np.ndarray) -> np.ndarray:
        X, y, lams = self.problem.X, self.problem.y, self.problem.lams
        x_mean, y_mean, m = X[train].mean(axis=0), y[train].mean(), len(train)
        Z, v = X[train] - x_mean, y[train] - y_mean
        system = Z.T @ Z if self.tall else Z @ Z.T
        right = Z.T @ v if self.tall else v
        identity = np.eye(len(system))
        A = np.column_stack(
            [la.solve(system + m * lam * identity, right, assume_a="pos") for lam in lams]
        )
        residuals = y[held, None] - y_mean - (X[held] - x_mean) @ (A if self.tall else Z.T @ A)
        return np.mean(residuals**2, axis=0)


def curve_difference(curve: np.ndarray | None, truth: np.ndarray | None) -> float | None:
    """Largest relative difference of a library's curve, over the strengths it reports."""
    if curve is None or truth is None:
        return None
    told = np.isfinite(curve)
    return float(np.max(np.abs(curve[told] - truth[told]) / truth[told]))


def nearest(lams: np.ndarray, lam: float) -> int:
    """Place of a selected strength in the grid, whatever rounding its conversion left."""
    return int(np.argmin(np.abs(np.log(lams / lam))))
