"""Columns that enter for all targets or for none: the multi-task lasso and elastic net."""

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from tikhon.numerics import DOMAIN_SLACK, times
from tikhon.penalties.arrays import HoldsArrays, frozen_copy
from tikhon.penalties.base import BoolArray, Columns, Penalty, Step
from tikhon.penalties.group_form import GroupForm
from tikhon.typing import Float64Array, FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultiTask(HoldsArrays, Penalty):
    """A mixture of the norms of rows and of their squares: one row for each column of X.

    ``R(W) = sum_j c_j (l1_ratio ||W_j|| + (1 - l1_ratio) ||W_j||^2 / 2)``, with ``W_j`` the
    coefficients of column j for all targets;  ``R*(V) = sum_j (||V_j|| - c_j l1_ratio)_+^2 /
    (2 c_j (1 - l1_ratio))``, where ``l1_ratio`` is 1: 0 if every ``||V_j|| <= c_j``, else ``inf``.

    A row is 0 or it is not, so a column is chosen for all targets together. With one target it is
    the lasso, or the elastic net.

    Parameters
    ----------
    l1_ratio : float, default 1
        Share of the norms, between 0 (ridge) and 1 (multi-task lasso).
    weights : array of shape (d,), optional
        The multipliers c, >= 0 and finite; 0 frees a column. All 1 by default.

    Examples
    --------
    >>> W = np.array([[3.0, -4.0], [0.6, 0.8]])
    >>> MultiTask().value(W)
    6.0
    >>> MultiTask().prox(W, 1.0)
    array([[ 2.4, -3.2],
           [ 0. ,  0. ]])
    """

    name: ClassVar[str] = "multi_task"
    has_conjugate: ClassVar[bool] = True

    l1_ratio: float = 1.0
    weights: FloatArray | npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"`l1_ratio` must be between 0 and 1, got {self.l1_ratio}.")
        object.__setattr__(self, "l1_ratio", float(self.l1_ratio))
        if self.weights is None:
            return
        weights = frozen_copy(self.weights)
        if weights.ndim != 1:
            raise ValueError(f"`weights` must be one number per column, got shape {weights.shape}.")
        wrong = weights[~((weights >= 0) & (weights < np.inf))]
        if len(wrong):
            raise ValueError(f"`weights` must be >= 0 and finite, got {wrong[0]}.")
        object.__setattr__(self, "weights", weights)

    @property
    def strong_convexity(self) -> float:
        """Return ``1 - l1_ratio`` times the smallest weight."""
        least = 1.0 if self.weights is None else float(np.min(np.asarray(self.weights), initial=1))
        return (1.0 - self.l1_ratio) * least

    def value(self, w: FloatArray) -> float:
        """Return ``sum_j c_j (l1_ratio ||W_j|| + (1 - l1_ratio) ||W_j||^2 / 2)``."""
        norms = _norms(w)
        each = self.l1_ratio * norms
        if self.l1_ratio < 1:
            with np.errstate(over="ignore"):
                each = each + (1.0 - self.l1_ratio) * norms**2 / 2.0
        return float(np.sum(times(self._multipliers(len(w)), each)))

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return each row shortened by ``step c_j l1_ratio``, over ``1 + step c_j (1 - l1_ratio)``.

        Only one step for all coefficients: a row has one length.
        """
        c, norms = self._multipliers(len(w)), _norms(w)
        shortened = np.maximum(0.0, norms - step * c * self.l1_ratio)
        share = np.divide(shortened, norms, out=np.zeros_like(norms), where=norms > 0)
        return _spread(share / (1.0 + step * c * (1.0 - self.l1_ratio)), w)

    def conjugate(self, v: FloatArray) -> float:
        """Return the conjugate, ``inf`` outside its domain, which ends 8 ulp beyond its bound."""
        c, norms = self._multipliers(len(v)), _norms(v)
        bound = c * self.l1_ratio
        excess = np.maximum(0.0, norms - bound)
        curved = c * (1.0 - self.l1_ratio)
        slack = DOMAIN_SLACK * np.finfo(v.dtype).eps
        if np.any((curved == 0) & (norms > bound * (1.0 + slack))):
            return np.inf
        with np.errstate(over="ignore"):
            each = np.divide(excess**2, 2.0 * curved, where=curved > 0, out=np.zeros_like(norms))
        return float(np.sum(each))

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return what remains of `g` by row, as sizes whose 2-norm is the row's distance."""
        c, norms, sizes = self._multipliers(len(w)), _norms(w), _norms(g)
        bound = c * self.l1_ratio
        pull = np.divide(bound, norms, out=np.zeros_like(norms), where=norms > 0)
        pull += c * (1.0 - self.l1_ratio)
        excess = np.maximum(0.0, sizes - bound)
        left = np.divide(excess, sizes, out=np.zeros_like(norms), where=sizes > 0)
        share = np.where(norms > 0, 1.0, left)
        return np.abs(_spread(share, g) + _spread(pull, w))

    def group_form(self, d: int) -> GroupForm:
        """Return groups of one column each, and the squares."""
        c = self._multipliers(d)
        sizes, squares = self.l1_ratio * c, (1.0 - self.l1_ratio) * c
        return GroupForm(np.arange(d), sizes, np.zeros(d), squares)

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return ``||g_j|| / (c_j l1_ratio)``; 0 for columns of weight 0."""
        c, sizes = self._multipliers(len(g)), _norms(g)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            needed = np.where(sizes == 0, 0.0, sizes / (c * self.l1_ratio))
        return np.where(c == 0, 0.0, needed)

    def lam_max(self, g: FloatArray) -> float:
        """Return the largest ``||g_j|| / (c_j l1_ratio)``, ``inf`` for a share of 0."""
        return float(np.max(self.entry_strengths(g), initial=0.0))

    def dual_scale(self, v: FloatArray) -> float:
        """Return the largest t in [0, 1] with ``t V`` in the domain of the conjugate."""
        c, norms = self._multipliers(len(v)), _norms(v)
        flat = (norms > 0) & (c * (1.0 - self.l1_ratio) == 0)
        room = np.divide(c * self.l1_ratio, norms, out=np.ones_like(norms), where=flat)
        return float(np.min(room, initial=1.0))

    def unpenalised(self, d: int) -> BoolArray:
        """Return True for columns of weight 0."""
        return np.asarray(self._multipliers(d) == 0)

    def restrict(self, columns: Columns) -> Self:
        """Return the same for some of the columns, with their weights."""
        if self.weights is None:
            return self
        return type(self)(self.l1_ratio, np.asarray(self.weights)[columns])

    def _multipliers(self, d: int) -> Float64Array:
        if self.weights is None:
            return np.ones(d)
        c = np.asarray(self.weights, dtype=np.float64)
        if len(c) != d:
            raise ValueError(
                f"`weights` has {len(c)} entries for {d} coefficients. "
                "Give one entry per column of X."
            )
        return c


def _norms(w: FloatArray) -> Float64Array:
    """Return ``||W_j||`` of each row, scaled by its largest entry so that no square overflows."""
    rows = np.abs(w if w.ndim > 1 else w[:, None]).astype(np.float64)
    largest = rows.max(axis=1, initial=0.0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(unit * np.sqrt(((rows / unit[:, None]) ** 2).sum(axis=1)))


def _spread(factors: Float64Array, w: FloatArray) -> FloatArray:
    """Return `w` with every row multiplied by its factor, in the float type of `w`."""
    rows = factors.astype(w.dtype)
    return np.asarray(w * rows.reshape((-1,) + (1,) * (w.ndim - 1)))
