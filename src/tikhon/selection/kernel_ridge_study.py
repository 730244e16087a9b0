"""Kernel ridge along a grid: leave-one-out in closed form, or folds, and the path on all rows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.engine import map_units
from tikhon.errors import UnsupportedError
from tikhon.kernel import Kernel
from tikhon.losses import Squared
from tikhon.paths.grid import Grid
from tikhon.problem.support import SupportProblem
from tikhon.results import Certificate, Path, Status, StatusCode
from tikhon.selection.evidence import Sample
from tikhon.selection.folds import as_folds
from tikhon.selection.rules import Rule
from tikhon.selection.scores import Score
from tikhon.selection.split import Rows
from tikhon.selection.study import Study, fold_of_rows, summarise
from tikhon.selection.support_study import weights_of, worst_certificate
from tikhon.solvers.kernel_ridge import KernelRidgeFit, decompose, prefers_eigen
from tikhon.solvers.support_kernel import KernelTable
from tikhon.typing import Float64Array, IntArray

__all__ = ["BoundRidge", "KernelRidgeStudy", "bind_ridge", "study_kernel_ridge"]

GRID = 1e-6
"""Weakest over strongest strength; the strongest is the mean of k(x, x)."""


@dataclass(frozen=True, slots=True, eq=False)
class BoundRidge:
    """Kernel ridge on the rows of positive weight.

    Attributes
    ----------
    table : KernelTable
    rows : ndarray of int, shape (m,)
        Which rows of the table have a weight.
    p : ndarray of shape (m,)
    fit : KernelRidgeFit
    offset : bool
    """

    table: KernelTable
    rows: IntArray
    p: Float64Array
    fit: KernelRidgeFit
    offset: bool

    def solve(self, lam: float, y: Float64Array) -> tuple[Float64Array, Float64Array, Certificate]:
        """Return dual coefficients (n, targets), offsets and the worst certificate."""
        part, b = self.fit.solve(lam)
        beta = np.zeros((self.table.size, part.shape[1]))
        beta[self.rows] = part
        f = np.empty_like(part)
        step = max(16, 2**22 // max(1, len(self.rows)))
        for start in range(0, len(self.rows), step):
            rows = self.rows[start : start + step]
            f[start : start + step] = self.table.rows.block(rows, self.rows) @ part
        found = [
            SupportProblem.squares(
                y[self.rows, t], self.p, offset="constraint" if self.offset else "none"
            ).certificate(lam, lam * part[:, t], f[:, t], float(b[t]))[0]
            for t in range(part.shape[1])
        ]
        return beta, b, worst_certificate(found)


def bind_ridge(
    kernel: Kernel,
    data: Data,
    s: Float64Array,
    *,
    standardize: bool,
    offset: bool,
    strengths: int,
    stop: Stop,
) -> BoundRidge:
    """Bind a kernel to rows and decompose its matrix for so many strengths."""
    table = KernelTable.of(
        kernel,
        data.design,
        s,
        standardize=standardize and kernel.scales,
        offset="constraint" if offset else "none",
        budget=2**62,
    )
    rows = np.flatnonzero(s > 0)
    p = s[rows] / s.sum()
    K = table.rows.block(rows, rows)
    equal = bool(np.all(p == p[0]))
    eigen = prefers_eigen(len(rows), strengths) or not equal
    fit = decompose(K, data.y[rows], p, offset=offset, eigen=eigen, stop=stop)
    return BoundRidge(table, rows, p, fit, offset)


@dataclass(frozen=True, slots=True, eq=False)
class KernelRidgeStudy:
    """A study with what made it."""

    study: Study
    bound: BoundRidge


def ridge_strengths(
    table: KernelTable, p: Float64Array, rows: IntArray, grid: Grid
) -> Float64Array:
    """Return the strengths of a grid; from the mean of k(x, x) down where none is given."""
    diagonal = table.kernel.diagonal(table.X)[rows]
    lams = grid.below(float(p @ diagonal) or 1.0, GRID)
    if lams[-1] <= 0:
        raise UnsupportedError("strengths of kernel ridge must be > 0, got 0.")
    return lams


def study_kernel_ridge(
    kernel: Kernel,
    data: Data,
    grid: Grid,
    *,
    folds: Any,
    rule: str | Rule,
    score: Score,
    standardize: bool,
    offset: bool,
    stop: Stop,
) -> KernelRidgeStudy:
    """Score a grid of strengths by leave-one-out or on folds, and solve it on all rows."""
    started = time.perf_counter()
    s = weights_of(data)
    size = len(grid.below(1.0, GRID))
    named: dict[str, Any] = {"standardize": standardize, "offset": offset, "stop": stop}
    bound = bind_ridge(kernel, data, s, strengths=2 * size, **named)
    lams = ridge_strengths(bound.table, bound.p, bound.rows, grid)
    scores: Float64Array | None = None
    fold: IntArray | None = None
    if isinstance(folds, str):
        mean, se = _left_out(folds, bound, data, lams, score, stop)
        weight = np.array([float(s.sum())])
    else:
        split = as_folds(folds, grouped=data.groups is not None).split(
            Rows(data.design, data.y, data.used, data.groups)
        )

        def judge(k: int) -> list[float]:
            train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
            part = np.zeros(len(s))
            part[train] = s[train]
            inner = bind_ridge(kernel, data, part, strengths=size, **named)
            K = inner.table.rows.block(test, inner.rows)
            found = []
            for lam in lams:
                beta, b = inner.fit.solve(float(lam))
                found.append(score(data.y[test], K @ beta + b, _some(data.s, test)))
            return found

        scores = np.array(map_units(judge, range(len(split)), 1, stop=stop)).T
        weight = np.array([float(s[split.cells.where(t)].sum()) for t in split.test])
        mean, se = summarise(scores, weight)
        fold = fold_of_rows(split)
    study = Study(
        path=_path(bound, data, lams),
        scores=scores,
        mean=mean,
        se=se,
        fold=fold,
        fold_weight=weight,
        score=score.name,
        greater_is_better=score.greater_is_better,
        method="loo" if scores is None else "folds",
        rule=rule,
        solver=type(bound.fit).__name__.strip("_").lower(),
        seconds=time.perf_counter() - started,
        sample=Sample.of(Squared(), data, intercept=offset),
    )
    return KernelRidgeStudy(study, bound)


def _some(s: Float64Array | None, rows: IntArray) -> Float64Array | None:
    return None if s is None else s[rows]


def _left_out(
    folds: str, bound: BoundRidge, data: Data, lams: Float64Array, score: Score, stop: Stop
) -> tuple[Float64Array, Float64Array]:
    """Mean score and its standard error by predictions of each row by all others."""
    if folds != "loo":
        raise UnsupportedError(f"`folds` must be 'loo' or folds, got {folds!r}.")
    if data.groups is not None:
        raise UnsupportedError("folds='loo' would tear `groups` apart; use a number of folds.")
    if len(bound.rows) < 2:
        raise ValueError("leave-one-out needs at least 2 rows, got 1 sample.")
    y, p = data.y[bound.rows], bound.p
    weights = None if data.s is None else data.s[bound.rows]

    def judge(lam: float) -> tuple[float, float]:
        errors = bound.fit.left_out(lam)
        value = score(y, y - errors, weights)
        each = np.array([score(y[i : i + 1], y[i : i + 1] - errors[i : i + 1], None) for i in spot])
        spread = float(np.average((each - value) ** 2, weights=p[spot]))
        return value, float(np.sqrt(spread / max(1, len(y) - 1)))

    spot = np.arange(len(y)) if len(y) <= 2000 else np.arange(0, len(y), len(y) // 2000)
    found: list[tuple[float, float]] = []
    for lam in lams:
        if stop.requested or (stop.late and found):
            break
        found.append(judge(float(lam)))
    found += [(np.nan, np.nan)] * (len(lams) - len(found))
    mean, se = np.array(found).T
    return mean, se


def _path(bound: BoundRidge, data: Data, lams: Float64Array) -> Path:
    """The dual path; certificates are those of the strengths' own equations."""
    solved = [bound.fit.solve(float(lam)) for lam in lams]
    coefs = np.zeros((len(lams), bound.table.size, data.y.shape[1]))
    for k, (beta, _) in enumerate(solved):
        coefs[k, bound.rows] = beta
    intercepts = np.array([b for _, b in solved])
    nothing = Certificate(float("nan"), float("nan"), float("nan"), float("nan"))
    # r = lam beta / p: the stationary point's own residuals
    losses = np.array(
        [
            0.5 * float(((lam * beta) ** 2 / bound.p[:, None]).sum())
            for lam, (beta, _) in zip(lams, solved, strict=True)
        ]
    )
    return Path(
        lams=lams,
        coefs=coefs[:, :, 0] if data.one_target else coefs,
        intercepts=intercepts[:, 0] if data.one_target else intercepts,
        certificates=(nothing,) * len(lams),
        df=np.array([bound.fit.degrees(float(lam)) for lam in lams]),
        losses=losses,
        status=Status(StatusCode.CONVERGED),
        solver="kernel ridge",
        passes=1.0,
        seconds=0.0,
    )
