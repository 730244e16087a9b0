"""A study: scores by fold and strength, and the path they judge. Rules are applied afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.results import Path, Solution, frame
from tikhon.selection.evidence import Evidence, Sample
from tikhon.selection.rules import Rule, as_rule
from tikhon.selection.split import Split
from tikhon.typing import Float64Array, IntArray

if TYPE_CHECKING:
    from tikhon.selection.held_out import HeldOut, HeldOutSource
    from tikhon.selection.nested import Nested

__all__ = ["Choice", "Study", "fold_of_rows", "summarise"]

RULES = ("min", "1se", "aic", "bic", "ebic")
"""What `Study.criteria` compares."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a rule chooses.

    Attributes
    ----------
    rule : str
    index : int
        Position of the strength, strongest first.
    lam : float
    df : float
        Degrees of freedom there.
    mean, se : float
        Mean held-out score there, and its standard error.
    """

    rule: str
    index: int
    lam: float
    df: float
    mean: float
    se: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Study:
    """What cross-validation found.

    Attributes
    ----------
    path : Path
        Solutions on all rows, strongest strength first.
    scores : ndarray of shape (L, folds) or None
        The score of each strength on each fold; None for leave-one-out and GCV, which give
        `mean` (and leave-one-out `se`) in closed form.
    mean, se : ndarray of shape (L,)
        Mean over folds weighted by their sample weight, and its standard error.
    fold : ndarray of shape (n,) or None
        The test fold of each row, -1 for rows that are never tested; None where test sets
        overlap or there are no folds.
    fold_weight : ndarray of shape (folds,)
    score : str
    greater_is_better : bool
    method : str
        "folds", "loo" or "gcv".
    rule : str or Rule
        What `choose` applies when it is not told otherwise.
    solver : str
        The plan: regime and algorithm.
    seconds : float
    sample : Sample
        Loss, rows, columns and targets, as information criteria count them.
    nested : Nested or None
        The score of the whole procedure, choice included, where it was asked for.
    source : HeldOutSource or None
        How `held_out` predicts the rows of each fold.
    skipped : int
        How many of the strengths asked for were not solved in time; the weakest ones.
    """

    path: Path
    scores: Float64Array | None
    mean: Float64Array
    se: Float64Array
    fold: IntArray | None
    fold_weight: Float64Array
    score: str
    greater_is_better: bool
    method: str
    rule: str | Rule
    solver: str
    seconds: float
    sample: Sample
    nested: Nested | None = None
    source: HeldOutSource | None = None
    skipped: int = 0

    def __repr__(self) -> str:
        how = self.method if self.scores is None else f"{self.scores.shape[1]} folds"
        at = self.index("min")
        return (
            f"Study({len(self.lams)} strengths, {how}, best {self.score} {self.mean[at]:.6g} "
            f"at lam={self.lams[at]:.3g})"
        )

    @property
    def lams(self) -> Float64Array:
        """The strengths, strongest first."""
        return self.path.lams

    @property
    def evidence(self) -> Evidence:
        """What rules look at."""
        cost = -self.mean if self.greater_is_better else self.mean
        return Evidence(cost, self.se, self.path, self.sample)

    @property
    def nested_score(self) -> float:
        """The mean score over outer folds, whose rows had no part in the choice of the strength."""
        if self.nested is None:
            raise UnsupportedError(
                "this study has no `nested_score`: ask for one by nested=True in tk.cross_validate "
                "or tk.Ridge."
            )
        return self.nested.mean

    def index(self, rule: str | Rule | None = None) -> int:
        """Return the position of the strength that a rule chooses."""
        return as_rule(self.rule if rule is None else rule).choose(self.evidence)

    def lam(self, rule: str | Rule | None = None) -> float:
        """Return the strength that a rule chooses."""
        return float(self.lams[self.index(rule)])

    def choose(self, rule: str | Rule | None = None) -> Solution:
        """Return the solution that a rule chooses, without fitting again."""
        return self.path[self.index(rule)]

    def held_out(self, lam: float | None = None) -> HeldOut:
        """Return the prediction of each tested row by the model of a fold that it is not in.

        Computed when it is first asked for, by one fit per fold.

        Parameters
        ----------
        lam : float, optional
            The strength, the chosen one by default.
        """
        if self.source is None:
            raise UnsupportedError(
                "this study does not say how it was made, so it has no held-out predictions; "
                "those of tk.cross_validate and tk.LogisticRegression do."
            )
        return self.source.at(self.lam() if lam is None else float(lam))

    @property
    def best_cost(self) -> float:
        """The best mean score, with the sign that makes smaller ones better."""
        cost = -self.mean if self.greater_is_better else self.mean
        return float(cost[self.index("min")])

    @property
    def at_edge(self) -> str | None:
        """Whether the best strength is the "smallest" or "largest" of the grid; None if inside."""
        best = self.index("min")
        if len(self.lams) == 1 or 0 < best < len(self.lams) - 1:
            return None
        return "largest" if best == 0 else "smallest"

    def criteria(self, rules: Sequence[str | Rule] = RULES) -> tuple[Choice, ...]:
        """Return what each rule chooses, without fitting again: rows of a table.

        Rules that this study has no evidence for are left out: "1se" without standard errors,
        criteria without degrees of freedom or a likelihood. ``pandas.DataFrame(study.criteria())``
        is a table.
        """
        chosen = []
        for rule in rules:
            try:
                at = self.index(rule)
            except UnsupportedError:
                continue
            figures = (self.lams, self.path.df, self.mean, self.se)
            name = rule if isinstance(rule, str) else repr(rule)
            chosen.append(Choice(name, at, *(float(figure[at]) for figure in figures)))
        return tuple(chosen)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return strengths, mean scores, standard errors and the folds' scores as a DataFrame."""
        columns = {"lam": self.lams, "df": self.path.df, "mean": self.mean, "se": self.se}
        if self.scores is not None:
            columns |= {f"fold{k}": np.ascontiguousarray(s) for k, s in enumerate(self.scores.T)}
        return frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores against the strength; return the matplotlib axes."""
        from tikhon.report.plots import plot_study

        return plot_study(self, ax)


def summarise(scores: Float64Array, weight: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the weighted mean over folds and its standard error (nan for a single fold)."""
    share = weight / weight.sum()
    mean = scores @ share
    if scores.shape[1] == 1:
        return mean, np.full(len(mean), np.nan)
    variance = (scores - mean[:, None]) ** 2 @ share
    return mean, np.sqrt(variance / (scores.shape[1] - 1))


def fold_of_rows(split: Split) -> IntArray | None:
    """Return the test fold of each row, -1 for none; None if a row is tested more than once."""
    if np.any(split.test.sum(axis=0) > 1):
        return None
    of_cell = np.where(split.test.any(axis=0), split.test.argmax(axis=0), -1)
    return np.where(split.labels >= 0, of_cell[split.labels], -1)
