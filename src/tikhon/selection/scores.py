"""What a held-out prediction is judged by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["Score", "as_score"]


@dataclass(frozen=True)
class Score:
    """A figure of merit of predictions `z` for targets `y`.

    Parameters
    ----------
    function : callable
        ``function(y, z)`` or ``function(y, z, sample_weight=s)`` -> float; y and z are (m,), or
        (m, targets) where there are several. z is the linear predictor, offset included; with
        class codes y (m,) it has a column for each class.
    name : str
    greater_is_better : bool, default False
    """

    function: Callable[..., float]
    name: str = "score"
    greater_is_better: bool = False

    def __call__(self, y: Float64Array, z: Float64Array, s: Float64Array | None) -> float:
        """Score one set of predictions, (m, targets); (m, classes) for y (m, 1) of class codes."""
        if y.shape[1] == 1:
            y, z = y[:, 0], z[:, 0] if z.shape[1] == 1 else z
        if s is None:
            return float(self.function(y, z))
        if not self._takes_weights():
            raise ValueError(
                f"the score `{self.name}` takes no `sample_weight`, but the rows have weights. "
                "Give it a `sample_weight` argument."
            )
        return float(self.function(y, z, sample_weight=s))

    def _takes_weights(self) -> bool:
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return False
        return "sample_weight" in parameters


def _squared(y: Float64Array, z: Float64Array, sample_weight: Float64Array | None = None) -> float:
    return float(np.mean(np.average((y - z) ** 2, axis=0, weights=sample_weight)))


def _absolute(y: Float64Array, z: Float64Array, sample_weight: Float64Array | None = None) -> float:
    return float(np.mean(np.average(np.abs(y - z), axis=0, weights=sample_weight)))


def _r2(y: Float64Array, z: Float64Array, sample_weight: Float64Array | None = None) -> float:
    mean = np.average(y, axis=0, weights=sample_weight)
    error = np.average((y - z) ** 2, axis=0, weights=sample_weight)
    spread = np.average((y - mean) ** 2, axis=0, weights=sample_weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(spread > 0, 1.0 - error / spread, np.where(error > 0, 0.0, 1.0))
    return float(np.mean(r2))


SQUARED_ERROR = Score(_squared, "squared_error")
_BY_NAME = {
    "squared_error": SQUARED_ERROR,
    "absolute_error": Score(_absolute, "absolute_error"),
    "r2": Score(_r2, "r2", greater_is_better=True),
}


def as_score(score: Any) -> Score:
    """Turn a name, a `Score` or a plain callable (smaller is better) into a `Score`."""
    if score is None:
        return SQUARED_ERROR
    if isinstance(score, Score):
        return score
    if isinstance(score, str):
        if score in _BY_NAME:
            return _BY_NAME[score]
        raise ValueError(
            f"`score` must be one of {', '.join(map(repr, _BY_NAME))}, a tk.Score or a callable, "
            f"got {score!r}."
        )
    if callable(score):
        return Score(score, getattr(score, "__name__", "score"))
    raise ValueError(f"`score` must be a name, a tk.Score or a callable, got {score!r}.")
