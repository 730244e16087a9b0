"""Where a stochastic solver is: it learns from rows as they come and can be asked at any time.

The average is over the iterates before their step, as in lecture 001. "suffix" forgets the early
ones: at step t with ``2^k <= t < 2^(k+1)`` it averages those since ``2^(k-1)``, between the last
half and the last three quarters of all, without knowing where the end is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_data
from tikhon.errors import Problems
from tikhon.solvers.textbook.options import Averaging
from tikhon.solvers.textbook.rows import Draws, Rows, Rules, Walker
from tikhon.solvers.textbook.schedules import Schedule, rates
from tikhon.typing import Float64Array, IntArray

__all__ = ["Manner", "StochasticState"]

Record = Callable[[IntArray, Float64Array], None]


@dataclass(frozen=True, slots=True)
class Manner:
    """How rows are drawn and averages taken.

    Attributes
    ----------
    batch_size : int
    sampling : str
        "epoch": every row once in each pass, in random order; "uniform": one row after another,
        drawn with replacement, in proportion to the weights.
    averaging : str
    seed : int
    """

    batch_size: int
    sampling: str
    averaging: Averaging
    seed: int


@dataclass(frozen=True, slots=True, eq=False)
class _Progress:
    """All that changes on the way, in one piece: an interruption finds the old or the new one.

    Attributes
    ----------
    at : Walker
        Its sums are of the last `since` iterates.
    steps, drawn, since : int
    older : tuple
        The sums that were forgotten last, and of how many iterates.
    """

    at: Walker
    steps: int
    drawn: int
    since: int
    older: tuple[Float64Array, Float64Array, int]

    def advanced(self, at: Walker, batches: int, drawn: int, *, suffix: bool) -> _Progress:
        """Progress after some batches; the suffix forgets at powers of two."""
        steps, since = self.steps + batches, self.since + batches
        if suffix and steps.bit_count() == 1:
            older = (at.w_sum, at.b_sum, since)
            return _Progress(at.forgetting(), steps, self.drawn + drawn, 0, older)
        return _Progress(at, steps, self.drawn + drawn, since, self.older)


class StochasticState:
    """A stochastic solver in the middle of its way; made by the solver's `begin`.

    An estimator keeps one for `partial_fit`: each call of `learn` is one pass over the rows it is
    given, `coef` and `intercept` are the present answer. States can be pickled and copied, and a
    copy goes on as the original does, to the bit.

    Attributes
    ----------
    steps : int
        Batches so far.
    rows_drawn : int
        Rows so far.
    searched : float
        Sweeps over the first rows that it took to find a schedule.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> X, y = (X - X.mean(axis=0)) / X.std(axis=0), np.sign(y - 140.5)
    >>> svm = tk.Problem(tk.losses.Hinge(), tk.penalties.L2(), 0.1, intercept=False)
    >>> state = tk.solvers.Pegasos().begin(svm, n_features=10)
    >>> for start in range(0, 400, 100):
    ...     _ = state.learn(X[start : start + 100], y[start : start + 100])
    >>> state.steps, state.coef.shape
    (400, (10,))
    """

    def __init__(
        self,
        rules: Rules,
        manner: Manner,
        shape: tuple[int, ...],
        schedule: Schedule | None,
        find: Callable[[Rows], tuple[Schedule, float]] | None = None,
    ) -> None:
        self.rules = rules
        self.manner = manner
        self.schedule = schedule
        self.find = find
        self.searched = 0.0
        nothing = (np.zeros(shape), np.zeros(shape[1:]), 0)
        self._progress = _Progress(Walker.zero(shape), 0, 0, 0, nothing)
        self._rng = np.random.default_rng(manner.seed)
        self._weight = (0.0, 0)

    def learn(self, X: Any, y: Any, sample_weight: Any = None) -> StochasticState:
        """Make one pass over some rows; return the state itself.

        Parameters
        ----------
        X : array, sparse array or DataFrame of shape (n, d)
        y : array of shape (n,) or (n, targets)
            Targets as the loss takes them: -1 and 1, or codes, for classes.
        sample_weight : array of shape (n,), optional
            With "epoch" sampling relative to the mean weight of all rows so far; with "uniform"
            sampling how often rows of this call are drawn.

        Raises
        ------
        InputError
            For anything wrong with the rows.
        """
        data = as_data(X, y, sample_weight=sample_weight)
        problems = Problems()
        complaint = self.rules.loss.check_targets(data.y[:, 0] if data.one_target else data.y)
        if complaint:
            problems.add("target", complaint, "See the loss for the targets it takes.")
        d = len(self._progress.at.w)
        if data.design.shape[1] != d:
            problems.add(
                "shape",
                f"`X` has {data.design.shape[1]} columns, the state {d}",
                "Give the columns of the first call.",
            )
        problems.raise_if_any()
        used = data.rows(data.used) if len(data.used) < len(data.y) else data
        target = used.y[:, 0] if used.one_target else used.y
        self.learn_rows(Rows(used.design, target), used.s)
        return self

    def learn_rows(
        self,
        rows: Rows,
        s: Float64Array | None,
        *,
        draws: int | None = None,
        late: Callable[[], bool] = bool,
        record: Record | None = None,
    ) -> None:
        """Draw as many rows as there are, or `draws`, and take a step for each batch.

        `late` is asked now and then whether to end early; `record` is told which rows were drawn
        and the derivative of the loss found for each.
        """
        if self.schedule is None:
            assert self.find is not None, "a state has a schedule, or a way to find one"
            self.schedule, self.searched = self.find(rows)
        size = min(self.manner.batch_size, len(rows))
        index, weight = self._draw(len(rows), s, len(rows) if draws is None else draws)
        place = 0
        while place < len(index) and not late():
            many = min(rows.at_once(size), size * self._until_shift())
            chunk = slice(place, min(place + many, len(index)))
            chosen = index[chunk]
            batches = -(-len(chosen) // size)
            gain = rates(self.schedule, self.steps + 1, batches)
            factors = None if weight is None else weight[chunk]
            at = self._progress.at.copy()
            slopes = rows.walk(self.rules, Draws(chosen, factors, size, gain), at)
            suffix = self.manner.averaging == "suffix"
            self._progress = self._progress.advanced(at, batches, len(chosen), suffix=suffix)
            if record is not None:
                record(chosen, slopes)
            place = chunk.stop

    @property
    def steps(self) -> int:
        """Batches so far."""
        return self._progress.steps

    @property
    def rows_drawn(self) -> int:
        """Rows so far."""
        return self._progress.drawn

    @property
    def last(self) -> tuple[Float64Array, Float64Array]:
        """Coefficients and intercept after the last step."""
        at = self._progress.at
        return at.w.copy(), np.array(at.b)

    @property
    def coef(self) -> Float64Array:
        """Coefficients, averaged as asked for."""
        return self._point()[0]

    @property
    def intercept(self) -> float | Float64Array:
        """Intercept, averaged as asked for."""
        b = self._point()[1]
        return float(b) if b.ndim == 0 else b

    def _point(self) -> tuple[Float64Array, Float64Array]:
        progress = self._progress
        w, b, count = progress.older
        count += progress.since
        if self.manner.averaging == "last" or count == 0:
            return self.last
        return (w + progress.at.w_sum) / count, np.asarray((b + progress.at.b_sum) / count)

    def _until_shift(self) -> int:
        """Steps until the suffix forgets."""
        if self.manner.averaging != "suffix":
            return 2**62
        return max(1, (1 << self.steps.bit_length()) - self.steps)

    def _draw(
        self, n: int, s: Float64Array | None, draws: int
    ) -> tuple[IntArray, Float64Array | None]:
        """Rows in the order they are taken, and factors of their gradients."""
        if self.manner.sampling == "uniform":
            if s is None:
                return self._rng.integers(n, size=draws), None
            share = np.cumsum(s)
            chosen = np.searchsorted(share, self._rng.random(draws) * share[-1], side="right")
            return np.minimum(chosen, n - 1).astype(np.int64), None
        weight, seen = self._weight
        self._weight = (weight + (float(n) if s is None else float(s.sum())), seen + n)
        mean = self._weight[0] / self._weight[1]
        # In one batch of all rows the order does not matter, and there is none.
        whole = self.manner.batch_size >= n
        index = np.arange(n) if whole else self._rng.permutation(n)
        if s is None and mean == 1.0:
            return index[:draws], None
        factors = np.ones(n) if s is None else s
        return index[:draws], np.ascontiguousarray((factors / mean)[index[:draws]])
