"""Losses made bounded, for the bounds that hold with high probability.

    regression       min(loss, c)       squared: sqrt(2 c)-Lipschitz in z; Huber: delta
    classification   min(loss, c)       an upper bound of the 0-1 loss (times its value at 0)

A uniform bound is about a loss in [0, c]. Clipping makes every loss one, without an assumption on
the data: what is bounded then is the clipped risk. Only c has to be fixed in advance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.losses.squared_hinge import SquaredHinge
from tikhon.theory.bounds.bound import Assumption, positive
from tikhon.typing import Float64Array

__all__ = ["Clipped", "clip_for"]

KNOWN_CLIP = "c was fixed before the data were seen"


@dataclass(frozen=True, slots=True)
class Clipped:
    """A loss of at most c.

    Attributes
    ----------
    loss : Loss
    c : float
    slope : float
        Lipschitz constant in z of ``min(loss, c)``.
    what : str
        The risk that is bounded, in words.
    assumption : Assumption
        That c did not follow the data.
    """

    loss: Loss
    c: float
    slope: float
    what: str
    assumption: Assumption

    @property
    def assumptions(self) -> tuple[Assumption, Assumption]:
        """That the loss is bounded, made true by clipping, and that c did not follow the data."""
        inside = Assumption.checked("the loss is in [0, c]", True, f"clipped at c = {self.c:.4g}")
        return inside, self.assumption

    def values(self, y: Float64Array, z: Float64Array) -> Float64Array:
        """Return ``min(loss(y, z), c)``; y and z broadcast."""
        return np.minimum(np.asarray(self.loss.value(y, z), dtype=np.float64), self.c)


def clip_for(loss: Loss, y: Float64Array, clip: float | None = None) -> Clipped:
    """Return a loss clipped at `clip`, or at what the targets suggest.

    By default, for regression: the loss of mistaking the smallest target for the largest. For
    classification: the loss on the plane, z = 0, which makes ``min(loss, c) / c`` at least the 0-1
    loss where it errs.

    Parameters
    ----------
    loss : Loss
    y : array of shape (n,)
        Classes are -1 and +1.
    clip : float, optional

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> clip_for(tk.losses.Squared(), np.array([1.0, 5.0])).c  # (5 - 1)^2 / 2
    8.0
    """
    if loss.per_class:
        raise UnsupportedError(
            f"bounds of high probability are for one output, and {type(loss).__name__} has one per "
            "class; fit one class against the rest."
        )
    if clip is not None:
        positive(clip=clip)
        note = Assumption.unknown(KNOWN_CLIP, f"c = {clip:g} was given; only who gave it knows")
        c = float(clip)
    elif loss.classification:
        c = float(loss.value(np.array([1.0]), np.zeros(1))[0])
        note = Assumption.checked(KNOWN_CLIP, True, f"c = {c:.4g}, the loss at z = 0")
    else:
        c = _range(loss, y)
        note = Assumption.unknown(
            KNOWN_CLIP, f"c = {c:.4g} is from the range of these targets; give `clip`"
        )
    return Clipped(loss, c, _slope(loss, c), _what(loss, c), note)


def _range(loss: Loss, y: Float64Array) -> float:
    low, high = np.array([y.min()]), np.array([y.max()])
    with np.errstate(all="ignore"):
        worst = float(max(loss.value(low, high)[0], loss.value(high, low)[0]))
    if not (worst > 0 and math.isfinite(worst)):
        raise UnsupportedError(
            f"`clip` cannot be read off these targets for the {loss.name} loss; give a number."
        )
    return worst


def _slope(loss: Loss, c: float) -> float:
    if isinstance(loss, Squared | SquaredHinge):
        return math.sqrt(2.0 * c)  # r^2 / 2 <= c where it is not clipped
    if loss.lipschitz is not None:
        return float(loss.lipschitz)
    raise UnsupportedError(
        f"the {loss.name} loss has no Lipschitz constant, clipped or not; use Squared, Huber, "
        "Logistic or Hinge."
    )


def _what(loss: Loss, c: float) -> str:
    if loss.classification:
        return "L01" if math.isclose(c, 1.0) else f"{c:.4g} L01"
    return f"E min({loss.name} loss, c)"
