"""A loss seen from an offset: ``z -> loss(y, z + o)`` on the rows it is bound to.

For solvers that take all rows at a time and know nothing of offsets: bound to the rows of one
problem, a loss with an offset is a loss like any other. Its conjugate is ``loss*(y, u) - u o``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.losses.base import Loss
from tikhon.problem.dual import conjugate_about
from tikhon.problem.null import best_constant
from tikhon.typing import Float64Array, FloatArray

__all__ = ["OffsetLoss"]


@dataclass(frozen=True, eq=False)
class OffsetLoss(Loss):
    """``loss(y, z + offset)``; arrays of targets and predictions must be of all rows.

    Parameters
    ----------
    loss : Loss
    offset : ndarray
        In the shape of the predictions, or one column of it.
    """

    loss: Loss
    offset: Float64Array

    def __post_init__(self) -> None:
        for name in ("name", "classification", "per_class", "has_conjugate", "link_name"):
            object.__setattr__(self, name, getattr(self.loss, name))

    @property
    def lipschitz(self) -> float | None:
        """Return that of the loss."""
        return self.loss.lipschitz

    @property
    def smoothness(self) -> float | None:
        """Return that of the loss."""
        return self.loss.smoothness

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``loss(y, z + offset)``."""
        return self.loss.value(y, z + self.offset)

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the derivative there."""
        return self.loss.derivative(y, z + self.offset)

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the second derivative there."""
        return self.loss.curvature(y, z + self.offset)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``loss*(y, u) - u offset``."""
        return conjugate_about(self.loss, y, np.asarray(u, dtype=np.float64), self.offset)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return the point of the domain nearest to `u`, which no offset moves."""
        return self.loss.feasible(y, u)

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the best constant on top of the offset."""
        return best_constant(self.loss, y, s, self.offset)
