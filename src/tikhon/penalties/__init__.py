"""Penalties: one convex function of the coefficients per file.

Each gives value, proximal operator, conjugate, subgradient distance and the strength at which all
coefficients vanish. `Weighted`, `Scaled` and `Sum` make penalties from penalties, and
`adaptive_weights` weights from a first fit. Subclass `Penalty`, or `Separable`, for your own.
"""

from tikhon.penalties.adaptive import adaptive_weights
from tikhon.penalties.base import Penalty
from tikhon.penalties.calculus import Scaled, Sum
from tikhon.penalties.elastic_net import ElasticNet
from tikhon.penalties.group import Group
from tikhon.penalties.interval import Box, Nonnegative
from tikhon.penalties.lasso import L1
from tikhon.penalties.multi_task import MultiTask
from tikhon.penalties.none import NoPenalty
from tikhon.penalties.norm_ball import NormBall
from tikhon.penalties.norms import l0, l1, l2
from tikhon.penalties.ridge import L2
from tikhon.penalties.separable import Separable
from tikhon.penalties.sparse_group import SparseGroup
from tikhon.penalties.thresholds import hard_threshold, soft_threshold
from tikhon.penalties.weighted import Weighted

__all__ = [
    "L1",
    "L2",
    "Box",
    "ElasticNet",
    "Group",
    "MultiTask",
    "NoPenalty",
    "Nonnegative",
    "NormBall",
    "Penalty",
    "Scaled",
    "Separable",
    "SparseGroup",
    "Sum",
    "Weighted",
    "adaptive_weights",
    "hard_threshold",
    "l0",
    "l1",
    "l2",
    "soft_threshold",
]
