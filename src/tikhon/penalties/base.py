"""The interface of a penalty, and what a user's own inherits.

A penalty is a convex function R(w) >= 0 of the coefficients, of shape (d,) or (d, n_targets); the
intercept never enters. The objective adds ``lam R(w)``. Solvers need its proximal operator

    prox(w, step) = argmin_v  step R(v) + ||v - w||^2 / 2,

duality gaps its conjugate ``R*(v) = sup_w <v, w> - R(w)``, and optimality the distance from minus
the gradient to the subdifferential. Losses do not know of it. Most penalties are sums over
coefficients, and `Separable` is the base to choose for those.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from tikhon.penalties.bisection import smallest_strength, widest_scale
from tikhon.penalties.coordinates import Coordinates
from tikhon.penalties.group_form import GroupForm
from tikhon.typing import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]
Columns = npt.NDArray[np.integer[Any]] | BoolArray
Step = float | FloatArray


class Penalty(ABC):
    """A convex penalty of the coefficients, least (and zero) at ``w = 0`` unless it is a set.

    ``R(w)``.

    Subclasses are frozen dataclasses: parameters are fields. A user's own penalty defines `value`
    and `prox`; `subgradient_distance` and `lam_max` then come from `prox`. Everything that depends
    on columns must follow in `restrict`.

    Attributes
    ----------
    name : str
        How messages and model files call it.
    has_conjugate : bool
        Whether `conjugate` is implemented.

    Examples
    --------
    >>> class Ridge4(Penalty):
    ...     name = "four times the ridge"
    ...     def value(self, w):
    ...         return 2.0 * float(np.sum(w * w))
    ...     def prox(self, w, step):
    ...         return w / (1 + 4 * step)
    >>> Ridge4().subgradient_distance(np.array([1.0, 2.0]), np.array([-4.0, -8.0]))
    array([0., 0.])
    """

    __slots__ = ()

    name: ClassVar[str] = "custom"
    has_conjugate: ClassVar[bool] = False

    @property
    def separable(self) -> bool:
        """Return whether ``R(w)`` is a sum over coefficients, so that `prox` is elementwise."""
        return False

    @property
    def strong_convexity(self) -> float:
        """Return the largest mu for which ``R(w) - mu ||w||^2 / 2`` is known to be convex."""
        return 0.0

    @abstractmethod
    def value(self, w: FloatArray) -> float:
        """Return ``R(w)``, ``inf`` outside its domain."""

    @abstractmethod
    def prox(self, w: FloatArray, step: Step) -> FloatArray:
        """Return ``argmin_v step R(v) + ||v - w||^2 / 2``, for ``step > 0``."""

    def conjugate(self, v: FloatArray) -> float:  # noqa: ARG002
        """Return ``sup_w <v, w> - R(w)``, ``inf`` outside its domain.

        Raises
        ------
        TypeError
            Where no closed form is given.
        """
        raise TypeError(
            f"{type(self).__name__} has no `conjugate`, so no duality gap. Define it and set "
            "`has_conjugate = True`, or rely on the KKT residual."
        )

    def subgradient_distance(self, w: FloatArray, g: FloatArray) -> FloatArray:
        """Return how far `-g` is from the subdifferential of R at `w`, spread over coefficients.

        0 everywhere if and only if w minimises ``<g, .> + R``; divide gradients by lam first.
        Coupled coefficients share a distance so that its 2-norm over them is theirs. Infinite
        outside the domain of R. In this base class, the size of the proximal step
        ``w - prox(w - g, 1)``: it vanishes at the same points, but is not the distance.
        """
        return np.abs(w - self.prox(w - g, 1.0))

    def lam_max(self, g: FloatArray) -> float:
        """Return the least lam for which ``w = 0`` is optimal, ``0 in g + lam dR(0)``.

        Parameters
        ----------
        g : array
            Gradient of the smooth part at w = 0. Unpenalised coordinates are ignored: the caller
            has fitted them.

        Returns
        -------
        float
            ``inf`` if no strength suffices. In this base class, by bisection over `prox`.
        """
        return smallest_strength(lambda lam: not np.any(self.prox(-g / lam, 1.0)))

    def dual_scale(self, v: FloatArray) -> float:
        """Return the largest t in [0, 1] with ``conjugate(t v)`` finite."""
        return widest_scale(lambda t: np.isfinite(self.conjugate(t * v)))

    def unpenalised(self, d: int) -> BoolArray:
        """Return which of `d` coefficients are free of any penalty, shape (d,)."""
        return np.zeros(d, dtype=bool)

    def coordinates(self, d: int) -> Coordinates | None:  # noqa: ARG002
        """Return sizes, squares and bounds of `d` columns, None where that is not the form."""
        return None

    def group_form(self, d: int) -> GroupForm | None:  # noqa: ARG002
        """Return sizes by column and norms by group of `d` columns, None if not of that form."""
        return None

    def support_curvature(self, w: FloatArray) -> tuple[IntArray, FloatArray] | None:
        """Return the entries of `w` that are free to move, and the curvature of R among them.

        Entries count through ``w.ravel()``, and the curvature is its diagonal, (k,), or a matrix,
        (k, k). None where that is not known.
        """
        groups = self.group_form(len(w))
        if groups is not None:
            return groups.support_curvature(w)
        form = self.coordinates(len(w)) if w.ndim == 1 else None
        if form is None:
            return None
        inside = (w > form.lower) & (w < form.upper)
        free = np.flatnonzero(inside & ((w != 0) | (form.l1 == 0)))
        return free, form.l2[free]

    def entry_strengths(self, g: FloatArray) -> FloatArray:
        """Return the least lam at which each column's coefficients rest at 0, for gradient `g`.

        Shape (d,); the largest over penalised columns is `lam_max`. Solvers try the columns with
        large ones first. In this base class, one number for all columns: none comes first.
        """
        return np.full(len(g), self.lam_max(g))

    def on_scaled(self, scale: FloatArray) -> Self:  # noqa: ARG002
        """Return the same penalty for coefficients of columns that were divided by `scale`.

        What penalises the size of a coefficient then penalises that of the scaled column's: that
        is what standardising means. Bounds stay bounds of the user's coefficients. In this base
        class, the penalty itself.
        """
        return self

    def restrict(self, columns: Columns) -> Self:  # noqa: ARG002
        """Return the same penalty for some of the columns: indices, or a mask of shape (d,).

        In this base class, the penalty itself: right when no parameter belongs to a column.
        """
        return self
