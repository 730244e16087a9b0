"""What the laws of penalised least squares are crossed over: penalties, regimes and tables."""

import itertools

import numpy as np
import pytest

import tikhon as tk
from tests.designs import KINDS
from tikhon.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    Group,
    MultiTask,
    Nonnegative,
    Scaled,
    SparseGroup,
    Sum,
    Weighted,
)

SQUARED = tk.losses.Squared()
TABLES = {**KINDS, "float32": lambda X: X.astype(np.float32)}


def _cycle(d, *values):
    return np.resize(np.array(values, dtype=float), d)


COORDINATES = {
    "L1": lambda d: L1(),
    "elastic net": lambda d: ElasticNet(0.4),
    "weighted": lambda d: Weighted(L1(), _cycle(d, 1.0, 0.0, 2.0, 0.5, 1.5, 1.0, 3.0)),
    "weighted L2": lambda d: Weighted(L2(), _cycle(d, 0.5, 1.0, 2.0)),
    "positive": lambda d: Sum(L1(), Nonnegative()),
    "box": lambda d: Sum(ElasticNet(0.6), Box(_cycle(d, -0.3, 0.0, -np.inf), _cycle(d, 0.4, 2.0))),
    "scaled": lambda d: Scaled(Weighted(ElasticNet(0.8), _cycle(d, 1.0, 2.0)), 0.5),
}
COUPLED = {
    "group": lambda d: Group(np.arange(d) // 3),
    "sparse group": lambda d: SparseGroup(np.arange(d) // 3, 0.3),
    "free group": lambda d: Group(np.arange(d) // 3, np.r_[0.0, np.ones(d // 3 - 1)]),
    "multi-task": lambda d: MultiTask(0.7),
}
PENALTIES = {**COORDINATES, **COUPLED}
REGIMES = ("tall", "working_set", "columns")
CASES = [
    (name, regime)
    for name, regime in itertools.product(PENALTIES, REGIMES)
    if not (name in COUPLED and regime == "columns")
]
SHAPES = {"long": (40, 9), "wide": (24, 36)}

cases = pytest.mark.parametrize(("name", "regime"), CASES, ids=lambda part: str(part))
shapes = pytest.mark.parametrize("shape", SHAPES)


def data_of(rng, shape):
    """Columns of several scales, off centre, a third of the entries 0, and few true effects."""
    n, d = SHAPES[shape]
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d) / 2) + 0.5
    X[rng.random((n, d)) < 0.3] = 0.0
    return X, 1.0 + X[:, 0] - X[:, 1] + 0.5 * X[:, d - 1] + 0.5 * rng.standard_normal(n)


def path_of(penalty, X, y, regime, **how):
    how.setdefault("lams", tk.Grid(6, 0.02))
    return tk.path(SQUARED, penalty, X, y, solver=regime, **how)
