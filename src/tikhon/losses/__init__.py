"""Losses: one convex function of the prediction per file.

Each gives value, derivative, curvature, conjugate, link and constants, elementwise, without
overflow up to the largest float. Subclass `Loss` for your own.
"""

from tikhon.losses.base import Loss
from tikhon.losses.epsilon_insensitive import EpsilonInsensitive
from tikhon.losses.gamma import Gamma
from tikhon.losses.hinge import Hinge
from tikhon.losses.huber import Huber
from tikhon.losses.logistic import Logistic
from tikhon.losses.multinomial import Multinomial
from tikhon.losses.poisson import Poisson
from tikhon.losses.quantile import Quantile
from tikhon.losses.squared import Squared
from tikhon.losses.squared_hinge import SquaredHinge

__all__ = [
    "EpsilonInsensitive",
    "Gamma",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Multinomial",
    "Poisson",
    "Quantile",
    "Squared",
    "SquaredHinge",
]
