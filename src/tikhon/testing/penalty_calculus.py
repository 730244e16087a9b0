"""Laws of a penalty and its proximal operator: optimality, distance, convexity, shapes."""

from collections.abc import Callable
from typing import Final

import numpy as np

from tikhon.penalties import Penalty
from tikhon.testing.samples import require, sample_coefficients, sample_gradient
from tikhon.testing.tolerances import TINY_PROX_STEP, rounding, truncation

PenaltyLaw = Callable[[Penalty, int, np.random.Generator], None]
STEPS: Final = (0.1, 1.0, 7.0)
_DIVISIONS: Final = 64


def shapes(n_features: int) -> tuple[tuple[int, ...], ...]:
    """Return the shapes of coefficients that laws are tried on: one target, and three."""
    return ((n_features,), (n_features, 3))


def prox_is_optimal(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``(w - prox(w)) / step`` to be a subgradient at ``prox(w)``."""
    for shape in shapes(n_features):
        w = 3 * rng.normal(size=shape)
        for step in STEPS:
            p = penalty.prox(w, step)
            require(p.shape == w.shape, penalty, "`prox` must keep the shape")
            left = penalty.subgradient_distance(p, (p - w) / step)
            slack = rounding(w.dtype, w.max(), w.max() / step)
            require(left <= slack, penalty, "the prox must satisfy its optimality condition")


def prox_is_best(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require that no point does better than the prox at ``step R(v) + ||v - w||^2 / 2``.

    Independent of `subgradient_distance`; being strongly convex, it even grows quadratically.
    """
    for shape in shapes(n_features):
        w = 3 * rng.normal(size=shape)
        for step in STEPS:
            p = penalty.prox(w, step)
            least = step * penalty.value(p) + 0.5 * np.sum((p - w) ** 2)
            require(np.isfinite(least), penalty, "the prox must be in the domain of the penalty")
            for size in (1e-3, 1e-2, 0.1, 1.0, 3.0) * 4:
                v = penalty.prox(p + size * rng.normal(size=shape), step * size / 10)
                other = step * penalty.value(v) + 0.5 * np.sum((v - w) ** 2)
                slack = rounding(w.dtype, least, other)
                grows = other >= least + 0.5 * np.sum((v - p) ** 2) - slack
                require(grows, penalty, "no point may do better than the prox")


def prox_is_firmly_nonexpansive(
    penalty: Penalty, n_features: int, rng: np.random.Generator
) -> None:
    """Require ``<prox(a) - prox(b), a - b> >= ||prox(a) - prox(b)||^2``."""
    for shape in shapes(n_features):
        a, b = 3 * rng.normal(size=shape), 3 * rng.normal(size=shape)
        for step in STEPS:
            moved = penalty.prox(a, step) - penalty.prox(b, step)
            slack = rounding(a.dtype, np.sum(a * a), np.sum(b * b))
            holds = np.sum(moved * (a - b)) >= np.sum(moved * moved) - slack
            require(holds, penalty, "the prox must be firmly nonexpansive")


def value_is_convex(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``R`` to be convex, by as much as ``strong_convexity`` says, and >= 0.

    At every point of a fine division of a segment: between distant points the bend at a kink
    could make up for a strong convexity that is not there.
    """
    for shape in shapes(n_features):
        a = sample_coefficients(penalty, shape, rng)
        b = sample_coefficients(penalty, shape, rng)
        shares = np.linspace(0, 1, _DIVISIONS)
        values = np.array([penalty.value((1 - t) * a + t * b) for t in shares])
        bend = 0.5 * penalty.strong_convexity * np.sum((a - b) ** 2) * (shares[1] ** 2)
        slack = rounding(a.dtype, values.max())
        below = values[1:-1] <= 0.5 * values[:-2] + 0.5 * values[2:] - bend + slack
        require(below, penalty, "`value` must be convex, strongly by `strong_convexity`")
        require(values >= 0, penalty, "`value` must be >= 0")


def distance_is_the_least_subgradient(
    penalty: Penalty, n_features: int, rng: np.random.Generator
) -> None:
    """Require ``subgradient_distance(w, g)`` to be the size of the least ``g + dR(w)``.

    For small steps ``(w - prox(w - step g)) / step`` tends to that element: it is the speed at
    which steepest descent leaves w. In particular the distance is 0 if and only if w is optimal.
    """
    exact = type(penalty).subgradient_distance is not Penalty.subgradient_distance
    step = TINY_PROX_STEP
    for shape in shapes(n_features):
        w, g = sample_coefficients(penalty, shape, rng), sample_gradient(shape, rng)
        for gradient in (g, np.zeros(shape), 1e-3 * g):
            speed = np.abs(w - penalty.prox(w - step * gradient, step)) / step
            found = penalty.subgradient_distance(w, gradient)
            require(found.shape == w.shape, penalty, "the distance must have the shape of w")
            require(found >= 0, penalty, "the distance must be >= 0")
            slack = rounding(w.dtype, np.abs(w).max()) / step
            slack = slack + 8 * truncation(step, np.sum(w * w), np.sum(gradient * gradient))
            if exact:
                same = np.abs(found - speed) <= slack
                require(same, penalty, "`subgradient_distance` must be the distance to -g")
            still = speed.max() <= slack
            at_rest = found.max() <= slack
            require(still or found.max() > 0, penalty, "the distance is 0 only where w is optimal")
            require(at_rest or speed.max() > 0, penalty, "the distance is 0 wherever w is optimal")


def free_coordinates_are_free(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require ``unpenalised`` coordinates to leave the value alone, and the prox them."""
    for shape in shapes(n_features):
        free = penalty.unpenalised(n_features)
        is_mask = free.shape == (n_features,) and free.dtype == np.bool_
        require(is_mask, penalty, "`unpenalised` must be a mask of shape (n_features,)")
        w = sample_coefficients(penalty, shape, rng)
        moved = w.copy()
        moved[free] += 1 + rng.normal(size=moved[free].shape)
        slack = rounding(w.dtype, penalty.value(w))
        same = abs(penalty.value(moved) - penalty.value(w)) <= slack
        require(same, penalty, "free coordinates must not change the value")
        stays = penalty.prox(moved, 1.0)[free] == moved[free]
        require(stays, penalty, "the prox must leave free coordinates alone")
        g = sample_gradient(shape, rng)
        distance = penalty.subgradient_distance(w, g)[free]
        require(distance == np.abs(g)[free], penalty, "free coordinates must see the gradient")


def restricting_is_fixing_at_zero(
    penalty: Penalty, n_features: int, rng: np.random.Generator
) -> None:
    """Require ``restrict(columns)`` to be the penalty with the other coefficients at 0."""
    kept = rng.permutation(n_features)[: max(1, n_features // 2)]
    mask = np.isin(np.arange(n_features), kept)
    for columns in (np.sort(kept), kept, mask):
        small = penalty.restrict(columns)
        for shape in shapes(n_features):
            padded = np.zeros(shape)
            padded[columns] = 3 * rng.normal(size=padded[columns].shape)
            whole = penalty.prox(padded, 0.7)[columns]
            part = small.prox(padded[columns], 0.7)
            slack = rounding(padded.dtype, padded)[columns]
            require(np.abs(whole - part) <= slack, penalty, "`restrict` must follow the columns")
            if np.isfinite(penalty.value(padded)):
                a, b = penalty.value(padded), small.value(padded[columns])
                same = abs(a - b) <= rounding(padded.dtype, a)
                require(same, penalty, "`restrict` must keep the value")
        free = small.unpenalised(len(kept)) == penalty.unpenalised(n_features)[columns]
        require(free, penalty, "`restrict` must keep free coordinates free")


def targets_add_up_when_separable(
    penalty: Penalty, n_features: int, rng: np.random.Generator
) -> None:
    """Require a separable penalty to add up over targets, with an elementwise prox.

    Steps may then differ between coefficients. One target has the same penalty as a vector.
    """
    w = sample_coefficients(penalty, (n_features, 3), rng)
    alone = penalty.value(w[:, 0]), penalty.value(w[:, :1])
    slack = rounding(w.dtype, alone[0])
    require(abs(alone[0] - alone[1]) <= slack, penalty, "a column must count as a vector")
    if not penalty.separable:
        return
    apart = sum(penalty.value(column) for column in w.T)
    close = abs(penalty.value(w) - apart) <= rounding(w.dtype, apart)
    require(close, penalty, "a separable penalty must add up over targets")
    steps = rng.uniform(0.1, 2.0, size=w.shape)
    together = penalty.prox(w, steps)
    columns = [penalty.prox(w[:, t], steps[:, t]) for t in range(3)]
    same = np.array_equal(together, np.stack(columns, axis=1))
    require(same, penalty, "a separable prox must be elementwise")


def float_type_is_kept(penalty: Penalty, n_features: int, rng: np.random.Generator) -> None:
    """Require float32 out for float32 in, close to the float64 answer."""
    w = (3 * rng.normal(size=n_features)).astype(np.float32)
    narrow, wide = penalty.prox(w, 0.7), penalty.prox(w.astype(np.float64), 0.7)
    require(narrow.dtype == np.float32, penalty, "`prox` must keep float32")
    require(wide.dtype == np.float64, penalty, "`prox` must keep float64")
    slack = rounding(np.float32, np.abs(w).max())
    require(np.abs(narrow - wide) <= slack, penalty, "float32 must agree with float64")
    distance = penalty.subgradient_distance(narrow, w)
    require(distance.dtype == np.float32, penalty, "`subgradient_distance` must keep float32")
    require(np.isfinite(penalty.value(narrow)), penalty, "the float32 prox must be in the domain")


CALCULUS_LAWS: Final[tuple[PenaltyLaw, ...]] = (
    prox_is_optimal,
    prox_is_best,
    prox_is_firmly_nonexpansive,
    value_is_convex,
    distance_is_the_least_subgradient,
    free_coordinates_are_free,
    restricting_is_fixing_at_zero,
    targets_add_up_when_separable,
    float_type_is_kept,
)
