"""The constants of a loss on a table: what the bounds of lecture 001 are computed from.

    rho  = (Lipschitz constant in z) sup ||x||          beta = (smoothness in z) sup ||x||^2

The squared losses are Lipschitz on bounded ranges only. Regularization gives the range: with
``loss(0) <= C`` every regularized minimiser has ``||w|| <= sqrt(2 C / lam)``, of this sample and of
any other, and so has the segment between two of them. On that ball ``|z| <= sup ||x|| ||w||``.

Suprema over a distribution are not in a table. The largest of the rows stands in for them unless
`radius` and `target` are given, and the assumptions say which of the two it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.data.design import Design
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.losses.squared_hinge import SquaredHinge
from tikhon.theory.bounds.bound import Assumption
from tikhon.theory.bounds.stable import LIPSCHITZ, SMOOTH
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["Constants", "constants", "largest_norm"]


@dataclass(frozen=True, slots=True)
class Constants:
    """What the bounds need to know of a loss on a table.

    Attributes
    ----------
    loss : Loss
    lipschitz, smoothness : float
        In z; inf where there is none.
    radius : float
        ``sup ||x||``, given or the largest of the rows.
    at_zero : float
        C, with ``loss(y, 0) <= C``.
    assumptions : tuple of Assumption
        What the constants rest on.
    """

    loss: Loss
    lipschitz: float
    smoothness: float
    radius: float
    at_zero: float
    assumptions: tuple[Assumption, ...]

    @property
    def rho(self) -> float:
        """Lipschitz constant of ``w -> loss``."""
        return self.lipschitz * self.radius

    @property
    def beta(self) -> float:
        """Smoothness of ``w -> loss``."""
        return self.smoothness * self.radius**2


def constants(
    loss: Loss,
    X: Any,
    y: ArrayLike,
    lam: float | None = None,
    *,
    radius: float | None = None,
    target: float | None = None,
    mean: Float64Array | None = None,
    scale: Float64Array | None = None,
) -> Constants:
    """Find rho, beta and C of a loss on a table.

    Parameters
    ----------
    loss : Loss
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,)
        As the loss takes them: classes are -1 and +1.
    lam : float, optional
        L2 strength; squared losses are Lipschitz only with one.
    radius, target : float, optional
        Bounds on ``||x||`` and ``|y|`` known in advance, for all rows that may come.
    mean, scale : arrays of shape (d,), optional
        Coordinates in which the coefficients are penalised: ``(x - mean) / scale``.

    Returns
    -------
    Constants

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> X, y = np.array([[3.0, 4.0], [0.0, 1.0]]), np.array([1.0, -1.0])
    >>> hinge = constants(tk.losses.Hinge(), X, y)
    >>> hinge.rho, hinge.at_zero
    (5.0, 1.0)
    >>> squared = constants(tk.losses.Squared(), X, y, lam=1.0)  # (5 * sqrt(1 / 1) + 1) * 5
    >>> squared.rho, squared.beta
    (30.0, 25.0)
    """
    design: Design = X if isinstance(X, Design) else as_design(X)
    y = np.asarray(y, dtype=np.float64)
    seen = largest_norm(design, mean, scale)
    sup = seen if radius is None else float(radius)
    size = float(np.max(np.abs(y), initial=0.0))
    bound = size if target is None else float(target)
    notes = [_reach("||x|| <= R for every row", "R", seen, radius, len(y), "radius")]
    if not loss.classification:
        notes.append(_reach("|y| <= T for every row", "T", size, target, len(y), "target"))
    ends = np.array([-1.0, 1.0]) * (1.0 if loss.classification else bound)
    with np.errstate(all="ignore"):
        at_zero = float(np.max(loss.value(ends, np.zeros(2))))
    lipschitz, why = _lipschitz(loss, lam, sup, bound, at_zero)
    notes.append(Assumption.checked(LIPSCHITZ, math.isfinite(lipschitz), why))
    smoothness = math.inf if loss.smoothness is None else loss.smoothness
    says = f"in z {smoothness:g}, times R^2" if math.isfinite(smoothness) else "it has a kink"
    notes.append(Assumption.checked(SMOOTH, math.isfinite(smoothness), f"{loss.name}: {says}"))
    return Constants(loss, lipschitz, smoothness, sup, at_zero, tuple(notes))


def largest_norm(
    design: Design, mean: Float64Array | None = None, scale: Float64Array | None = None
) -> float:
    """Return the largest ``||(x - mean) / scale||`` of the rows, in one pass."""
    largest = 0.0
    for block in design.blocks(mean):
        rows = block.rows if scale is None else block.rows / scale
        largest = max(largest, float(np.max(np.einsum("ij,ij->i", rows, rows))))
    return math.sqrt(largest)


def _reach(
    what: str, letter: str, seen: float, given: float | None, n: int, argument: str
) -> Assumption:
    if given is None:
        return Assumption.unknown(
            what,
            f"{letter} = {seen:.4g} is the largest of {n} rows; give `{argument}` if it is known",
        )
    return Assumption.checked(
        what, seen <= given, f"{letter} = {given:g}, largest of {n}: {seen:.4g}"
    )


def _lipschitz(
    loss: Loss, lam: float | None, radius: float, target: float, at_zero: float
) -> tuple[float, str]:
    """The Lipschitz constant in z, and where it comes from."""
    if loss.lipschitz is not None:
        return float(loss.lipschitz), f"{loss.name}: {loss.lipschitz:g} in z, times R"
    if not isinstance(loss, Squared | SquaredHinge):
        return math.inf, f"{loss.name}: its slope grows faster than any bound known here"
    if lam is None or not lam > 0:
        return math.inf, (
            f"{loss.name}: Lipschitz on bounded ranges only, and without an L2 part of `lam` > 0 "
            "nothing bounds ||w||; a known bound on ||w|| would do"
        )
    ball = math.sqrt(2.0 * at_zero / lam)
    slope = radius * ball + (target if isinstance(loss, Squared) else 1.0)
    return slope, (
        f"{loss.name}: slope at most {slope:.4g} where ||w|| <= sqrt(2 C / lam) = {ball:.4g}, "
        "which holds all minimisers"
    )
