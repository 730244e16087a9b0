"""What a held-out prediction is judged by.

A solver predicts ``z = Xw + b``. A score may look at z itself, at the mean that z stands for (a
probability, an expected count), or at the class it decides for; `Score.of` a loss makes each a
function of (y, z), so that cross-validation knows one kind of score only.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.squared import Squared
from tikhon.selection.class_scores import ON_DECISIONS, ON_PROBABILITIES, class_codes, decided
from tikhon.typing import Float64Array

__all__ = ["Score", "as_class_score", "as_score", "loss_score"]

Weights = Float64Array | None


@dataclass(frozen=True)
class Score:
    """A figure of merit of predictions for targets `y`.

    Parameters
    ----------
    function : callable
        ``function(y, p)`` or ``function(y, p, sample_weight=s)`` -> float; y and p are (m,), or
        (m, targets) where there are several. Classes come as -1 and +1, or 0 .. K-1 where there
        are more than two; p then has one column per class.
    name : str
    greater_is_better : bool, default False
    on : {"mean", "predictor", "class"}, default "mean"
        What p is: the mean that the model predicts (the probability of the positive class, or of
        each; the expected count), the linear predictor ``Xw + b``, or the predicted class, coded
        as y is. All three are the same for a squared loss.

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> missed = tk.Score(lambda y, p: np.mean(y != p), "share missed", on="class")
    >>> missed.of(tk.losses.Logistic()).function(np.array([1.0, -1.0]), np.array([0.3, 0.2]))
    np.float64(0.5)
    """

    function: Callable[..., float]
    name: str = "score"
    greater_is_better: bool = False
    on: str = "mean"

    def __post_init__(self) -> None:
        if self.on not in ("mean", "predictor", "class"):
            raise ValueError(f"`on` must be 'mean', 'predictor' or 'class', got {self.on!r}.")

    def __call__(self, y: Float64Array, z: Float64Array, s: Float64Array | None) -> float:
        """Score one set of predictions, (m, targets) or (m, classes)."""
        y = y[:, 0] if y.shape[1] == 1 else y
        z = z[:, 0] if z.shape[1] == 1 else z
        if s is None:
            return float(self.function(y, z))
        if not self.takes_weights():
            raise ValueError(
                f"the score `{self.name}` takes no `sample_weight`, but the rows have weights. "
                "Give it a `sample_weight` argument."
            )
        return float(self.function(y, z, sample_weight=s))

    def of(self, loss: Loss) -> Score:
        """Return the same score as a function of (y, z) for predictions of this loss."""
        if self.on == "predictor" or isinstance(loss, Squared):
            return self
        inner = self.function
        view: Callable[[Float64Array], Any]
        if self.on == "mean":
            view = loss.inverse_link
        elif loss.classification:
            view = _coded_as_per_class if loss.per_class else _coded_as_signs
        else:
            raise UnsupportedError(
                f"the score `{self.name}` is of predicted classes, and the {loss.name} loss has "
                "none; use on='mean'."
            )
        if not self.takes_weights():
            return replace(self, function=lambda y, z: inner(y, view(z)), on="predictor")

        def seen(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
            return inner(y, view(z), sample_weight=sample_weight)

        return replace(self, function=seen, on="predictor")

    def takes_weights(self) -> bool:
        """Whether the function has a `sample_weight` argument."""
        try:
            parameters = inspect.signature(self.function).parameters
        except (TypeError, ValueError):
            return False
        return "sample_weight" in parameters


def _coded_as_signs(z: Float64Array) -> Float64Array:
    return np.where(z > 0, 1.0, -1.0)


def _coded_as_per_class(z: Float64Array) -> Float64Array:
    return decided(z).astype(np.float64)


def _squared(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    return float(np.mean(np.average((y - z) ** 2, axis=0, weights=sample_weight)))


def _absolute(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    return float(np.mean(np.average(np.abs(y - z), axis=0, weights=sample_weight)))


def _r2(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
    mean = np.average(y, axis=0, weights=sample_weight)
    error = np.average((y - z) ** 2, axis=0, weights=sample_weight)
    spread = np.average((y - mean) ** 2, axis=0, weights=sample_weight)
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = np.where(spread > 0, 1.0 - error / spread, np.where(error > 0, 0.0, 1.0))
    return float(np.mean(r2))


SQUARED_ERROR = Score(_squared, "squared_error")
_OF_MEANS = {
    "squared_error": SQUARED_ERROR,
    "absolute_error": Score(_absolute, "absolute_error"),
    "r2": Score(_r2, "r2", greater_is_better=True),
}


def loss_score(loss: Loss, *, name: str | None = None, times: float = 1.0) -> Score:
    """Return the score that judges by the mean loss, of the best prediction row by row not counted.

    With ``times=2`` it is the deviance: -2 times the log-likelihood, less that of a model which
    predicts every row as well as can be.
    """

    def mean_loss(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
        value = loss.value(y, z)
        if times != 1.0 and not loss.classification:
            value = value + loss.conjugate(y, np.zeros_like(y))  # -loss* is the smallest loss
        return times * float(np.mean(np.average(value, axis=0, weights=sample_weight)))

    return Score(mean_loss, name or f"mean {loss.name} loss", on="predictor")


def _explained(loss: Loss) -> Score:
    """The share of the null model's deviance that is gone: R squared, for any likelihood."""
    deviance = loss_score(loss, times=2.0).function

    def d2(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
        null = np.broadcast_to(loss.null_prediction(y, sample_weight), z.shape)
        worst = deviance(y, null, sample_weight=sample_weight)
        left = deviance(y, z, sample_weight=sample_weight)
        return 1.0 - left / worst if worst > 0 else float(left <= 0)

    return Score(d2, "d2", greater_is_better=True, on="predictor")


def _named(name: str, loss: Loss) -> Score | None:
    """The score of that name for a loss, None if there is none."""
    if name == "loss":
        return loss_score(loss)
    if isinstance(loss, Squared):
        return SQUARED_ERROR if name == "deviance" else _OF_MEANS.get(name)
    likelihood = loss.likelihood == "exact" or loss.link_name == "log"
    if likelihood and name in ("deviance", "log_loss", "d2"):
        if name == "d2":
            return None if loss.per_class else _explained(loss)
        if name == "log_loss":
            return loss_score(loss, name=name) if loss.classification else None
        return loss_score(loss, name=name, times=2.0)
    if not loss.classification:
        return _OF_MEANS[name].of(loss) if name in _OF_MEANS else None
    if name in ON_DECISIONS:
        return Score(*_entry(ON_DECISIONS, name), on="predictor")
    if name in ON_PROBABILITIES and (loss.likelihood == "exact" or name == "auc"):
        score = Score(*_entry(ON_PROBABILITIES, name))
        return score.of(loss) if loss.likelihood == "exact" else replace(score, on="predictor")
    return None


def _entry(
    table: dict[str, tuple[Callable[..., float], bool]], name: str
) -> tuple[Callable[..., float], str, bool]:
    function, greater = table[name]
    return function, name, greater


NAMES = ("deviance", "log_loss", "d2", "loss", *_OF_MEANS, *ON_DECISIONS, *ON_PROBABILITIES)


def as_score(score: Any, loss: Loss | None = None) -> Score:
    """Turn a name, a `Score` or a plain callable (smaller is better) into a score of (y, z).

    By default the squared error, the deviance where the loss is a likelihood, the mean loss
    otherwise.
    """
    loss = Squared() if loss is None else loss
    if score is None:
        score = "deviance" if _named("deviance", loss) is not None else "loss"
    if isinstance(score, Score):
        return score.of(loss)
    if isinstance(score, str):
        found = _named(score, loss)
        if found is not None:
            return found
        suitable = [name for name in NAMES if _named(name, loss) is not None]
        raise ValueError(
            f"`score` for the {loss.name} loss must be one of {', '.join(map(repr, suitable))}, a "
            f"tk.Score or a callable, got {score!r}."
        )
    if callable(score):
        return Score(score, getattr(score, "__name__", "score")).of(loss)
    raise ValueError(f"`score` must be a name, a tk.Score or a callable, got {score!r}.")


def as_class_score(score: Any) -> Score:
    """Turn what a caller may give into a score of decisions that are no probabilities.

    Targets may hold one indicator per class; the score sees codes. The accuracy by default.
    """
    score = "accuracy" if score is None else score
    if isinstance(score, str) and score in _OF_MEANS:
        return _OF_MEANS[score]
    if isinstance(score, str):
        if score in ON_DECISIONS:
            made = Score(*_entry(ON_DECISIONS, score))
        elif score == "auc":
            made = Score(*_entry(ON_PROBABILITIES, score))
        else:
            raise ValueError(
                "`score` of decisions that are no probabilities must be one of "
                f"{', '.join(map(repr, (*ON_DECISIONS, 'auc', 'squared_error')))}, a tk.Score or "
                f"a callable, got {score!r}."
            )
    else:
        made = as_score(score)
    return _of_codes(made)


def _of_codes(score: Score) -> Score:
    """The same score for targets that hold one indicator per class."""
    inner, on_class = score.function, score.on == "class"

    def seen(y: Float64Array, z: Float64Array, sample_weight: Weights = None) -> float:
        coded = class_codes(y).astype(np.float64) if y.ndim == 2 else y
        if on_class:
            z = _coded_as_signs(z) if z.ndim == 1 else _coded_as_per_class(z)
        if sample_weight is None:
            return inner(coded, z)
        return inner(coded, z, sample_weight=sample_weight)

    def unweighted(y: Float64Array, z: Float64Array) -> float:
        return seen(y, z)

    takes = score.takes_weights()
    return replace(score, function=seen if takes else unweighted, on="predictor")
