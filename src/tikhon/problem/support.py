r"""Support vector problems: one form for the hinge, the squared hinge and the tube.

    min over f, b:   sum_i p_i loss(y_i, f(x_i) + b) + (lam / 2) ||f||^2

With ``f = sum_i beta_i k(x_i, .)`` and ``u = lam beta`` its dual is

    max  t'u - tube ||u||_1 - sum_i quadratic_i u_i^2 / 2 - u'Ku / (2 lam),
    lower <= u <= upper,      sum u = 0 where the offset is free.

hinge           t = y, tube 0, quadratic 0, u between 0 and p_i y_i
squared hinge   t = y, tube 0, quadratic 1 / p_i, u on the side of y_i
tube            t = y, tube eps, quadratic 0, u between -p_i and p_i
squares         t = y, tube 0, quadratic 1 / p_i, u anywhere: kernel ridge

(The lecture's dual lacks the box ``alpha_i <= C = p_i / lam``, and its constraint must read
``sum_i y_i alpha_i = 0``.) With residuals ``r = t - f - b``, primal minus dual is a sum over rows
of terms that are never negative, and zero for all rows exactly at the optimum: complementary
slackness, row by row, is the certificate.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tikhon.results import Certificate
from tikhon.typing import Float64Array

__all__ = ["OFFSETS", "SupportProblem", "check_offset"]

OFFSETS = ("constraint", "none", "augmented")
"""A free offset, none, or one that is penalised like a coefficient."""


@dataclass(frozen=True, slots=True, eq=False)
class SupportProblem:
    """Targets, box and offset of a support vector problem, for any strength.

    Attributes
    ----------
    target, lower, upper, quadratic : ndarray of shape (n,)
        The box is that of u; ``lower = upper = 0`` for rows that take no part.
    tube : float
    offset : str
        One of `OFFSETS`.
    """

    target: Float64Array
    lower: Float64Array
    upper: Float64Array
    quadratic: Float64Array
    tube: float
    offset: str

    @classmethod
    def classes(
        cls, y: Float64Array, p: Float64Array, *, squared: bool = False, offset: str = "constraint"
    ) -> SupportProblem:
        """Return the machine for classes -1 and +1, with row weights p that sum to 1."""
        box = np.where(p > 0, np.inf, 0.0) if squared else p
        quadratic = np.divide(1.0, p, out=np.zeros_like(p), where=p > 0) if squared else 0.0 * p
        lower, upper = np.where(y > 0, 0.0, -box), np.where(y > 0, box, 0.0)
        return cls(y, lower, upper, quadratic, 0.0, check_offset(offset))

    @classmethod
    def tubes(
        cls, y: Float64Array, p: Float64Array, tube: float, *, offset: str = "constraint"
    ) -> SupportProblem:
        """Return support vector regression: residuals within `tube` cost nothing."""
        return cls(y, -p, p, 0.0 * p, float(tube), check_offset(offset))

    @classmethod
    def squares(
        cls, y: Float64Array, p: Float64Array, *, offset: str = "constraint"
    ) -> SupportProblem:
        """Return kernel ridge: half the squared residual, whatever its sign."""
        box = np.where(p > 0, np.inf, 0.0)
        quadratic = np.divide(1.0, p, out=np.zeros_like(p), where=p > 0)
        return cls(y, -box, box, quadratic, 0.0, check_offset(offset))

    @property
    def free(self) -> bool:
        """Whether the offset is free."""
        return self.offset == "constraint"

    @property
    def active(self) -> Float64Array:
        """Rows that take part."""
        return np.asarray(self.lower < self.upper)

    @property
    def squared(self) -> bool:
        """Whether the loss is a square, on one side or on both."""
        return bool(np.any(self.quadratic > 0))

    def losses(self, r: Float64Array) -> Float64Array:
        """Return the weighted loss of each row at residuals ``r = t - f - b``, (..., n)."""
        if self.squared:
            lossy = np.where(self.upper > 0, np.maximum(r, 0.0), 0.0)
            lossy = lossy + np.where(self.lower < 0, np.minimum(r, 0.0), 0.0)
            weight = np.divide(
                1.0, self.quadratic, out=np.zeros_like(self.quadratic), where=self.quadratic > 0
            )
            return np.asarray(0.5 * weight * lossy**2)
        above, below = np.maximum(r - self.tube, 0.0), np.maximum(-r - self.tube, 0.0)
        return np.asarray(self.upper * above - self.lower * below)

    def slack(self, r: Float64Array, u: Float64Array) -> Float64Array:
        """Return each row's share of the duality gap, (n,): 0 where slackness is complementary."""
        conjugate = self.tube * np.abs(u) + 0.5 * self.quadratic * u**2
        return np.maximum(self.losses(r) + conjugate - u * r, 0.0)

    def violation(self, r: Float64Array, u: Float64Array) -> Float64Array:
        """Return by how much the slope of the dual in each u_i points out of its box, (n,)."""
        slope = r - self.quadratic * u
        up = np.where(u < self.upper, slope - np.where(u < 0, -self.tube, self.tube), 0.0)
        down = np.where(u > self.lower, slope - np.where(u > 0, self.tube, -self.tube), 0.0)
        return np.maximum(np.maximum(up, -down), 0.0)

    def null(self) -> tuple[float, float]:
        """Return the best constant (0 unless the offset is free) and the mean loss there."""
        b = self.best_offset(self.target) if self.free else 0.0
        return b, float(self.losses(self.target - b).sum())

    def best_offset(self, f: Float64Array) -> float:
        """Return the b that minimises the mean loss at residuals ``f - b``."""
        if self.squared:
            return self._newton_offset(f)
        kinks = np.concatenate([f - self.tube, f + self.tube])
        weight = np.concatenate([self.upper, -self.lower])
        kinks, weight = kinks[weight > 0], weight[weight > 0]
        if not len(kinks):
            return 0.0
        order = np.argsort(kinks, kind="stable")
        kinks, slope = kinks[order], np.cumsum(weight[order]) - self.upper.sum()
        rounding = 1e-13 * max(float(self.upper.sum()), float(-self.lower.sum()))
        first = int(np.argmax(slope >= -rounding))
        if abs(slope[first]) <= rounding and first + 1 < len(kinks):
            return float(kinks[first] / 2 + kinks[first + 1] / 2)
        return float(kinks[first])

    def _newton_offset(self, f: Float64Array) -> float:
        live = self.quadratic > 0
        f, above, below = f[live], self.upper[live] > 0, self.lower[live] < 0
        weight = 1.0 / self.quadratic[live]
        b = float(weight @ f / weight.sum())
        for _ in range(100):
            r = f - b
            lossy = (above & (r > 0)) | (below & (r < 0))
            if not lossy.any():
                break
            step = float((weight * r)[lossy].sum() / weight[lossy].sum())
            b += step
            if abs(step) <= 1e-15 * (1.0 + abs(b)):
                break
        return b

    def balanced(self, u: Float64Array) -> Float64Array:
        """Return the point nearby that is feasible: in the box, and of sum zero where it must be.

        Coefficients between their bounds make up for the sum in proportion to their room, so that
        those at a bound stay there; if their room is too small, the heavier sign is scaled down.
        """
        u = np.clip(u, self.lower, self.upper)
        excess = float(u.sum())
        if not self.free or excess == 0.0:
            return u
        limit = self.lower if excess > 0 else self.upper
        if self.tube > 0:  # the tube has a kink at zero: nobody is to cross it
            limit = np.where(u * excess > 0, 0.0, limit)
        inside = (u > self.lower) & (u < self.upper) & ((u != 0) | (self.tube == 0))
        room = np.where(inside, np.abs(np.clip(limit, u - 1.0, u + 1.0) - u), 0.0)
        total = float(room.sum())
        if total > 2.0 * abs(excess):
            return np.clip(u - excess * (room / total), self.lower, self.upper)
        plus, minus = float(u[u > 0].sum()), float(-u[u < 0].sum())
        if plus > minus:
            return np.where(u > 0, u * (minus / plus), u)
        return np.where(u < 0, u * (plus / minus), u) if minus > plus else u

    def certificate(
        self,
        lam: float,
        u: Float64Array,
        f: Float64Array,
        b: float,
        *,
        square: float | None = None,
        apart: float = 0.0,
    ) -> tuple[Certificate, Float64Array]:
        """Return the certificate of a feasible u, and each row's share of the gap, (n,).

        Parameters
        ----------
        lam : float
        u : ndarray of shape (n,)
        f : ndarray of shape (n,)
            ``K u / lam``, computed from the data; for an offset that is penalised, with its share.
        b : float
            The free offset, else 0.
        square : float, optional
            ``lam ||f||^2``; by default that of ``f = K u / lam``.
        apart : float
            ``lam ||f - K u / lam||^2 / 2``, for a primal point of its own.
        """
        r = self.target - f - b
        slack = self.slack(r, u)
        gap = float(slack.sum()) + float(apart)
        null = self.null()[1]
        square = max(float(u @ f), 0.0) if square is None else square
        objective = float(self.losses(r).sum()) + 0.5 * square
        relative = float(gap / null) if null > 0 else gap
        largest = float(self.violation(self.target, np.zeros_like(u)).max(initial=0.0))
        violation = float(self.violation(r, u)[self.active].max(initial=0.0))
        bound = float(np.sqrt(2.0 * gap / lam)) if lam > 0 else None
        kkt = violation / largest if largest > 0 else violation
        return Certificate(relative, kkt, objective, null, bound), slack


def check_offset(offset: str) -> str:
    """Return `offset` if it is one of `OFFSETS`."""
    if offset not in OFFSETS:
        raise ValueError(
            f"`offset` must be one of {', '.join(map(repr, OFFSETS))}, got {offset!r}."
        )
    return offset
