"""Every law of a loss and of a penalty, and one call that tries them all.

    check_loss(MyLoss(), seed=0)
    check_penalty(MyPenalty(), n_features=5, seed=0)

raise an AssertionError with a sentence that names the broken law, or return None. The tests of
the library are these same laws, tried on every exported component.
"""

from typing import Final

import numpy as np

from tikhon.losses import Loss
from tikhon.penalties import Penalty
from tikhon.testing import (
    loss_calculus,
    loss_conventions,
    loss_duality,
    penalty_calculus,
    penalty_duality,
)
from tikhon.testing.loss_calculus import LossLaw
from tikhon.testing.penalty_calculus import PenaltyLaw

LOSS_LAWS: Final[tuple[LossLaw, ...]] = (
    *loss_calculus.CALCULUS_LAWS,
    *loss_duality.DUALITY_LAWS,
    *loss_conventions.CONVENTION_LAWS,
)
"""Functions of (loss, generator), in the order in which `check_loss` tries them."""

PENALTY_LAWS: Final[tuple[PenaltyLaw, ...]] = (
    *penalty_calculus.CALCULUS_LAWS,
    *penalty_duality.DUALITY_LAWS,
)
"""Functions of (penalty, n_features, generator), in the order `check_penalty` tries them."""


def check_loss(loss: Loss, seed: int = 0) -> None:
    """Try every law of a loss at random points.

    Derivatives are slopes, ``value + conjugate >= u z``, constants bound, nothing overflows.

    Parameters
    ----------
    loss : Loss
        One of the library's, or your own. Laws of the conjugate are skipped where there is none.
    seed : int
        A law that holds does so for every seed.

    Raises
    ------
    AssertionError
        With a sentence naming the law that is broken.

    Examples
    --------
    >>> from tikhon.losses import Huber
    >>> check_loss(Huber(delta=2.0), seed=1)
    """
    for law in LOSS_LAWS:
        law(loss, np.random.default_rng(seed))


def check_penalty(penalty: Penalty, n_features: int, seed: int = 0) -> None:
    """Try every law of a penalty at random points.

    The prox is optimal, ``w = prox_R(w) + prox_R*(w)``, lam_max is exact, columns can be dropped.

    Parameters
    ----------
    penalty : Penalty
        One of the library's, or your own. Laws of the conjugate are skipped where there is none.
    n_features : int
        The number of columns, which parameters of one entry per column must match.
    seed : int
        A law that holds does so for every seed.

    Raises
    ------
    AssertionError
        With a sentence naming the law that is broken.

    Examples
    --------
    >>> from tikhon.penalties import L1
    >>> check_penalty(L1(), n_features=4, seed=1)
    """
    for law in PENALTY_LAWS:
        law(penalty, n_features, np.random.default_rng(seed))
