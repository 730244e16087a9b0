"""Rules of learning theory: structural risk minimisation, and minimum description length.

    srm    L_S(h) + eps_{d(h)}(m, w(d(h)) delta)                  over nested classes
    mdl    L_S(h) + c sqrt((|h| + log(2 / delta)) / (2 m))        |h| bits of a real code

Each is a bound on the risk, for all candidates together, so the least bound is chosen and is a
guarantee as well. It is about a loss in [0, c]: for classes the 0-1 loss (for balls, the clipped
loss), for numbers the loss clipped at c. Bounds of this kind are wide. On small tables they are
vacuous and choose strong penalties; they say that the sample cannot guarantee more.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.selection.evidence import Evidence, strongest_of_the_best
from tikhon.selection.training_rows import TrainingRows
from tikhon.theory.bounds.bound import probability
from tikhon.theory.classes import (
    Candidates,
    Classes,
    NormClasses,
    SupportClasses,
    weight_of,
)
from tikhon.theory.clipped import Clipped, clip_for
from tikhon.theory.code import Code, code_length, encode, quantised
from tikhon.typing import Float64Array, IntArray

__all__ = ["MDL", "SRM", "Described", "Structured"]

TINY = 1e-300
"""The radius of rows that are all the same."""


@dataclass(frozen=True, slots=True, eq=False)
class Structured:
    """What structural risk minimisation sees of each strength.

    Attributes
    ----------
    level : ndarray of shape (L,)
        The class.
    risk, deviation : ndarray of shape (L,)
        Mean loss on the training rows, in [0, c], and eps of the class.
    c : float
        From this value on a bound is vacuous.
    """

    level: IntArray
    risk: Float64Array
    deviation: Float64Array
    c: float

    @property
    def bound(self) -> Float64Array:
        """The bound on the risk of each strength."""
        return self.risk + self.deviation

    @property
    def vacuous(self) -> bool:
        """Whether no strength has a bound below c."""
        return not float(self.bound.min()) < self.c


@dataclass(frozen=True)
class SRM:
    """Structural risk minimisation over nested classes.

    ``argmin_h L_S(h) + eps_{d(h)}(m, w(d(h)) delta)``

    Parameters
    ----------
    classes : str or Classes, default "auto"
        "norm": balls whose radius doubles. "support": numbers of nonzero coefficients. "auto": the
        second where the path has zeros, else the first. Or `tk.theory.NestedClasses`, your own.
    delta : float, default 0.05
    weight : callable, optional
        ``weight(d)``, with a sum of at most 1; ``6 / (pi^2 (d + 1)^2)`` by default.
    clip : float, optional
        c; by default the loss of mistaking the smallest target for the largest.

    Examples
    --------
    >>> import tikhon as tk
    >>> study = tk.Ridge().fit(*tk.datasets.diabetes()).study_
    >>> study.lam("srm") == study.lam(tk.rules.SRM(classes="norm"))
    True
    """

    classes: str | Classes = "auto"
    delta: float = 0.05
    weight: Callable[[int], float] | None = None
    clip: float | None = None

    def __post_init__(self) -> None:
        probability(self.delta)
        if isinstance(self.classes, str) and self.classes not in ("auto", "norm", "support"):
            raise ValueError(
                "`classes` must be 'auto', 'norm', 'support' or tk.theory.NestedClasses, got "
                f"{self.classes!r}."
            )

    def table(self, evidence: Evidence) -> Structured:
        """Return class, risk and deviation of each strength."""
        rows, clipped = _rows("srm", evidence), _clipped(evidence, self.clip)
        coefs = evidence.path.coefs
        candidates = Candidates(
            coefs=coefs,
            norms=np.linalg.norm(coefs * rows.spread(), axis=1),
            m=evidence.sample.weight,
            radius=max(rows.radius(), TINY),
            c=clipped.c,
            slope=clipped.slope,
            classes=clipped.loss.classification,
        )
        kind = self._kind(coefs)
        zero_one = kind.zero_one and clipped.loss.classification
        risk = rows.risks(clipped, coefs, evidence.path.intercepts, zero_one=zero_one)
        level = kind.levels(candidates)
        scale = 1.0 / clipped.c if zero_one else 1.0
        eps = {
            int(d): scale
            * kind.deviation(int(d), candidates, weight_of(int(d), self.weight) * self.delta)
            for d in np.unique(level)
        }
        deviation = np.array([eps[int(d)] for d in level])
        return Structured(level, risk, deviation, 1.0 if zero_one else clipped.c)

    def values(self, evidence: Evidence) -> Float64Array:
        """Return the bound on the risk of each strength."""
        return self.table(evidence).bound

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the least bound; of the strongest strength, among equals."""
        return strongest_of_the_best(self.values(evidence))

    def _kind(self, coefs: Float64Array) -> Classes:
        if not isinstance(self.classes, str):
            return self.classes
        sparse = bool((coefs == 0).any(axis=1)[coefs.any(axis=1)].any())
        if self.classes == "support" or (self.classes == "auto" and sparse):
            return SupportClasses()
        return NormClasses()


@dataclass(frozen=True, slots=True, eq=False)
class Described:
    """What minimum description length sees of each strength.

    Attributes
    ----------
    bits : ndarray of shape (L,)
        Length of the best code word of each strength.
    precision : ndarray of shape (L,)
        Binary digits of its coefficients.
    risk, deviation : ndarray of shape (L,)
        Of the model that the word decodes to.
    c : float
    """

    bits: IntArray
    precision: IntArray
    risk: Float64Array
    deviation: Float64Array
    c: float

    @property
    def bound(self) -> Float64Array:
        """The bound on the risk of each strength's decoded model."""
        return self.risk + self.deviation

    @property
    def vacuous(self) -> bool:
        """Whether no strength has a bound below c."""
        return not float(self.bound.min()) < self.c


@dataclass(frozen=True)
class MDL:
    """Minimum description length, with a code that encodes and decodes the model.

    ``argmin_h L_S(h) + c sqrt((|h| + log(2 / delta)) / (2 m))``, h decoded from |h| bits: for each
    strength the best number of binary digits is taken. The bound holds for the decoded model,
    `code`; the rule's choice of a strength is the solution that it rounds.

    Parameters
    ----------
    delta : float, default 0.05
    tight : bool, default False
        ``|h| log 2`` in place of |h|.
    clip : float, optional
        c; as for `SRM`.
    precisions : tuple of int, default (1, 2, 3, 4, 6, 8, 12)
        Binary digits to try.

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> study = tk.Lasso().fit(X, y).study_
    >>> code = tk.rules.MDL().code(study.evidence)
    >>> bool((tk.theory.decode(code.bits, 10).predict(X) == code.predict(X)).all())
    True
    """

    delta: float = 0.05
    tight: bool = False
    clip: float | None = None
    precisions: tuple[int, ...] = (1, 2, 3, 4, 6, 8, 12)

    def __post_init__(self) -> None:
        probability(self.delta)

    def table(self, evidence: Evidence) -> Described:
        """Return code length, risk and deviation of each strength."""
        rows, clipped = _rows("mdl", evidence), _clipped(evidence, self.clip)
        zero_one = clipped.loss.classification
        c = 1.0 if zero_one else clipped.c
        path, m = evidence.path, evidence.sample.weight
        shape = (len(self.precisions), len(path))
        bits, risk = np.empty(shape, dtype=np.int64), np.empty(shape)
        for k, precision in enumerate(self.precisions):
            coefs = quantised(path.coefs, precision)
            offsets = quantised(path.intercepts, precision)
            risk[k] = rows.risks(clipped, coefs, offsets, zero_one=zero_one)
            bits[k] = [
                code_length(w, float(b), precision) for w, b in zip(coefs, offsets, strict=True)
            ]
        price = bits * (math.log(2.0) if self.tight else 1.0)
        deviation = c * np.sqrt((price + math.log(2.0 / self.delta)) / (2.0 * m))
        best = np.argmin(risk + deviation, axis=0)
        at = (best, np.arange(len(path)))
        digits = np.array(self.precisions)[best]
        return Described(bits[at], digits, risk[at], deviation[at], c)

    def values(self, evidence: Evidence) -> Float64Array:
        """Return the bound on the risk of each strength."""
        return self.table(evidence).bound

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the least bound; of the strongest strength, among equals."""
        return strongest_of_the_best(self.values(evidence))

    def code(self, evidence: Evidence) -> Code:
        """Return the code word of the choice, of which the bound speaks."""
        found = self.table(evidence)
        at = strongest_of_the_best(found.bound)
        return encode(evidence.path[at], precision=int(found.precision[at]))


def _rows(name: str, evidence: Evidence) -> TrainingRows:
    sample = evidence.sample
    if sample.n_targets > 1 or sample.loss.per_class:
        raise UnsupportedError(
            f"rule={name!r} is for one target, and this study has several; fit them one by one, or "
            "use rule='min'."
        )
    if sample.rows is None:
        raise UnsupportedError(f"rule={name!r} needs the training rows, and this study has none.")
    return sample.rows


def _clipped(evidence: Evidence, clip: float | None) -> Clipped:
    assert evidence.sample.rows is not None
    return clip_for(evidence.sample.loss, evidence.sample.rows.target, clip)
