"""Strengths of other packages and of the lectures, translated into `lam` and back.

The library minimises the mean loss, the squared loss halved, plus

    lam (l1_ratio ||w||_1 + (1 - l1_ratio) ||w||^2 / 2)

Elsewhere the loss is a sum, the norm is not halved, the strength multiplies the loss instead of
the penalty, or the targets are rescaled first. This is the only place that knows the other names:
`to_lam` and `from_lam` translate, `table` holds a row per convention with its objective and
formula, `page` is the table as Markdown (docs/conventions.md).
"""

from tikhon.conventions.convention import Convention
from tikhon.conventions.page import page
from tikhon.conventions.registry import find, from_lam, table, to_lam
from tikhon.conventions.strength import Strength

__all__ = ["Convention", "Strength", "find", "from_lam", "page", "table", "to_lam"]
