"""Least squares on the support of penalised solutions: the relaxed lasso.

    v(lam) = argmin  mean (y - Xv - b)^2 / 2    over v that are 0 where w(lam) is

along the whole path and for every training set, from the second moments of the columns that are
ever used. A *share* r of it is mixed in: ``(1 - r) w + r v``, so that 0 is the penalised solution
and 1 the unshrunk one. Where the penalty has bounds they are kept; where a support has more columns
than the rows determine, the solution of least norm is taken.

The certificate of an unshrunk solution is its exact distance from least squares on its support,
``g' K^+ g / 2`` with the correlations g of its residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg, optimize

from tikhon.data.moments import Centred
from tikhon.engine import map_units, one_blas_thread
from tikhon.penalties.base import Penalty
from tikhon.penalties.coordinates import Coordinates
from tikhon.problem.squared import NullModel, residual_pass
from tikhon.results import Certificate
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.penalised import CertifiedFit, PenalisedMachine
from tikhon.solvers.squared_machine import SquaredMachine
from tikhon.solvers.tall_table import TallTable
from tikhon.typing import BoolArray, Float64Array, IntArray

__all__ = ["Supports", "mixed"]

FIRM = 1e-5
"""Smallest pivot of a Cholesky factor of unit columns that is taken for independence."""

CUTOFF = 1e-12
"""Eigenvalue over the largest below which a direction is not determined."""


def mixed(shrunk: PathFit, unshrunk: PathFit, share: float) -> PathFit:
    """Return a share of the unshrunk solutions and the rest of the shrunk ones."""
    return replace(
        shrunk,
        coefs=(1.0 - share) * shrunk.coefs + share * unshrunk.coefs,
        intercepts=(1.0 - share) * shrunk.intercepts + share * unshrunk.intercepts,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Supports:
    """Moments of the columns that some training sets' solutions use.

    Attributes
    ----------
    table : TallTable
        Of these columns alone, or of all.
    columns : ndarray of shape (m,)
        Which ones.
    penalty : Penalty
        Whose bounds are kept.
    n_features : int
    """

    table: TallTable
    columns: IntArray
    penalty: Penalty
    n_features: int

    @classmethod
    def of(cls, machine: PenalisedMachine, fits: Sequence[PathFit]) -> Supports:
        """Gather the columns, or take the moments that the machine has already."""
        training = machine.training
        d = training.design.shape[1]
        assert isinstance(machine, SquaredMachine)  # other losses are refused where they come in
        held = getattr(machine, "table", None)
        if isinstance(held, TallTable):
            return cls(held, np.arange(d), machine.penalty, d)
        used = [fit.columns[np.any(fit.coefs != 0, axis=(0, 2))] for fit in fits]
        columns = np.unique(np.concatenate(used))
        part = replace(training, design=training.design.take(columns), standardize=False)
        return cls(TallTable(part), columns, machine.penalty, d)

    def hold(self, coefs: Float64Array) -> bool:
        """Whether every column that is used (L, d, targets) is among these."""
        used = np.flatnonzero(np.any(coefs != 0, axis=(0, 2)))
        return bool(np.isin(used, self.columns).all())

    def unshrunk(
        self, machine: PenalisedMachine, fits: Sequence[PathFit], trains: Sequence[BoolArray]
    ) -> list[PathFit]:
        """Fit every support of every path without shrinkage."""
        return map_units(
            lambda pair: self._unshrunk(*pair),
            list(zip(fits, trains, strict=True)),
            stop=machine.stop,
        )

    def _unshrunk(self, fit: PathFit, train: BoolArray) -> PathFit:
        own = _Moments.of(self.table.centred(train), self._bounds)
        used = np.flatnonzero(np.any(fit.coefs != 0, axis=(0, 2)))
        place = np.searchsorted(self.columns, fit.columns[used])
        coefs = np.zeros_like(fit.coefs)
        before: BoolArray | None = None
        with one_blas_thread():
            for k, W in enumerate(fit.coefs[:, used]):
                inside = self._inside(W)
                if before is not None and np.array_equal(inside, before):
                    coefs[k] = coefs[k - 1]
                else:
                    coefs[k, used] = own.solve(place, inside)
                before = inside
        centred, table = own.centred, self.table
        mean = (table.x_shift + centred.x_mean)[place]
        b = table.y_shift + centred.y_mean - np.einsum("j,ljt->lt", mean, coefs[:, used])
        return replace(fit, coefs=coefs, intercepts=b)

    def _inside(self, W: Float64Array) -> BoolArray:
        """Which coefficients are free to move: rows together, where the penalty couples them."""
        inside = W != 0
        return (
            inside
            if self.penalty.separable
            else np.repeat(inside.any(axis=1, keepdims=True), W.shape[1], axis=1)
        )

    @property
    def _bounds(self) -> Coordinates | None:
        form = self.penalty.coordinates(self.n_features)
        if form is None or not (np.isfinite(form.lower).any() or np.isfinite(form.upper).any()):
            return None
        return form.take(self.columns)

    def certified(
        self,
        machine: PenalisedMachine,
        null: NullModel,
        base: CertifiedFit,
        fit: PathFit,
        share: float,
    ) -> CertifiedFit:
        """Mix the unshrunk solutions in, corrected and certified on the rows.

        The gap is the larger one of the two that are mixed; the objective is the mean loss.
        """
        assert isinstance(machine, SquaredMachine)
        dense = replace(fit, columns=np.arange(self.n_features), coefs=base.coefs)
        loose = self._unshrunk(dense, machine.training.everything())
        V, b = loose.coefs, loose.intercepts
        step, gaps = self._newton(machine, base, V, b)
        late = gaps > machine.tol * null.objective
        if late.any():
            own = _Moments.of(self.table.everything, self._bounds)
            V[:, self.columns] = np.where(
                late[:, None, None], own.clip(V[:, self.columns] + step), V[:, self.columns]
            )
            b = machine.frame.to_user(V * machine.frame.view.scale[:, None])[1]
            gaps = self._newton(machine, base, V, b)[1]
        coefs = (1.0 - share) * base.coefs + share * V
        intercepts = (1.0 - share) * base.intercepts + share * b
        return self._described(machine, null, base, coefs, intercepts, gaps)

    def _newton(
        self, machine: SquaredMachine, base: CertifiedFit, V: Float64Array, b: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Steps to least squares on each support, and how far above it each solution is."""
        frame = machine.frame
        own = _Moments.of(self.table.everything, self._bounds)
        seen = residual_pass(frame, *frame.from_user(V, b))
        g = seen.correlation[:, self.columns] * frame.view.scale[self.columns, None]
        held, steps = V[:, self.columns], np.empty_like(g)
        gaps = (seen.mean**2).sum(axis=1) / 2.0 * frame.intercept
        for k in range(len(V)):
            inside = self._inside(base.coefs[k])[self.columns]
            steps[k], gap = own.newton(held[k], g[k], inside)
            gaps[k] += gap
        return steps, gaps

    def _described(
        self,
        machine: SquaredMachine,
        null: NullModel,
        base: CertifiedFit,
        coefs: Float64Array,
        intercepts: Float64Array,
        gaps: Float64Array,
    ) -> CertifiedFit:
        frame = machine.frame
        seen = residual_pass(frame, *frame.from_user(coefs, intercepts))
        losses = seen.square.sum(axis=1) / 2.0
        unit = null.objective if null.objective > 0 else 1.0
        certificates = tuple(
            Certificate(
                gap=max(one.gap, float(gap) / unit),
                kkt=one.kkt,
                objective=float(loss),
                null_objective=null.objective,
            )
            for one, gap, loss in zip(base.certificates, gaps, losses, strict=True)
        )
        return CertifiedFit(coefs, intercepts, certificates, losses, seen.correlation)


@dataclass(frozen=True, slots=True, eq=False)
class _Moments:
    """One training set's second moments, of columns scaled to unit spread."""

    centred: Centred
    unit: Float64Array
    K: Float64Array
    C: Float64Array
    bounds: Coordinates | None

    @classmethod
    def of(cls, centred: Centred, bounds: Coordinates | None) -> _Moments:
        variance = np.diagonal(centred.xx)
        unit = np.where(variance > 0, np.sqrt(np.maximum(variance, 0.0)), 1.0)
        K = centred.xx / unit / unit[:, None]
        return cls(centred, unit, K, centred.xy / unit[:, None], bounds)

    def solve(self, place: IntArray, inside: BoolArray) -> Float64Array:
        """Least squares on some places (m,), target by target where `inside` (m, targets)."""
        V = np.zeros(inside.shape)
        whole = bool(np.all(inside == inside[:, :1]))
        for t in [slice(None)] if whole else range(inside.shape[1]):
            rows = np.flatnonzero(inside[:, 0] if whole else inside[:, t])
            at = place[rows]
            if len(at):
                found = _least_squares(self.K[np.ix_(at, at)], self.C[at][:, t])
                V[rows, t] = (found.T / self.unit[at]).T
        return self._bounded(place, inside, V)

    def _bounded(self, place: IntArray, inside: BoolArray, V: Float64Array) -> Float64Array:
        """Solve again, within the bounds, for the targets that have left them."""
        if self.bounds is None:
            return V
        part = self.bounds.take(place)
        outside = (part.lower[:, None] > V) | (part.upper[:, None] < V)
        for t in np.flatnonzero(np.any(outside, axis=0)):
            rows = np.flatnonzero(inside[:, t])
            at, unit = place[rows], self.unit[place[rows]]
            e, U = np.linalg.eigh(self.K[np.ix_(at, at)])
            root = np.sqrt(np.maximum(e, CUTOFF * e[-1]))
            A, right = root[:, None] * U.T, (U.T @ self.C[at, t]) / root
            limits = (part.lower[rows] * unit, part.upper[rows] * unit)
            found = optimize.lsq_linear(A, right, limits, method="bvls", tol=1e-15)
            V[rows, t] = np.clip(found.x / unit, part.lower[rows], part.upper[rows])
        return V

    def newton(
        self, V: Float64Array, g: Float64Array, inside: BoolArray
    ) -> tuple[Float64Array, float]:
        """Return the step to the minimum on a support, and how far above it V is.

        `g` are correlations of the residuals with the columns themselves. What rests on a bound
        that its correlation pushes against stays there.
        """
        slope = g / self.unit[:, None]
        if self.bounds is not None:
            up = (self.bounds.upper[:, None] <= V) & (slope > 0)
            down = (self.bounds.lower[:, None] >= V) & (slope < 0)
            inside = inside & ~up & ~down
        step, gap = np.zeros_like(V), 0.0
        for t in range(V.shape[1]):
            at = np.flatnonzero(inside[:, t])
            if len(at):
                move = _least_squares(self.K[np.ix_(at, at)], slope[at, t])
                gap += max(float(move @ slope[at, t]), 0.0) / 2.0
                step[at, t] = move / self.unit[at]
        return step, gap

    def clip(self, V: Float64Array) -> Float64Array:
        """Return coefficients within their bounds."""
        if self.bounds is None:
            return V
        return np.asarray(np.clip(V, self.bounds.lower[:, None], self.bounds.upper[:, None]))


def _least_squares(K: Float64Array, C: Float64Array) -> Float64Array:
    """Solve ``K v = C``, by least norm where K is singular."""
    try:
        factor, lower = linalg.cho_factor(K, lower=True, check_finite=False)
        if float(np.min(np.diagonal(factor))) > FIRM:
            return np.asarray(linalg.cho_solve((factor, lower), C, check_finite=False))
    except linalg.LinAlgError:
        pass
    e, U = np.linalg.eigh(K)
    kept = e > CUTOFF * max(float(e[-1]), 0.0)
    return np.asarray(U[:, kept] @ ((U[:, kept].T @ C).T / e[kept]).T)
