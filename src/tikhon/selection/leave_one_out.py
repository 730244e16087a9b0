"""Leave-one-out and generalized cross-validation in closed form.

With leverages ``h_i(lam) = p_i (1 + x~_i' (C + lam I)^-1 x~_i)``, the 1 being the intercept's, the
prediction error of row i, left out, is ``r_i / (1 - h_i)``: exact, with the strength that keeps
``lam`` times the weight of the remaining rows. Columns keep the scale they have in all rows.

GCV replaces every leverage by their mean: ``mean r^2 / (1 - (1 + df) / n)^2``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tikhon.data.design import BLOCK_BYTES
from tikhon.errors import UnsupportedError
from tikhon.solvers.ridge_tall import TallMachine
from tikhon.solvers.ridge_wide import WideMachine
from tikhon.solvers.training import Machine
from tikhon.typing import Float64Array, IntArray

__all__ = ["generalized", "leave_one_out", "left_out_errors"]


def left_out_errors(
    machine: Machine, lams: Float64Array
) -> Iterator[tuple[IntArray, Float64Array]]:
    """Hand out row numbers and the errors (L, rows, targets) of their predictions by all others."""
    if isinstance(machine, TallMachine):
        return _tall_errors(machine, lams)
    if isinstance(machine, WideMachine):
        return machine.left_out_errors(lams)
    raise UnsupportedError(
        f"leave-one-out needs a decomposition of the table, which {machine.name} does not make; "
        "use folds=10."
    )


def _tall_errors(
    machine: TallMachine, lams: Float64Array
) -> Iterator[tuple[IntArray, Float64Array]]:
    frame, spectrum = machine.frame, machine.spectrum
    n = frame.view.shape[0]
    p = np.full(n, 1.0 / n) if frame.p is None else frame.p
    V = spectrum.lift(np.eye(len(spectrum.e))) / frame.view.scale[:, None]
    used = np.flatnonzero(p > 0)
    for block in frame.base.blocks(frame.view.mean, used):
        rows = used[block.start : block.stop]
        T = block.rows @ V
        y = frame.y[rows] - frame.y_mean
        for part in _equal_weights(p[rows], T.shape[1] * len(lams)):
            kept = (1.0 - p[rows[part]])[:, None] * lams
            yield rows[part], _errors(machine, T[part], y[part], p[rows[part]], kept)


def _equal_weights(p: Float64Array, width: int) -> Iterator[slice | IntArray]:
    """Cut a block where all weights are equal not at all, else so that one slab fits a block."""
    if np.all(p == p[0]):
        yield slice(None)
        return
    step = max(1, BLOCK_BYTES // (8 * width))
    for start in range(0, len(p), step):
        yield np.arange(start, min(start + step, len(p)))


def _errors(
    machine: TallMachine,
    T: Float64Array,
    y: Float64Array,
    p: Float64Array,
    kept: Float64Array,
) -> Float64Array:
    """Errors from spectral coordinates T (m, r); `kept` (m, L) are the rows' own strengths."""
    e, c = machine.spectrum.e, machine.spectrum.c
    constant = 1.0 if machine.training.intercept else 0.0
    if np.all(p == p[0]):
        bottom = e[:, None] + kept[0]
        inverse = np.divide(1.0, bottom, out=np.zeros_like(bottom), where=e[:, None] > 0)
        leverage = p[0] * (constant + T**2 @ inverse)
        grid = (inverse[:, :, None] * c[:, None, :]).reshape(len(e), -1)
        fitted = (T @ grid).reshape(len(T), kept.shape[1], -1)
    else:
        bottom = e + kept[:, :, None]
        inverse = np.divide(1.0, bottom, out=np.zeros_like(bottom), where=e > 0)
        leverage = p[:, None] * (constant + np.einsum("mr,mlr->ml", T**2, inverse))
        fitted = np.einsum("mr,mlr,rt->mlt", T, inverse, c, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = (y[:, None, :] - fitted) / (1.0 - leverage)[:, :, None]
    return np.asarray(error.transpose(1, 0, 2))


def leave_one_out(
    machine: Machine, lams: Float64Array, power: int
) -> tuple[Float64Array, Float64Array]:
    """Return mean and standard error of ``|error|^power`` over rows: (L,) each."""
    s = machine.training.s
    weight, first, second = 0.0, np.zeros(len(lams)), np.zeros(len(lams))
    count = 0
    for rows, error in left_out_errors(machine, lams):
        cost = np.mean(np.abs(error) ** power, axis=2)
        weights = np.ones(len(rows)) if s is None else s[rows]
        weight += float(weights.sum())
        first += cost @ weights
        second += cost**2 @ weights
        count += len(rows)
    mean = first / weight
    variance = np.maximum(second / weight - mean**2, 0.0)
    return mean, np.sqrt(variance / max(count - 1, 1))


def generalized(machine: Machine, lams: Float64Array) -> Float64Array:
    """Return the generalized cross-validation criterion of each strength: (L,)."""
    spectrum = machine.spectrum
    if not spectrum.complete:
        raise UnsupportedError(
            f"GCV needs the degrees of freedom, which {machine.name} does not give; use folds=10."
        )
    constant = 1.0 if machine.training.intercept else 0.0
    result = []
    for lam in lams:
        left = 1.0 - (constant + spectrum.df(float(lam))) / spectrum.weight
        error = float(np.mean(spectrum.mean_square_residual(float(lam))))
        result.append(error / left**2 if left > 0 else np.inf)
    return np.array(result)
