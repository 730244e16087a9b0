"""The smoothness constant of an objective, from which the length of a safe step follows.

    L = (smoothness of the loss in z) (largest eigenvalue of sum_i p_i x~_i x~_i') + lam max_j l2_j

with ``x~ = (x, 1)`` where there is an intercept. Gradient descent with the step 1 / L descends at
every step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.data.design import Design
from tikhon.data.standardized import StandardizedDesign
from tikhon.typing import Float64Array

__all__ = ["Curvature", "top_curvature"]

MOST_PRODUCTS = 60
ACCURATE = 1e-2


@dataclass(frozen=True, slots=True)
class Curvature:
    """The largest eigenvalue, and the sweeps over the data it took."""

    value: float
    passes: float


def top_curvature(
    table: Design | StandardizedDesign, shares: Float64Array, *, intercept: bool
) -> Curvature:
    """Return the largest eigenvalue of ``sum_i p_i x~_i x~_i'``, by power iteration.

    The norm of what is left over is added: some eigenvalue lies within it, so that the result errs
    to the side of short steps.
    """
    d = table.shape[1]
    v = np.random.default_rng(0).standard_normal(d + 1)
    v[d] *= intercept
    v /= np.linalg.norm(v)
    value, passes = 0.0, 0.0
    for _ in range(MOST_PRODUCTS):
        q = shares * (table.predict(v[:d]) + v[d])
        Av = np.append(table.correlate(q), q.sum() if intercept else 0.0)
        passes += 2.0
        value = float(v @ Av)
        left = float(np.linalg.norm(Av - value * v))
        if left <= ACCURATE * value or value == 0.0:
            break
        v = Av / np.linalg.norm(Av)
    return Curvature(value + left, passes)
