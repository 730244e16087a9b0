"""Groups of columns that enter together, with few columns of each: the sparse-group lasso.

A mixture of `L1` and `Group`. Nearly everything about it is soft thresholding followed by what
the group lasso does; only the strengths that kill a group need a root.
"""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Self

import numpy as np
import numpy.typing as npt

from tikhon.numerics import DOMAIN_SLACK
from tikhon.penalties.arrays import HoldsArrays
from tikhon.penalties.base import BoolArray, Columns, Penalty, Step
from tikhon.penalties.group import Group
from tikhon.penalties.group_form import GroupForm
from tikhon.penalties.norms import l1
from tikhon.penalties.thresholds import soft_threshold
from tikhon.typing import Float64Array, FloatArray

_MOST_STEPS: Final = 100
"""Newton steps to a root: a handful are taken, and each only improves a lower bound."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparseGroup(HoldsArrays, Penalty):
    """A mixture of the sum of sizes and a weighted sum of the Euclidean norms of groups.

    ``R(w) = l1_ratio ||w||_1 + (1 - l1_ratio) sum_g weights_g ||w_g||``;  ``R*(v) = 0`` if every
    ``||soft(v_g, l1_ratio)|| <= (1 - l1_ratio) weights_g``, else ``inf``.

    Several targets count as part of their column's group, as in `Group`: the norm is over the rows
    of the group and all targets.

    Parameters
    ----------
    groups : array of int, shape (d,)
        The label of each column's group, in any order.
    l1_ratio : float, default 0.5
        Share of L1, between 0 (the same as `Group`) and 1 (the same as `L1`).
    weights : array of shape (n_groups,), optional
        One per distinct label, in increasing order of labels. By default the square root of the
        number of columns in the group. A group of weight 0 is penalised by L1 alone.

    Examples
    --------
    >>> penalty = SparseGroup([0, 0, 1], l1_ratio=0.5, weights=[2.0, 2.0])
    >>> w = np.array([3.5, -4.5, 1.0])
    >>> penalty.prox(w, 1.0)
    array([ 2.4, -3.2,  0. ])
    >>> penalty.lam_max(np.array([0.5, 0.0, -3.0]))
    2.0
    """

    name: ClassVar[str] = "sparse_group"
    has_conjugate: ClassVar[bool] = True

    groups: npt.NDArray[np.integer[Any]] | npt.ArrayLike
    l1_ratio: float = 0.5
    weights: FloatArray | npt.ArrayLike | None = None
    _grouped: Group = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0 <= self.l1_ratio <= 1:
            raise ValueError(f"`l1_ratio` must be between 0 and 1, got {self.l1_ratio}.")
        group = Group(self.groups, self.weights)
        l1_ratio = float(self.l1_ratio)
        object.__setattr__(self, "groups", group.groups)
        object.__setattr__(self, "weights", group.weights)
        object.__setattr__(self, "l1_ratio", l1_ratio)
        share = (1 - l1_ratio) * np.asarray(group.weights)
        object.__setattr__(self, "_grouped", Group(group.groups, share))

    def value(self, w: FloatArray) -> float:
        """Return ``l1_ratio ||w||_1 + (1 - l1_ratio) sum_g weights_g ||w_g||``."""
        return self.l1_ratio * l1(w) + self._grouped.value(w)

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return `w` soft-thresholded at ``step l1_ratio``, then each group shortened.

        That composition is exact: shortening a group keeps every sign and every zero, so the
        subgradient of L1 that soft thresholding used is one at the end result as well. Only one
        step for all coefficients: a group has one length.
        """
        return self._grouped.prox(soft_threshold(w, step * self.l1_ratio), step)

    def conjugate(self, v: FloatArray) -> float:
        """Return 0 if every ``||soft(v_g, l1_ratio)|| <= (1 - l1_ratio) weights_g``, else ``inf``.

        With a slack of 8 ulp of the numbers subtracted: the bound, and l1_ratio for each entry
        that exceeds it.
        """
        partition = self._grouped.partition
        left = soft_threshold(v, self.l1_ratio)
        bound = np.asarray(self._grouped.weights)
        subtracted = bound + self.l1_ratio * partition.norms(np.sign(left))
        slack = DOMAIN_SLACK * np.finfo(v.dtype).eps * subtracted
        return 0.0 if np.all(partition.norms(left) <= bound + slack) else np.inf

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return what no subgradient of L1 removes from `g`, less what the group lasso removes.

        Where ``w_j`` is not 0 the subgradient of L1 is ``l1_ratio sign(w_j)``; where it is 0 all
        of ``[-l1_ratio, l1_ratio]`` are, and g is soft-thresholded.
        """
        ratio = w.dtype.type(self.l1_ratio)
        left = np.where(w == 0, soft_threshold(g, ratio), g + ratio * np.sign(w))
        return self._grouped.subgradient_distance(w, left)

    def group_form(self, d: int) -> GroupForm:
        """Return the groups, their shares of the weights, and L1's."""
        groups = self._grouped.group_form(d)
        return GroupForm(groups.codes, groups.weight, np.full(d, self.l1_ratio), np.zeros(d))

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return the least lam that keeps each column's group at 0; 0 where there is no penalty."""
        if self.l1_ratio == 0:
            return self._grouped.entry_strengths(g)
        return np.asarray(self._killing(g)[self._grouped.partition.codes])

    def lam_max(self, g: FloatArray) -> float:
        """Return the least lam with every ``||soft(g_g / lam, l1_ratio)||`` within its bound."""
        if self.l1_ratio == 0:
            return self._grouped.lam_max(g)
        return float(np.max(self._killing(g), initial=0.0))

    def dual_scale(self, v: FloatArray) -> float:
        """Return the largest t in [0, 1] with every ``||soft(t v_g, l1_ratio)|| in its bound."""
        if self.l1_ratio == 0:
            return self._grouped.dual_scale(v)
        return 1.0 / float(np.max(self._killing(v), initial=1.0))

    def unpenalised(self, d: int) -> BoolArray:
        """Return True for the columns of groups with weight 0, if there is no share of L1."""
        return self._grouped.unpenalised(d) & (self.l1_ratio == 0)

    def restrict(self, columns: Columns) -> Self:
        """Return the groups of some of the columns, with the weights of the full groups."""
        kept = Group(self.groups, self.weights).restrict(columns)
        return type(self)(kept.groups, self.l1_ratio, kept.weights)

    def _killing(self, g: FloatArray) -> Float64Array:
        """Return the least mu >= 0 of each group with ``||soft(g_g, a mu)|| <= b_g mu``.

        With ``a = l1_ratio > 0`` and ``b_g = (1 - l1_ratio) weights_g``. The left side less the
        right is convex and decreasing in mu: Newton steps from 0 rise to the root, the last of them
        exact to rounding. Where b is 0 the root is the largest entry over a. Entries are divided by
        the largest of their group first, so that no square overflows.
        """
        partition, a = self._grouped.partition, self.l1_ratio
        b = np.asarray(self._grouped.weights)
        rows = partition.rows(g)
        largest = partition.largest(rows.max(axis=1, initial=0.0))
        rows /= np.where(largest > 0, largest, 1.0)[partition.codes, None]
        mu = np.zeros_like(largest)
        for _ in range(_MOST_STEPS):
            left = np.maximum(0.0, rows - a * mu[partition.codes, None])
            norm = np.sqrt(partition.sums((left**2).sum(axis=1)))
            total = partition.sums(left.sum(axis=1))
            fall = b + a * np.divide(total, norm, out=np.zeros_like(norm), where=norm > 0)
            rise = np.divide(norm - b * mu, fall, out=np.zeros_like(norm), where=norm > b * mu)
            if not np.any(mu + rise > mu):
                break
            mu += rise
        with np.errstate(over="ignore"):
            return np.asarray(largest * np.where(b > 0, mu, 1.0 / a))
