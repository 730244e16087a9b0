"""Groups of columns that enter together or not at all: the group lasso."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from tikhon.numerics import DOMAIN_SLACK
from tikhon.penalties.arrays import HoldsArrays, frozen_copy
from tikhon.penalties.base import BoolArray, Columns, Penalty, Step
from tikhon.penalties.group_form import GroupForm
from tikhon.penalties.partition import Partition
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Group(HoldsArrays, Penalty):
    """A weighted sum of the Euclidean norms of groups.

    ``R(w) = sum_g weights_g ||w_g||``;  ``R*(v) = 0`` if every ``||v_g|| <= weights_g``, else
    ``inf``.

    Several targets count as part of their column's group: the norm is over the rows of the group
    and all targets, so a column enters for all targets or for none.

    Parameters
    ----------
    groups : array of int, shape (d,)
        The label of each column's group, in any order.
    weights : array of shape (n_groups,), optional
        One per distinct label, in increasing order of labels; 0 leaves a group free. By default
        the square root of the number of columns in the group.

    Attributes
    ----------
    partition : Partition
        The columns of each group; `weights` are in its order.

    Examples
    --------
    >>> penalty = Group([0, 0, 1], weights=[1.0, 2.0])
    >>> w = np.array([3.0, -4.0, 1.0])
    >>> penalty.value(w), penalty.prox(w, 1.0)
    (7.0, array([ 2.4, -3.2,  0. ]))
    """

    name: ClassVar[str] = "group"
    has_conjugate: ClassVar[bool] = True

    groups: npt.NDArray[np.integer[Any]] | npt.ArrayLike
    weights: FloatArray | npt.ArrayLike | None = None
    partition: Partition = field(init=False, repr=False)
    _weights: npt.NDArray[np.float64] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        groups = np.array(self.groups)
        if groups.ndim != 1 or groups.dtype.kind not in "iu":
            raise ValueError(
                "`groups` must be one integer per column, got an array of type "
                f"{groups.dtype} and shape {groups.shape}."
            )
        partition = Partition.of(groups)
        weights = frozen_copy(np.sqrt(partition.sizes) if self.weights is None else self.weights)
        if weights.shape != (len(partition),):
            raise ValueError(
                f"`weights` must have one entry per group, shape {(len(partition),)}, "
                f"got {weights.shape}."
            )
        if not np.all((weights >= 0) & (weights < np.inf)):
            raise ValueError(f"`weights` must be >= 0 and finite, got {weights.tolist()}.")
        groups = groups.astype(np.int64)
        groups.setflags(write=False)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "weights", weights)
        object.__setattr__(self, "partition", partition)
        object.__setattr__(self, "_weights", weights)

    def value(self, w: FloatArray) -> float:
        """Return ``sum_g weights_g ||w_g||``."""
        return float(self._weights @ self.partition.norms(w))

    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return each group shortened by ``step weights_g``, or 0 where it is shorter.

        Only one step for all coefficients: a group has one length.
        """
        norms = self.partition.norms(w)
        shortened = np.maximum(0, norms - step * self._weights)
        return self.partition.spread(
            np.divide(shortened, norms, out=np.zeros_like(norms), where=norms > 0), w
        )

    def conjugate(self, v: FloatArray) -> float:
        """Return 0 if every ``||v_g|| <= weights_g`` but for 8 ulp, else ``inf``."""
        slack = DOMAIN_SLACK * np.finfo(v.dtype).eps
        inside = self.partition.norms(v) <= self._weights * (1 + slack)
        return 0.0 if inside.all() else np.inf

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return what remains of `g` per group, as sizes whose 2-norm is the group's distance.

        Where ``w_g`` is not 0 the only subgradient is ``weights_g w_g / ||w_g||``; at 0 they fill
        the ball of radius ``weights_g``, and g is shortened by it.
        """
        norms, sizes = self.partition.norms(w), self.partition.norms(g)
        pull = np.divide(self._weights, norms, out=np.zeros_like(norms), where=norms > 0)
        excess = np.maximum(0, sizes - self._weights)
        left = np.divide(excess, sizes, out=np.zeros_like(norms), where=sizes > 0)
        share = np.where(norms > 0, 1.0, left)
        return np.abs(self.partition.spread(share, g) + self.partition.spread(pull, w))

    def group_form(self, d: int) -> GroupForm:
        """Return the groups and their weights."""
        self.partition.check_length(d)
        return GroupForm(self.partition.codes, self._weights, np.zeros(d), np.zeros(d))

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return ``||g_g|| / weights_g`` for every column of group g; 0 in groups of weight 0."""
        kept = self._weights > 0
        needed = np.divide(
            self.partition.norms(g), self._weights, out=np.zeros(len(kept)), where=kept
        )
        return np.asarray(needed[self.partition.codes])

    def lam_max(self, g: FloatArray) -> float:
        """Return the largest ``||g_g|| / weights_g`` over groups with positive weight."""
        kept = self._weights > 0
        return float(np.max(self.partition.norms(g)[kept] / self._weights[kept], initial=0.0))

    def dual_scale(self, v: FloatArray) -> float:
        """Return the largest t in [0, 1] with every ``t ||v_g|| <= weights_g``."""
        norms = self.partition.norms(v)
        room = np.divide(self._weights, norms, out=np.ones_like(norms), where=norms > 0)
        return float(np.min(room, initial=1.0))

    def unpenalised(self, d: int) -> BoolArray:
        """Return True for the columns of groups with weight 0."""
        self.partition.check_length(d)
        return np.asarray(self._weights[self.partition.codes] == 0)

    def restrict(self, columns: Columns) -> Self:
        """Return the groups of some of the columns, with the weights of the full groups.

        Weights stay as they are when a group loses columns, so that dropping a column and fixing
        its coefficient at 0 are the same.
        """
        codes = self.partition.codes[columns]
        return type(self)(np.asarray(self.groups)[columns], self._weights[np.unique(codes)])
