"""Choosing the strength: folds, scores, studies and the rules applied to them."""

from tikhon.selection import folds, rules, thresholds
from tikhon.selection.cross_validation import cross_validate
from tikhon.selection.nested import Nested
from tikhon.selection.scores import Score
from tikhon.selection.study import Study

__all__ = ["Nested", "Score", "Study", "cross_validate", "folds", "rules", "thresholds"]
