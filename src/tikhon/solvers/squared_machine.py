"""What machines for least squares share: certificates, corrections, degrees of freedom."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.losses import Squared
from tikhon.losses.base import Loss
from tikhon.penalties.base import Penalty
from tikhon.problem.penalised import Certified, penalised_certificates
from tikhon.problem.squared import Frame, NullModel
from tikhon.results import Status
from tikhon.solvers.degrees_of_freedom import degrees_of_freedom
from tikhon.solvers.penalised import CertifiedFit, judge
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array

__all__ = ["SquaredMachine"]


class SquaredMachine(ABC):
    """Least squares under one penalty; subclasses say how a path is solved."""

    loss: Loss = Squared()
    solves_zero = False
    penalty: Penalty
    tol: float
    stop: Stop

    @property
    @abstractmethod
    def training(self) -> Training:
        """What the table was prepared from."""

    @property
    @abstractmethod
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""

    @abstractmethod
    def null(self) -> NullModel:
        """Return the null model's figures."""

    @abstractmethod
    def corrected(self, lam: float, V: Float64Array, correlation: Float64Array) -> Float64Array:
        """Solve one strength again from coefficients V and the correlation seen at them."""

    def curvature(self) -> float:
        """Return the mean variance of the penalised columns."""
        if self.training.standardize:
            return 1.0
        return float(np.mean(self.training.design.stats(self.training.s).sd ** 2))

    def certify(
        self, null: Any, lams: Float64Array, coefs: Float64Array, intercepts: Float64Array
    ) -> Certified:
        """Certify solutions on all rows, in one pass."""
        return penalised_certificates(self.frame, self.penalty, lams, coefs, intercepts, null)

    def mended(self, lams: Float64Array, found: CertifiedFit) -> tuple[Float64Array, Float64Array]:
        """Solve strengths again from what was seen: coefficients and intercepts."""
        tried = np.stack(
            [
                self.corrected(float(lam), V, correlation)
                for lam, V, correlation in zip(lams, found.coefs, found.correlation, strict=True)
            ]
        )
        return tried, self.frame.to_user(tried * self.frame.view.scale[:, None])[1]

    def df(self, lams: Float64Array, found: CertifiedFit) -> Float64Array:
        """Return degrees of freedom of each strength, nan where they are unknown."""
        return degrees_of_freedom(self.frame, self.penalty, lams, found.coefs)

    def judge(self, lams: Float64Array, found: CertifiedFit, solved: int) -> Status:
        """Judge solutions by their gaps: the status of the worst of them."""
        return judge(lams, found.distances, solved, self.tol)
