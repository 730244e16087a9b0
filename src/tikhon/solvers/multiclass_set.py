"""Several classes on a working set: proximal Newton steps that move all classes together.

The curvature of a row is a matrix ``H_i = diag(p) - p p'``, so the quadratic model of a step
couples every column and class,

    K[(j, c), (j', e)] = sum_i p_i H_i[c, e] x_ij x_ij',

with the intercepts eliminated. As long as columns times classes are few this is one more small
problem for the compiled method; beyond, classes are uncoupled in the metric (never in the
gradient), which costs steps and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon import _kernels
from tikhon._kernels import Stop
from tikhon.losses.multinomial import Multinomial
from tikhon.solvers.gram_solution import SLACK
from tikhon.solvers.shared_products import Steps
from tikhon.solvers.smooth_set import Model, Point, SmoothSet
from tikhon.typing import Float64Array

__all__ = ["MulticlassSet"]

COUPLED = 1200
"""Columns times classes up to which the metric couples classes."""

ROUNDING = 4e-15


@dataclass(frozen=True, slots=True, eq=False)
class _ClassModel(Model):
    """Second moments (m k, m k), those with the intercepts (m k, k), and how these are solved."""

    cross: Float64Array
    inverse: Float64Array


class MulticlassSet(SmoothSet):
    """The multinomial loss of one training set."""

    def _metric(self, z: Float64Array, damping: float = 0.0) -> _ClassModel:
        loss, columns = self.rows.loss, self.columns
        assert isinstance(loss, Multinomial)
        A = self.store.data[:, self.store.places(columns)] - self.mean[columns]
        A /= self.unit[columns]
        m, k = len(columns), z.shape[1]
        H = loss.hessian(self.rows.y, z) * self.p[:, None, None]
        H += damping * self.p[:, None, None] * np.eye(k)
        H[self.out] = 0.0
        coupled = m * k <= COUPLED
        full = np.zeros((m, k, m, k))
        cross = np.zeros((m, k, k))
        between = H.sum(axis=0)
        for c in range(k):
            cross[:, c] = A.T @ H[:, c]
            for e in range(c, k) if coupled else (c,):
                block = A.T @ (A * H[:, c, e, None])
                full[:, c, :, e] = block
                full[:, e, :, c] = block.T
        inverse = np.linalg.pinv(between, hermitian=True)
        K = full.reshape(m * k, m * k)
        flat = cross.reshape(m * k, k)
        if self.rows.intercept and coupled:
            K = K - flat @ inverse @ flat.T
        elif self.rows.intercept:
            flat = np.zeros_like(flat)
        K = np.ascontiguousarray((K + K.T) / 2.0)
        return _ClassModel(K, np.empty(0), float(np.trace(between)), damping, flat, inverse)

    def _advance(
        self,
        lam: float,
        at: Point,
        g: Float64Array,
        sums: Float64Array,
        model: Model,
        stop: Stop,
    ) -> Steps[Point | None]:
        """Take a step of the quadratic model, shortened until the objective falls enough."""
        assert isinstance(model, _ClassModel)
        k = at.w.shape[1]
        pull = g.ravel().copy()
        if self.rows.intercept:
            pull -= model.cross @ (model.inverse @ sums)
        w = at.w.ravel()
        C = model.K @ w - pull
        form = self._part.coordinates(len(at.w))
        assert form is not None
        inner = np.repeat(self.inner[self.columns], k)
        l1, l2, lower, upper = (np.repeat(part, k) for part in form.arrays)
        found = _kernels.gram_path(
            model.K,
            C,
            (l1 * inner, l2 * inner**2, lower / inner, upper / inner),
            np.array([lam]),
            relative=SLACK * self.tol,
            absolute=ROUNDING * float(np.abs(C).max(initial=0.0)),
            start=w.copy(),
            stop=stop,
        )
        goal = found.coefs[0].reshape(at.w.shape)
        shift = np.zeros(k)
        if self.rows.intercept:
            shift = -(model.inverse @ (sums + model.cross.T @ (goal - at.w).ravel()))
        found_at: Point | None = yield from self._searched(
            lam, at, g, sums, goal, shift, hopeful=model.damping == 0.0
        )
        return found_at
