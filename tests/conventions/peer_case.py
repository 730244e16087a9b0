"""One comparison: another package fits, and its solution must be optimal here, at no other lam."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from optimality import relative_gap
from real_data import DIABETES

import tikhon as tk

TARGETS = {
    "squared": "real",
    "epsilon_insensitive": "real",
    "logistic": "sign",
    "hinge": "sign",
    "squared_hinge": "sign",
    "multinomial": "code",
    "poisson": "count",
    "gamma": "real",
}


@dataclass(frozen=True)
class Case:
    """What is fitted, and how exactly.

    Attributes
    ----------
    name : str
        The convention.
    loss : Loss
    fit : callable
        ``fit(X, y, s, **parameters) -> w, b``, with the parameters of `from_lam`.
    tol : float
        Largest relative duality gap; what the other package reaches at its tightest tolerance.
    label : str
        What is special: a solver, an option.
    target : str, optional
        Key of the targets in the table; by default what suits the loss.
    lam, l1_ratio : float
    intercept, weighted : bool
    columns : tuple of int
    standardized : bool
        Whether the package standardises the columns.
    ddof : int
        1 where it takes standard deviations with 1/(n - 1).
    missed : float
        A strength that is wrong by this factor must be seen.
    """

    name: str
    loss: Any
    fit: Callable
    tol: float
    label: str = ""
    target: str | None = None
    lam: float = 0.1
    l1_ratio: float = 0.0
    intercept: bool = True
    weighted: bool = False
    columns: tuple[int, ...] = tuple(range(10))
    standardized: bool = False
    ddof: int = 0
    missed: float = 1.05

    def __str__(self):
        return f"{self.name} {self.label}".strip()

    def gaps(self):
        """Relative gaps of the foreign solution at lam, and at lam made larger and smaller."""
        X, y = DIABETES.X[:, self.columns], DIABETES.targets[self.target or TARGETS[self.loss.name]]
        s = DIABETES.weights if self.weighted else None
        known = {"n": len(X) if s is None else s.sum(), "y_sd": y.std(ddof=self.ddof)}
        parameters = tk.conventions.from_lam(self.name, self.lam, self.l1_ratio, **known)
        w, b = self.fit(X, y, s, **parameters)
        if not self.intercept:
            assert b == 0
        if self.standardized:
            spread = X.std(axis=0, ddof=self.ddof)
            X, w = X / spread, w * spread
        strength = tk.conventions.to_lam(self.name, **known, **parameters)
        lams = [strength.lam * factor for factor in (1.0, self.missed, 1 / self.missed)]
        problems = [tk.Problem(self.loss, strength.penalty, lam, self.intercept) for lam in lams]
        return [relative_gap(problem, X, y, w, b, s) for problem in problems]
