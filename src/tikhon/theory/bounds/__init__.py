"""The bounds of lecture 001, and those it needs to be complete, as functions of a few numbers.

Each returns a `Bound`: value, statement, source, assumptions, and whether it is vacuous.
`tikhon.theory.report` computes their numbers for a fitted model and checks what data can settle.
"""

from tikhon.theory.bounds.bound import Assumption, Bound, Standing
from tikhon.theory.bounds.capacity import (
    class_weight,
    finite_class,
    mdl,
    nonuniform_sample_size,
    norm_ball,
    vc,
)
from tikhon.theory.bounds.held_out import clopper_pearson, empirical_bernstein
from tikhon.theory.bounds.margin import hard_margin, soft_margin
from tikhon.theory.bounds.stable import (
    boosted_sample_size,
    oracle_excess,
    replacement_distance,
    ridge_sample_size,
    sample_size,
    smooth_oracle,
    smooth_stability,
    stability,
    suggested_strength,
)

__all__ = [
    "Assumption",
    "Bound",
    "Standing",
    "boosted_sample_size",
    "class_weight",
    "clopper_pearson",
    "empirical_bernstein",
    "finite_class",
    "hard_margin",
    "mdl",
    "nonuniform_sample_size",
    "norm_ball",
    "oracle_excess",
    "replacement_distance",
    "ridge_sample_size",
    "sample_size",
    "smooth_oracle",
    "smooth_stability",
    "soft_margin",
    "stability",
    "suggested_strength",
    "vc",
]
