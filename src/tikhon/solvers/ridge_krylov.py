"""Ridge for tables too large to decompose, dense or sparse: one Krylov space for all strengths.

Golub-Kahan bidiagonalization of A = diag(sqrt p) (X - mean) / scale from b = sqrt(p) (y - mean y)
builds orthonormal V and a bidiagonal B with A V = U B. In the space of V every strength is a
small problem, and the gradient left over at strength lam is known without another product:

    || A'(b - A w) - lam w || = alpha_{m+1} beta_{m+1} |last entry of V' w|.

The space grows until the smallest strength is solved; larger ones are solved before it. The
basis is reorthogonalized, so the small problem stays faithful in floating point.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tikhon.data.standardized import StandardizedDesign
from tikhon.problem.squared import Frame
from tikhon.solvers.spectrum import Eigenspace
from tikhon.solvers.training import Training, summed_squares
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["KrylovMachine"]

MAX_DIMENSION = 1000
"""Largest Krylov space: beyond it the certificate says what is missing."""

MARGIN = 1e-6
"""How much smaller than asked the gap is made: held-out scores see its square root."""

CHECK_EVERY = 8
"""Steps between two looks at the small problem."""


class KrylovMachine:
    """A table that is only ever multiplied with vectors.

    `smallest` gives the smallest strength that will be asked for, from the largest eigenvalue;
    `tol` bounds the duality gap there, relative to the null model's objective.
    """

    name = "Golub-Kahan bidiagonalization"
    small_folds = True

    def __init__(self, training: Training, smallest: Callable[[float], float], tol: float) -> None:
        self.training = training
        self.smallest = smallest
        self.tol = tol

    def _fit(self, members: BoolArray) -> KrylovFold:
        training = self.training
        n = training.design.shape[0]
        rows = training.cells.where(members)
        s = np.zeros(n)
        s[rows] = 1.0 if training.s is None else training.s[rows]
        weight = float(s.sum())
        stats = training.design.stats(s)
        d = training.design.shape[1]
        mean = stats.mean if training.intercept else np.zeros(d)
        spread = stats.sd if training.intercept else np.sqrt(stats.sd**2 + stats.mean**2)
        scale = np.where(spread > 0, spread, 1.0) if training.standardize else np.ones(d)
        root = np.sqrt(s / weight)
        y_mean = root**2 @ training.y if training.intercept else np.zeros(training.y.shape[1])
        view = StandardizedDesign(training.design, mean, scale)
        target = root[:, None] * (training.y - y_mean)
        bases = [
            _bidiagonalize(view, root, target[:, t], self.smallest, self.tol)
            for t in range(target.shape[1])
        ]
        return KrylovFold(self, view, y_mean, weight, _join(bases, target, weight))

    @cached_property
    def _solution(self) -> KrylovFold:
        return self._fit(self.training.everything())

    @cached_property
    def frame(self) -> Frame:
        """Coordinates of the fit to all rows in use."""
        own = self._solution
        return self.training.frame(own.view.mean, own.view.scale, own.y_mean, own.weight)

    @property
    def spectrum(self) -> Eigenspace:
        """The part of the spectrum that the targets reach."""
        return self._solution.spectrum

    def fold(self, train: BoolArray, test: BoolArray) -> KrylovFold:  # noqa: ARG002
        """Fit the rows of the cells in `train`."""
        return self._fit(train)


@dataclass(frozen=True, slots=True, eq=False)
class KrylovFold:
    """One training set's Krylov space, diagonalized."""

    machine: KrylovMachine
    view: StandardizedDesign
    y_mean: Float64Array
    weight: float
    spectrum: Eigenspace

    def predict(self, rows: IntArray, lams: Float64Array) -> Float64Array:
        """Predictions for some rows at each strength: (L, rows, targets)."""
        here = StandardizedDesign(self.view.base.rows(rows), self.view.mean, self.view.scale)
        basis = here.predict(self.spectrum.lift(np.eye(len(self.spectrum.e))))
        return np.stack([basis @ self.spectrum.shrunk(lam) for lam in lams]) + self.y_mean

    def squared_error(self, test: BoolArray, lams: Float64Array) -> Float64Array:
        """Weighted sum of squared errors over a union of cells: (L, targets)."""
        return summed_squares(self.machine.training, self, test, lams)


@dataclass(frozen=True, slots=True, eq=False)
class _Basis:
    e: Float64Array
    c: Float64Array
    V: Float64Array


def _bidiagonalize(
    view: StandardizedDesign,
    root: Float64Array,
    b: Float64Array,
    smallest: Callable[[float], float],
    tol: float,
) -> _Basis:
    d = view.shape[1]
    beta = float(np.linalg.norm(b))
    if beta == 0.0:
        return _Basis(np.empty(0), np.empty(0), np.empty((d, 0)))
    start = beta
    u = b / beta
    v = view.correlate(root * u)
    alpha = float(np.linalg.norm(v))
    if alpha == 0.0:
        return _Basis(np.empty(0), np.empty(0), np.empty((d, 0)))
    v /= alpha
    V, alphas, betas = np.empty((d, CHECK_EVERY), order="F"), [alpha], []
    limit = min(MAX_DIMENSION, min(view.shape))
    for m in range(1, limit + 1):
        if m > V.shape[1]:
            V = np.hstack([V, np.empty_like(V)])
        V[:, m - 1] = v
        u = root * view.predict(v) - alpha * u
        beta = float(np.linalg.norm(u))
        betas.append(beta)
        if beta > 0:
            u /= beta
            v = view.correlate(root * u) - beta * v
            for _ in range(2):
                v -= V[:, :m] @ (V[:, :m].T @ v)
        alpha = float(np.linalg.norm(v)) if beta > 0 else 0.0
        exhausted = alpha <= d * np.finfo(np.float64).eps * max(alphas)
        if exhausted or m == limit or m % CHECK_EVERY == 0:
            e, c, Q = _small_problem(alphas, betas, start)
            lam = smallest(float(e.max()))
            last = float(np.sum(Q[-1] * c / np.where(e + lam > 0, e + lam, 1.0)))
            left = alpha * beta * abs(last)
            if exhausted or m == limit or _solved(left, lam, start, alphas[0], tol):
                return _Basis(e, c, np.ascontiguousarray(V[:, :m] @ Q))
        alphas.append(alpha)
        v /= alpha
    raise AssertionError("the loop above ends at its limit")


def _solved(left: float, lam: float, start: float, first: float, tol: float) -> bool:
    """Whether the gradient left at the smallest strength is below the tolerance."""
    if lam > 0:
        return left**2 / (2.0 * lam) <= MARGIN * tol * start**2 / 2.0
    return left <= MARGIN * tol * first * start


def _small_problem(
    alphas: list[float], betas: list[float], start: float
) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Eigenvalues, projections and eigenvectors of the bidiagonal problem."""
    m = len(betas)
    B = np.zeros((m + 1, m))
    np.fill_diagonal(B, alphas[:m])
    B[np.arange(1, m + 1), np.arange(m)] = betas
    P, sigma, Qt = np.linalg.svd(B, full_matrices=False)
    return sigma**2, sigma * (start * P[0]), Qt.T


def _join(bases: list[_Basis], target: Float64Array, weight: float) -> Eigenspace:
    """One spectrum for all targets: each target's directions serve that target alone."""
    e = np.concatenate([basis.e for basis in bases])
    V = np.hstack([basis.V for basis in bases])
    c = np.zeros((len(e), len(bases)))
    start = 0
    for t, basis in enumerate(bases):
        c[start : start + len(basis.e), t] = basis.c
        start += len(basis.e)
    return Eigenspace(
        e,
        c,
        np.einsum("it,it->t", target, target),
        weight,
        False,
        lambda S: V @ S,
        lambda W: V.T @ W,
    )
