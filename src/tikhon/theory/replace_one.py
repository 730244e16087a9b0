"""Replace-one stability, measured: replace a row by a fresh one, fit again, look at the old row.

    stability = E [ loss(A(S^i), z_i) - loss(A(S), z_i) ]  =  E [ L_D(A(S)) - L_S(A(S)) ]

The lecture proves the identity and bounds the left side. `stability` estimates it for one sample,
beside the bound; `stability_identity` draws many samples from a simulator and shows both sides.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.losses.base import Loss
from tikhon.problem.problem import Problem
from tikhon.results import frame
from tikhon.theory.bounds.bound import Bound
from tikhon.theory.bounds.stable import replacement_distance
from tikhon.theory.bounds.stable import stability as stability_bound
from tikhon.theory.constants import constants
from tikhon.theory.models import LinearModel
from tikhon.theory.refit import Refit, rows_of, table_of
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["Identity", "Stability", "stability", "stability_identity"]


@dataclass(frozen=True, slots=True, eq=False)
class Stability:
    """Replace-one stability of one fit, measured and bounded.

    Attributes
    ----------
    mean, se : float
        Mean of ``loss(A(S^i), z_i) - loss(A(S), z_i)`` over replacements, and its standard error.
    differences, distances : ndarray of shape (K,)
        Each difference, and each ``||A(S^i) - A(S)||`` in the coordinates of the penalty.
    bound, distance_bound : Bound or None
        None where the loss has no Lipschitz constant or the penalty no L2 part.
    m : int
    seconds : float
    """

    mean: float
    se: float
    differences: Float64Array
    distances: Float64Array
    bound: Bound | None
    distance_bound: Bound | None
    m: int
    seconds: float

    def __str__(self) -> str:
        said = "none" if self.bound is None else f"{self.bound.value:.4g}"
        far = "none" if self.distance_bound is None else f"{self.distance_bound.value:.4g}"
        return (
            f"{len(self.differences)} replacements in {self.m} rows: stability {self.mean:.4g} +- "
            f"{self.se:.2g} (bound {said}); largest move of w {self.distances.max():.4g} "
            f"(bound {far})"
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per replacement."""
        return frame({"difference": self.differences, "distance": self.distances}, backend)


def stability(
    model: Any,
    X: Any,
    y: ArrayLike,
    X_new: Any = None,
    y_new: ArrayLike | None = None,
    *,
    replacements: int = 100,
    seed: int = 0,
    loss: Loss | None = None,
    radius: float | None = None,
    target: float | None = None,
) -> Stability:
    """Measure replace-one stability: replace rows one at a time, fit again, compare with the bound.

    Parameters
    ----------
    model : estimator or Problem
        A fitted estimator keeps its strength; nothing is chosen again.
    X, y
        The sample S.
    X_new, y_new : optional
        Fresh rows of the same distribution to draw replacements from. By default a fifth of the
        rows of X, drawn at random, is set aside for it.
    replacements : int, default 100
    seed : int, default 0
    loss : Loss, optional
        The model's own by default.
    radius, target : float, optional
        Bounds on ``||x||`` and ``|y|``, for the bound beside; by default the largest seen.

    Returns
    -------
    Stability

    Examples
    --------
    >>> import tikhon as tk
    >>> data = tk.datasets.linear(200, 5, seed=1)
    >>> found = stability(tk.Ridge(lam=0.1).fit(data.X, data.y), data.X, data.y, replacements=20)
    >>> 0 < found.mean < found.bound.value
    True
    """
    if not replacements >= 2:
        raise ValueError(f"`replacements` must be >= 2, got {replacements}.")
    started = time.perf_counter()
    rng = np.random.default_rng(seed)
    again = Refit.of(model, loss)
    X, y = table_of(X), np.asarray(y)
    if (X_new is None) != (y_new is None):
        raise ValueError("give `X_new` and `y_new` together.")
    if X_new is None:
        order = rng.permutation(len(y))
        fresh, kept = order[: len(y) // 5], order[len(y) // 5 :]
        X, X_new, y, y_new = X[kept], X[fresh], y[kept], y[fresh]
    pool, pool_y = table_of(X_new), np.asarray(y_new)
    if not len(pool_y):
        raise ValueError("no fresh rows to draw from: give `X_new` and `y_new`, or more rows.")
    base = again.fit(X, y)
    both, labels = rows_of(X, pool), np.concatenate([y, pool_y])
    m = len(y)
    seen = _coordinates(again, base, both, labels, radius, target, m)
    w, b = again.linear(base)
    known = again.targets(labels)
    old = again.loss.value(known[:m], np.asarray(X @ w + b))
    differences, distances = np.empty(replacements), np.empty(replacements)
    for k in range(replacements):
        i, j = int(rng.integers(m)), m + int(rng.integers(len(pool_y)))
        index = np.arange(m)
        index[i] = j
        other = again.fit(both[index], labels[index], base)
        v, c = again.linear(other)
        z = np.asarray(X[[i]] @ v + c)
        differences[k] = float(again.loss.value(known[[i]], z)[0] - old[i])
        distances[k] = float(np.linalg.norm((v - w) * seen.scale))
    return Stability(
        mean=float(differences.mean()),
        se=float(differences.std(ddof=1) / math.sqrt(replacements)),
        differences=differences,
        distances=distances,
        bound=seen.bound,
        distance_bound=seen.distance,
        m=m,
        seconds=time.perf_counter() - started,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Coordinates:
    """The scale in which coefficients are penalised, and the bounds there."""

    scale: Float64Array
    bound: Bound | None
    distance: Bound | None


def _coordinates(
    again: Refit,
    base: Any,
    X: Any,
    y: Any,
    radius: float | None,
    target: float | None,
    m: int,
) -> _Coordinates:
    """Constants over the sample and the fresh rows, and the two bounds if there are any."""
    if isinstance(again.what, Problem):
        d = X.shape[1]
        mean = X.mean(axis=0) if again.what.intercept else np.zeros(d)
        scale, ridge = np.ones(d), again.what.lam * again.what.penalty.strong_convexity
        targets = again.targets(y)
        centred = again.what.intercept and not again.loss.classification
    else:
        fitted = LinearModel.of(base, X[:m], y[:m], again.loss)
        mean, scale, ridge = fitted.mean, fitted.scale, fitted.ridge
        targets = again.targets(y)
        centred = fitted.intercept and not again.loss.classification
    targets = targets - targets[:m].mean() if centred else targets
    found = constants(
        again.loss,
        X,
        targets,
        ridge,
        radius=radius,
        target=target,
        mean=np.ravel(mean),
        scale=scale,
    )
    if not (ridge > 0 and math.isfinite(found.rho) and found.rho > 0):
        return _Coordinates(scale, None, None)
    notes = found.assumptions
    return _Coordinates(
        scale,
        stability_bound(found.rho, ridge / 2.0, m).resting_on(*notes),
        replacement_distance(found.rho, ridge / 2.0, m).resting_on(*notes),
    )


@dataclass(frozen=True, slots=True)
class Identity:
    """Both sides of the lecture's identity, from the same simulated samples.

    Attributes
    ----------
    gap, gap_se : float
        ``E [L_D(A(S)) - L_S(A(S))]``, L_D on fresh rows.
    stability, stability_se : float
        ``E [loss(A(S^i), z_i) - loss(A(S), z_i)]``.
    difference, difference_se : float
        Of the two, sample by sample: within a few standard errors of 0.
    samples : int
    """

    gap: float
    gap_se: float
    stability: float
    stability_se: float
    difference: float
    difference_se: float
    samples: int

    def __str__(self) -> str:
        return (
            f"{self.samples} samples: generalization gap {self.gap:.4g} +- {self.gap_se:.2g}, "
            f"replace-one stability {self.stability:.4g} +- {self.stability_se:.2g}, "
            f"difference {self.difference:.2g} +- {self.difference_se:.2g}"
        )


def stability_identity(
    model: Any,
    draw: Callable[[np.random.Generator, int], tuple[Any, Any]],
    m: int,
    *,
    samples: int = 200,
    replacements: int = 5,
    fresh: int = 1000,
    seed: int = 0,
    loss: Loss | None = None,
) -> Identity:
    """Show that the generalization gap is the replace-one stability, by simulation.

    Parameters
    ----------
    model : estimator or Problem
    draw : callable
        ``draw(rng, n)`` returns n independent rows and their targets.
    m : int
        Rows of a sample.
    samples : int, default 200
        Samples S.
    replacements : int, default 5
        Rows replaced in each, one at a time.
    fresh : int, default 1000
        Rows that stand for the distribution, drawn anew for each sample.
    seed : int, default 0
    loss : Loss, optional

    Returns
    -------
    Identity

    Examples
    --------
    >>> import tikhon as tk
    >>> def draw(rng, n):
    ...     X = rng.standard_normal((n, 3))
    ...     return X, X.sum(axis=1) + rng.standard_normal(n)
    >>> ridge = tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam=0.1)
    >>> sides = stability_identity(ridge, draw, 20, samples=100)
    >>> abs(sides.difference) < 4 * sides.difference_se
    True
    """
    again = Refit.of(model, loss)
    rng = np.random.default_rng(seed)
    gaps, moves = np.empty(samples), np.empty(samples)
    for r in range(samples):
        X, y = draw(rng, m + replacements + fresh)
        X, y = table_of(X), np.asarray(y)
        known = again.targets(y)
        base = again.fit(X[:m], y[:m])
        w, b = again.linear(base)
        losses = again.loss.value(known, np.asarray(X @ w + b))
        gaps[r] = losses[m + replacements :].mean() - losses[:m].mean()
        change = 0.0
        for k, i in enumerate(rng.choice(m, size=replacements, replace=replacements > m)):
            index = np.arange(m)
            index[i] = m + k
            v, c = again.linear(again.fit(X[index], y[index], base))
            change += float(again.loss.value(known[[i]], np.asarray(X[[i]] @ v + c))[0] - losses[i])
        moves[r] = change / replacements
    both = gaps - moves
    root = math.sqrt(samples)
    return Identity(
        float(gaps.mean()),
        float(gaps.std(ddof=1) / root),
        float(moves.mean()),
        float(moves.std(ddof=1) / root),
        float(both.mean()),
        float(both.std(ddof=1) / root),
        samples,
    )
