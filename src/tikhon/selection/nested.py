"""Nested cross-validation: the score of the whole procedure, the choice of the strength included.

The best mean score of a study flatters, since the strength was chosen by it. So the rows of each
outer fold are set aside, a study of the others chooses a strength by the rule, and its solution is
judged on the rows set aside. What is estimated is the error of *fitting with this grid, these folds
and this rule*, not that of one strength; how far the choices spread tells how well the data
determine them.

The inner study is a function of rows, ``inner(data) -> Study``, so that any solver plugs in.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.errors import FitWarning, UnsupportedError, warn_user
from tikhon.results import frame
from tikhon.selection.class_folds import ClassFolds
from tikhon.selection.folds import Blocked, Folds, Grouped, KFold, Stratified, Time, as_folds
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.typing import BoolArray, Float64Array, IntArray

if TYPE_CHECKING:
    from tikhon.results import Solution

__all__ = ["Nested", "nest", "outer_folds"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Nested:
    """What the outer folds say about a study's way of choosing.

    Attributes
    ----------
    mean, se : float
        Mean score over outer folds, weighted by their sample weight, and its standard error.
    scores : ndarray of shape (K,)
        The score of each outer fold.
    lams : ndarray of shape (K,)
        The strength chosen without that fold.
    df : ndarray of shape (K,)
        Its degrees of freedom.
    supports : ndarray of bool, shape (K, d), or None
        Which columns have a coefficient other than 0 without that fold; None for penalties that
        never set one to 0.
    fold : ndarray of shape (n,) or None
        The outer fold of each row, -1 for rows never set aside; None where outer folds overlap.
    fold_weight : ndarray of shape (K,)
    score : str
    greater_is_better : bool
    seconds : float
    """

    mean: float
    se: float
    scores: Float64Array
    lams: Float64Array
    df: Float64Array
    supports: BoolArray | None
    fold: IntArray | None
    fold_weight: Float64Array
    score: str
    greater_is_better: bool
    seconds: float

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        low, high = self.spread
        return (
            f"Nested({len(self)} outer folds, {self.score} {self.mean:.6g} +- {self.se:.2g}, "
            f"lam from {low:.3g} to {high:.3g})"
        )

    @property
    def spread(self) -> tuple[float, float]:
        """The smallest and the largest of the chosen strengths."""
        return float(self.lams.min()), float(self.lams.max())

    @property
    def support_sizes(self) -> IntArray | None:
        """How many columns have a coefficient other than 0 in each outer fold."""
        return None if self.supports is None else self.supports.sum(axis=1)

    @property
    def frequency(self) -> Float64Array | None:
        """The share of outer folds in whose support each column is, (d,)."""
        return None if self.supports is None else self.supports.mean(axis=0)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per outer fold: score, chosen strength, its df, size of the support."""
        columns = {"score": self.scores, "lam": self.lams, "df": self.df}
        if self.support_sizes is not None:
            columns["columns"] = self.support_sizes.astype(np.float64)
        return frame(columns, backend)


def outer_folds(folds: Any, nested: Any, *, grouped: bool) -> Folds | None:
    """Return the rule of the outer folds: the inner one, or the same with `nested` folds.

    None if `nested` is False.
    """
    if isinstance(nested, bool | np.bool_):
        if not nested:
            return None
    elif not (isinstance(nested, int | np.integer) and nested >= 2):
        raise ValueError(
            f"`nested` must be True, False or a number of outer folds >= 2, got {nested!r}."
        )
    if isinstance(folds, str):
        raise UnsupportedError(
            f"`nested` needs folds that can be cut twice, and folds={folds!r} has none; "
            "use folds=10."
        )
    rule = as_folds(folds, grouped=grouped)
    if isinstance(rule, ClassFolds):
        return _outer_of_classes(rule, nested, grouped=grouped)
    if isinstance(rule, KFold | Stratified | Grouped | Blocked | Time):
        return rule if isinstance(nested, bool | np.bool_) else replace(rule, k=int(nested))
    if not callable(getattr(folds, "split", None)):
        raise UnsupportedError(
            "`nested` cuts the training rows again, and fold numbers or pairs of your own say how "
            "to cut all rows only; use a number (with `groups`), one of tk.folds, or a splitter."
        )
    if not isinstance(nested, bool | np.bool_):
        raise UnsupportedError(
            f"nested={nested} cannot change the number of folds of {type(folds).__name__}; "
            "use nested=True."
        )
    return rule


def _outer_of_classes(rule: ClassFolds, nested: Any, *, grouped: bool) -> ClassFolds:
    """The same for folds that keep every class in every training set."""
    if rule.rule is None:
        return rule if isinstance(nested, bool | np.bool_) else rule.with_folds(int(nested))
    return replace(rule, rule=outer_folds(rule.rule, nested, grouped=grouped))


def nest(
    study: Study,
    data: Data,
    inner: Callable[[Data], Study],
    outer: Folds,
    score: Score,
    *,
    supports: bool,
    stop: Stop | None = None,
) -> Study:
    """Return a study with the honest score of the procedure `inner` that made it.

    Parameters
    ----------
    study : Study
        ``inner(data)``.
    data : Data
    inner : callable
        The procedure: from rows to a study whose rule chooses.
    outer : Folds
    score : Score
        What the chosen solution is judged by, on the rows set aside.
    supports : bool
        Whether the penalty sets coefficients to 0.
    stop : Stop, optional
        Where the time is up before the last outer fold is done there is no honest score: the study
        comes back without one, with a warning.
    """
    started = time.perf_counter()
    split = outer.split(Rows(data.design, data.y, data.used, data.groups))
    scores, weights, df, chosen = [], [], [], []
    for k in range(len(split)):
        test = split.cells.where(split.test[k])
        try:
            part = inner(data.rows(split.cells.where(split.train[k])))
            at = part.index()
        except ValueError as error:
            error.add_note(f"(on the training rows of outer fold {k} of {len(split)}, `nested`)")
            raise
        if part.skipped or (stop is not None and stop.now and k + 1 < len(split)):
            warn_user(
                f"the time was up after {k} of {len(split)} outer folds, so there is no nested "
                "score; raise `max_seconds`, or use fewer strengths or folds.",
                FitWarning,
            )
            return study
        solution = part.path[at]
        scores.append(_judge(solution, data, test, score))
        weights.append(float(len(test)) if data.s is None else float(data.s[test].sum()))
        df.append(float(part.path.df[at]))
        chosen.append(solution)
    fold_weight = np.array(weights)
    mean, se = summarise(np.array([scores]), fold_weight)
    found = Nested(
        mean=float(mean[0]),
        se=float(se[0]),
        scores=np.array(scores),
        lams=np.array([float(solution.lam) for solution in chosen]),
        df=np.array(df),
        supports=np.stack([_support(s.coef) for s in chosen]) if supports else None,
        fold=fold_of_rows(split),
        fold_weight=fold_weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        seconds=time.perf_counter() - started,
    )
    return replace(study, nested=found)


def _judge(solution: Solution, data: Data, rows: IntArray, score: Score) -> float:
    z = np.asarray(data.design.rows(rows).predict(solution.coef) + solution.intercept)
    z = z.reshape(len(rows), -1)
    if data.offset is not None:
        z = z + data.offset[rows]
    s = None if data.s is None else data.s[rows]
    return score(data.y[rows], z, s)


def _support(coef: Float64Array) -> BoolArray:
    return np.asarray(np.any(coef.reshape(len(coef), -1) != 0, axis=1))
