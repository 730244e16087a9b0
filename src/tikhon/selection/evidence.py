"""What a rule may look at when it chooses a strength: held-out scores, and the fit to all rows.

Rules see figures only. `Sample` is what the strengths of a study have in common (the loss, how many
rows, columns and targets), `Evidence` adds one number per strength of each kind.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tikhon.data.coerce import Data
from tikhon.losses.base import Loss
from tikhon.results import Path
from tikhon.selection.training_rows import TrainingRows
from tikhon.typing import Float64Array

__all__ = ["Evidence", "Sample", "strongest_of_the_best"]

TIE = 1e-12
"""Costs that differ by less, relatively, are equal: the stronger strength wins."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The training rows as a criterion counts them.

    Attributes
    ----------
    loss : Loss
    weight : float
        The sum of the sample weights: the number of rows, where there are none.
    n_features : int
    n_targets : int
    intercept : bool
    rows : TrainingRows or None
        For rules that judge every solution on the rows themselves.
    """

    loss: Loss
    weight: float
    n_features: int
    n_targets: int
    intercept: bool
    rows: TrainingRows | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, loss: Loss, data: Data, *, intercept: bool) -> Sample:
        """Count the rows of positive weight."""
        weight = float(len(data.y)) if data.s is None else float(data.s.sum())
        d, targets = data.design.shape[1], data.y.shape[1]
        return cls(loss, weight, d, targets, intercept, TrainingRows(data, intercept))


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """What a study knows about each strength, strongest first.

    Attributes
    ----------
    cost : ndarray of shape (L,)
        Mean held-out score, turned so that smaller is better.
    se : ndarray of shape (L,)
        Its standard error, nan where there is none.
    path : Path
        Its `df` and `losses`, which are computed when a rule looks at them.
    sample : Sample
    """

    cost: Float64Array
    se: Float64Array
    path: Path
    sample: Sample

    @property
    def df(self) -> Float64Array:
        """Degrees of freedom of each target, the intercept not counted; nan where unknown: (L,)."""
        return self.path.df

    @property
    def losses(self) -> Float64Array:
        """Mean loss on all training rows, summed over targets, without the penalty: (L,)."""
        return self.path.losses


def strongest_of_the_best(cost: Float64Array, slack: float = 0.0) -> int:
    """Return the first position whose cost exceeds the smallest by at most `slack`, or rounding.

    Raises
    ------
    ValueError
        If every cost is nan.
    """
    if np.isnan(cost).all():
        raise ValueError("every score of the study is nan: no strength can be chosen.")
    limit = float(np.nanmin(cost)) + slack
    return int(np.argmax(cost <= limit + TIE * abs(limit)))
