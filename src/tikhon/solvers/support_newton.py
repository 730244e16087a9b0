r"""Linear support vector machines by an augmented Lagrangian and semismooth Newton steps.

Dual descent moves one coefficient at a time and crawls where columns are of unequal size. This
method moves all of them: each round solves

    min over w, b   ||w||^2 / 2 + sum_i M_i(t_i - x_i . w - b),
    M_i(r) = max  beta r - tube |beta| - e_i beta^2 / 2 - (beta - beta'_i)^2 / (2 sigma),

over the box, from the coefficients beta' of the round before; the maximisers are the next ones. M_i
is smooth, so Newton's method applies. Its matrix ``I + X_J' S X_J`` holds only the rows J that are
neither at a bound nor at zero, and is factored from the smaller side. Rounds with a growing sigma
converge faster than linearly. For the squared hinge sigma is infinite and one round is all there
is, but for the offset.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from tikhon._kernels import Stop
from tikhon.problem.support import SupportProblem
from tikhon.typing import Float64Array, IntArray

__all__ = ["LinearRows", "NewtonEnd", "newton_machine"]

ROUNDS = 60
STEPS = 60
GROWTH = 4.0
LARGEST = 1e12
"""Growth of sigma beyond which rounding is all that is left."""

DIRECT = 3000
"""The smaller side up to which the matrix is factored."""


class LinearRows(Protocol):
    """Rows x_i as they enter the penalty: centred, scaled."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        ...

    def predict(self, w: Float64Array) -> Float64Array:
        """Return ``x_i . w``, (n,)."""
        ...

    def correlate(self, r: Float64Array) -> Float64Array:
        """Return ``sum_i r_i x_i``, (d,)."""
        ...

    def column_products(self, index: IntArray, weight: Float64Array) -> Float64Array:
        """Return ``A' diag(weight) A``, (d + 1, d + 1), for the rows ``[x_i, 1]`` of the index."""
        ...

    def row_products(self, index: IntArray) -> Float64Array:
        """Return ``x_i . x_j`` for the rows of the index."""
        ...

    def mean_square(self) -> float:
        """Return about the mean of ``||x_i||^2``."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class NewtonEnd:
    """Where it ended: coefficients of both kinds, the gap reached, and passes over the rows."""

    beta: Float64Array
    w: Float64Array
    offset: float
    gap: float
    passes: float
    stopped: bool


@dataclass(slots=True, eq=False)
class _State:
    """A point (w, b), its products with the rows, and the centre of the round."""

    w: Float64Array
    b: float
    f: Float64Array
    centre: Float64Array
    centre_b: float


@dataclass(frozen=True, slots=True, eq=False)
class _Smoothed:
    """The smooth losses of one round, for strength C."""

    problem: SupportProblem
    lower: Float64Array
    upper: Float64Array
    extra: Float64Array
    sigma: float

    def beta(self, r: Float64Array, centre: Float64Array) -> Float64Array:
        """Return the maximisers at residuals r."""
        if self.problem.squared:
            moved = np.divide(r, self.extra, out=np.zeros_like(r), where=self.extra > 0)
            return np.clip(moved, self.lower, self.upper)
        moved = centre + self.sigma * r
        width = self.sigma * self.problem.tube
        if width:
            moved = np.sign(moved) * np.maximum(np.abs(moved) - width, 0.0)
        return np.clip(moved, self.lower, self.upper)

    def slopes(self, beta: Float64Array) -> tuple[IntArray, Float64Array]:
        """Return the rows whose maximiser moves with r, and how fast."""
        inside = (beta > self.lower) & (beta < self.upper)
        if self.problem.tube > 0 or self.problem.squared:
            inside &= beta != 0
        index = np.flatnonzero(inside)
        if self.problem.squared:
            return index, 1.0 / self.extra[index]
        return index, np.full(len(index), self.sigma)


def newton_machine(
    rows: LinearRows,
    problem: SupportProblem,
    strength: float,
    *,
    gap: float,
    beta: Float64Array | None = None,
    offset: float = 0.0,
    stop: Stop | None = None,
) -> NewtonEnd:
    """Solve one linear support vector problem for ``C = strength``.

    Parameters
    ----------
    rows : LinearRows
    problem : SupportProblem
    strength : float
        ``C = 1 / lam``.
    gap : float
        Absolute duality gap to reach, for the mean loss.
    beta, offset
        Where to start; zeros by default.
    """
    n = rows.shape[0]
    stop = stop or Stop()
    centre = np.zeros(n) if beta is None else problem.balanced(beta / strength) * strength
    w = rows.correlate(centre)
    held = 0.0 if problem.offset == "augmented" else offset
    state = _State(w, offset, rows.predict(w), centre, held)
    positive = np.concatenate([problem.upper[problem.upper > 0], -problem.lower[problem.lower < 0]])
    sigma = float(np.mean(positive)) * strength if not problem.squared else np.inf
    first, extra = sigma, problem.quadratic / strength
    best = _End.of(rows, problem, strength, centre, state)
    passes = 3.0
    for _ in range(ROUNDS):
        if best.gap <= gap or stop.requested or stop.late:
            break
        smoothed = _Smoothed(
            problem, strength * problem.lower, strength * problem.upper, extra, sigma
        )
        goal = strength * (gap if problem.squared else max(gap, 0.02 * best.gap))
        passes += _minimise(rows, smoothed, state, goal, stop)
        state.centre = smoothed.beta(problem.target - state.f - state.b, state.centre)
        if problem.free:
            state.centre_b = state.b
        state.f = rows.predict(state.w)
        found = _End.of(rows, problem, strength, state.centre, state)
        passes += 2.0
        stuck = found.gap > 0.9 * best.gap and (problem.squared or sigma > LARGEST * first)
        best = found if found.gap < best.gap else best
        if stuck:
            break
        sigma *= GROWTH
    stopped = bool(stop.requested or stop.late) and best.gap > gap
    return NewtonEnd(best.beta, best.w, best.offset, best.gap, passes, stopped)


@dataclass(frozen=True, slots=True, eq=False)
class _End:
    """A feasible dual point, a primal one, its best offset, and the gap between them.

    The primal point is not ``sum_i beta_i x_i``: where columns are of very unequal size that sum
    cancels to fewer digits than the Newton steps have. What they differ by is part of the gap.
    """

    beta: Float64Array
    w: Float64Array
    offset: float
    gap: float

    @classmethod
    def of(
        cls,
        rows: LinearRows,
        problem: SupportProblem,
        strength: float,
        beta: Float64Array,
        state: _State,
    ) -> _End:
        u = problem.balanced(beta / strength)
        r = problem.target - state.f
        apart = state.w - rows.correlate(u * strength)
        offsets = [0.0 if problem.offset == "none" else state.b]
        if problem.free:
            offsets.append(problem.best_offset(r))
        gaps = [float(problem.slack(r - at, u).sum()) for at in offsets]
        best = int(np.argmin(gaps))
        gap = gaps[best] + 0.5 * float(apart @ apart) / strength
        if problem.offset == "augmented":
            gap += 0.5 * (state.b - strength * float(u.sum())) ** 2 / strength
        return cls(u * strength, state.w, float(offsets[best]), gap)


def _minimise(
    rows: LinearRows, smoothed: _Smoothed, state: _State, gap: float, stop: Stop
) -> float:
    """Newton's method on one round, from `state`, which it moves; return the passes it took."""
    problem = smoothed.problem
    damping = _offset_damping(rows, problem)
    passes = 0.0
    for _ in range(STEPS):
        if stop.requested or stop.late:
            break
        beta = smoothed.beta(problem.target - state.f - state.b, state.centre)
        g = state.w - rows.correlate(beta)
        g_b = damping * (state.b - state.centre_b) - float(beta.sum())
        if problem.offset == "none":
            g_b = 0.0
        passes += 1.0
        weight = float(np.abs(beta).sum())
        if 0.5 * float(g @ g) <= 1e-6 * gap and abs(g_b) <= max(1e-14 * weight, 1e-3 * gap):
            break
        index, slopes = smoothed.slopes(beta)
        dw, db = _newton_step(rows, problem, index, slopes, g, g_b, damping)
        along = rows.predict(dw) + db
        passes += 1.0
        length = _line_search(smoothed, state, dw, db, along, damping)
        if length == 0.0:
            break
        state.w = state.w + length * dw
        state.b += length * db
        state.f = state.f + length * (along - db)
    return passes


def _offset_damping(rows: LinearRows, problem: SupportProblem) -> float:
    """How strongly a round holds the offset: 1 where it is penalised, hardly where it is free."""
    if problem.offset == "augmented":
        return 1.0
    return 1e-4 / max(rows.mean_square(), float(np.finfo(np.float64).tiny))


def _newton_step(
    rows: LinearRows,
    problem: SupportProblem,
    index: IntArray,
    slopes: Float64Array,
    g: Float64Array,
    g_b: float,
    damping: float,
) -> tuple[Float64Array, float]:
    """Solve ``(D + A'A) step = -gradient``, ``A = S^1/2 [X_J, 1]``, ``D = diag(1, damping)``."""
    d = len(g)
    with_offset = problem.offset != "none"
    diagonal = np.append(np.ones(d), damping if with_offset else 1.0)
    right = -np.append(g, g_b if with_offset else 0.0)
    if not len(index):
        step = right / diagonal
    elif d <= min(len(index), DIRECT):
        M = rows.column_products(index, slopes)
        if not with_offset:
            M[-1] = M[:, -1] = 0.0
        M[np.diag_indices(d + 1)] += diagonal
        step = _factored(M, right)
    elif len(index) <= DIRECT:
        step = _from_rows(rows, index, slopes, diagonal, right, with_offset)
    else:
        step = _conjugate_gradients(rows, index, slopes, diagonal, right, with_offset)
    return step[:d], float(step[d])


def _from_rows(
    rows: LinearRows,
    index: IntArray,
    slopes: Float64Array,
    diagonal: Float64Array,
    right: Float64Array,
    with_offset: bool,
) -> Float64Array:
    """The same by the matrix of rows: ``D^-1 - D^-1 A' (I + A D^-1 A')^-1 A D^-1``."""
    d, one = len(right) - 1, float(with_offset)
    root = np.sqrt(slopes)
    M = (rows.row_products(index) + one / diagonal[-1]) * np.outer(root, root)
    M[np.diag_indices(len(index))] += 1.0
    start = right / diagonal
    inner = _factored(M, root * (rows.predict(start[:d])[index] + one * start[d]))
    spread = np.zeros(rows.shape[0])
    spread[index] = root * inner
    return np.asarray(start - np.append(rows.correlate(spread), one * spread.sum()) / diagonal)


def _factored(M: Float64Array, right: Float64Array) -> Float64Array:
    """Solve a positive definite system, which rounding may have made semidefinite."""
    try:
        return np.asarray(cho_solve(cho_factor(M), right))
    except LinAlgError:
        return np.asarray(np.linalg.lstsq(M, right)[0])


def _conjugate_gradients(
    rows: LinearRows,
    index: IntArray,
    slopes: Float64Array,
    diagonal: Float64Array,
    right: Float64Array,
    with_offset: bool,
) -> Float64Array:
    n, d = rows.shape
    weight, one = np.zeros(n), float(with_offset)
    weight[index] = slopes

    def product(v: Float64Array) -> Float64Array:
        v = np.asarray(v, dtype=np.float64).ravel()
        along = weight * (rows.predict(v[:d]) + one * v[d])
        return np.asarray(
            diagonal * v + np.append(rows.correlate(along), one * along.sum()), dtype=np.float64
        )

    operator = LinearOperator((len(right), len(right)), matvec=product, dtype=np.float64)
    return np.asarray(cg(operator, right, rtol=1e-3, maxiter=300)[0], dtype=np.float64)


def _line_search(
    smoothed: _Smoothed,
    state: _State,
    dw: Float64Array,
    db: float,
    along: Float64Array,
    damping: float,
) -> float:
    """Return the step length at which the slope along the direction vanishes, nearly."""
    problem = smoothed.problem
    base = problem.target - state.f - state.b
    held = 0.0 if problem.offset == "none" else damping
    ww, wd = float(dw @ dw), float(state.w @ dw)
    bd = held * db * (state.b - state.centre_b)

    def slope(length: float) -> float:
        beta = smoothed.beta(base - length * along, state.centre)
        return wd + bd + length * (ww + held * db * db) - float(beta @ along)

    start = slope(0.0)
    if not start < 0:
        return 0.0
    low, high, at = 0.0, np.inf, 1.0
    value_low, value_high, value = start, np.inf, slope(1.0)
    for _ in range(40):
        if abs(value) <= 0.1 * -start:
            return at
        if value < 0:
            low, value_low = at, value
            at = 2.0 * at if not np.isfinite(high) else _between(low, high, value_low, value_high)
        else:
            high, value_high = at, value
            at = _between(low, high, value_low, value_high)
        value = slope(at)
    return at


def _between(low: float, high: float, value_low: float, value_high: float) -> float:
    """The zero of the secant, kept away from the ends."""
    share = value_low / (value_low - value_high)
    return low + min(max(share, 0.05), 0.95) * (high - low)
