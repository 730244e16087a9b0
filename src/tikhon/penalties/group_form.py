"""The form of a penalty that group solvers take: sizes and squares by column, norms by group.

    R(W) = sum_j (l1_j ||W_j||_1 + l2_j ||W_j||^2 / 2) + sum_g weight_g ||W_g||

Several targets count as part of their column's group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tikhon.typing import Float64Array, FloatArray, IntArray

__all__ = ["GroupForm"]


@dataclass(frozen=True, slots=True, eq=False)
class GroupForm:
    """Groups of columns, what their norms cost, and what their coefficients cost besides.

    Attributes
    ----------
    codes : ndarray of shape (d,)
        The number of each column's group.
    weight : ndarray of shape (groups,)
    l1, l2 : ndarray of shape (d,)
    """

    codes: npt.NDArray[np.intp]
    weight: Float64Array
    l1: Float64Array
    l2: Float64Array

    def scaled(self, factor: float) -> GroupForm:
        """Return the form times a number."""
        return GroupForm(self.codes, self.weight * factor, self.l1 * factor, self.l2 * factor)

    def support_curvature(self, w: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the entries of ``w.ravel()`` that are free to move, and the curvature there.

        Among the nonzero entries of a group that is ``weight_g (I - u u') / ||w_g||``, u its
        direction ``w_g / ||w_g||``; entries without sizes or norms are free as well. Squares add
        their own.
        """
        targets = 1 if w.ndim == 1 else w.shape[1]
        flat = np.asarray(w, dtype=np.float64).ravel()
        group = np.repeat(self.codes, targets)
        price = self.weight[group]
        entries = np.flatnonzero((flat != 0) | ((price == 0) & (np.repeat(self.l1, targets) == 0)))
        value, own = flat[entries], group[entries]
        norm = np.sqrt(np.bincount(own, value**2, minlength=len(self.weight)))
        pull = np.divide(self.weight, norm, out=np.zeros_like(norm), where=norm > 0)
        unit = value / np.where(norm > 0, norm, 1.0)[own]
        same = own[:, None] == own
        H = np.where(same, -np.outer(unit, unit), 0.0)
        H[np.diag_indices(len(entries))] += 1.0
        H *= pull[own][:, None]
        H[np.diag_indices(len(entries))] += np.repeat(self.l2, targets)[entries]
        return entries, H
