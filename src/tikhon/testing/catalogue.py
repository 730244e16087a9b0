"""Every exported loss and penalty, with parameters worth trying.

Tests are crossed over these lists. A component that is exported and absent here makes a test
fail: its one line in the catalogue is what gives it all the laws.
"""

from collections.abc import Callable
from typing import Final

import numpy as np

from tikhon.losses import (
    EpsilonInsensitive,
    Gamma,
    Hinge,
    Huber,
    Logistic,
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    SquaredHinge,
)
from tikhon.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    Group,
    MultiTask,
    Nonnegative,
    NoPenalty,
    NormBall,
    Penalty,
    Scaled,
    SparseGroup,
    Sum,
    Weighted,
)
from tikhon.typing import FloatArray

LOSSES: Final[dict[type[Loss], tuple[Loss, ...]]] = {
    EpsilonInsensitive: (EpsilonInsensitive(), EpsilonInsensitive(eps=0.0)),
    Gamma: (Gamma(),),
    Hinge: (Hinge(),),
    Huber: (Huber(), Huber(delta=0.1)),
    Logistic: (Logistic(),),
    Multinomial: (Multinomial(),),
    Poisson: (Poisson(),),
    Quantile: (Quantile(), Quantile(q=0.9)),
    Squared: (Squared(),),
    SquaredHinge: (SquaredHinge(),),
}

PENALTIES: Final[dict[type[Penalty], Callable[[int], tuple[Penalty, ...]]]] = {
    Box: lambda d: (
        Box(-1.0, 2.0),
        Box(_cycle(d, -np.inf, 0.3, -1.0), _cycle(d, 2.0, np.inf, 0.0)),
    ),
    ElasticNet: lambda _: (ElasticNet(0.0), ElasticNet(0.3), ElasticNet(1.0)),
    Group: lambda d: (
        Group(np.arange(d) // 2),
        Group(_cycle(d, 7, -1, 7).astype(np.int64), [0.0, 1.5][: min(d, 2)]),
    ),
    L1: lambda _: (L1(),),
    L2: lambda _: (L2(),),
    MultiTask: lambda d: (
        MultiTask(),
        MultiTask(0.4),
        MultiTask(0.0, _cycle(d, 0.3, 0.0, 2.0)),
        MultiTask(1.0, _cycle(d, 0.3, 0.0, 2.0)),
    ),
    NoPenalty: lambda _: (NoPenalty(),),
    Nonnegative: lambda _: (Nonnegative(),),
    NormBall: lambda _: (NormBall(2.0), NormBall(50.0)),
    Scaled: lambda d: (
        Scaled(L1(), 2.5),
        Scaled(Group(np.arange(d) // 2), 0.4),
        Scaled(Weighted(ElasticNet(0.3), _cycle(d, 1.0, 0.0, 2.0)), 2.0),
    ),
    SparseGroup: lambda d: (
        SparseGroup(np.arange(d) // 2),
        SparseGroup(np.arange(d) // 3, 0.9),
        SparseGroup(_cycle(d, 7, -1, 7).astype(np.int64), 0.2, [0.0, 1.5][: min(d, 2)]),
    ),
    Sum: lambda d: (
        Sum(L1(), Nonnegative()),
        Sum(L2(), Box(-1.0, 2.0)),
        Sum(ElasticNet(0.3), Nonnegative()),
        Sum(NoPenalty(), Nonnegative()),
        Sum(Weighted(L1(), _cycle(d, 0.3, 0.0, 2.0)), Box(-np.inf, 0.75)),
    ),
    Weighted: lambda d: (
        Weighted(L1(), _cycle(d, 0.3, 0.0, 2.0)),
        Weighted(L2(), _cycle(d, 0.3, 0.0, 2.0)),
        Weighted(ElasticNet(0.3), _cycle(d, 0.3, 1.0, 2.0)),
        Weighted(Nonnegative(), _cycle(d, 1.0, 0.0)),
        Weighted(Weighted(Sum(L1(), Nonnegative()), _cycle(d, 1.0, 0.5)), _cycle(d, 0.3, 2.0, 0.0)),
    ),
}


def example_losses() -> tuple[Loss, ...]:
    """Return every exported loss, some with several parameters.

    Examples
    --------
    >>> Huber(delta=0.1) in example_losses()
    True
    """
    return tuple(loss for examples in LOSSES.values() for loss in examples)


def example_penalties(n_features: int) -> tuple[Penalty, ...]:
    """Return every exported penalty for so many columns, some with several parameters.

    Examples
    --------
    >>> NormBall(2.0) in example_penalties(5)
    True
    """
    return tuple(penalty for make in PENALTIES.values() for penalty in make(n_features))


def _cycle(d: int, *values: float) -> FloatArray:
    return np.resize(np.array(values, dtype=np.float64), d)
