"""Several classes as problems of two classes: one against the rest, or each pair.

one-vs-rest   K problems; class k is +1, all others -1; the largest decision wins
one-vs-one    K (K - 1) / 2 problems; of classes i < j, j is +1 and i is -1; votes decide
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np

from tikhon.data.coerce import Data
from tikhon.typing import Float64Array

__all__ = ["class_pairs", "one_vs_one", "one_vs_rest", "votes"]


def one_vs_rest(data: Data, k: int) -> Data:
    """Return the problem of class code `k` against all others."""
    return replace(data, y=np.where(data.y == k, 1.0, -1.0))


def class_pairs(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs (i, j) with i < j, in the order of their problems."""
    return list(combinations(range(n_classes), 2))


def one_vs_one(data: Data, i: int, j: int) -> Data:
    """Return the problem of class code `j` (+1) against `i` (-1), on the rows of both."""
    part = data.rows(np.flatnonzero((data.y[:, 0] == i) | (data.y[:, 0] == j)))
    return replace(part, y=np.where(part.y == j, 1.0, -1.0))


def votes(decisions: Float64Array, n_classes: int) -> Float64Array:
    """Return a decision for each class from those of the pairs.

    ``votes_k + c_k / (3 (|c_k| + 1))``, where c_k sums the decisions of the pairs of class k,
    turned in its favour: confidence breaks ties, and never outweighs a vote.

    Parameters
    ----------
    decisions : ndarray of shape (n, K (K - 1) / 2)
        Positive for the second class of a pair, in the order of `class_pairs`.
    n_classes : int

    Returns
    -------
    ndarray of shape (n, K)
    """
    won = np.zeros((len(decisions), n_classes))
    confidence = np.zeros_like(won)
    for at, (i, j) in enumerate(class_pairs(n_classes)):
        z = decisions[:, at]
        won[:, j] += z > 0
        won[:, i] += z <= 0
        confidence[:, j] += z
        confidence[:, i] -= z
    return np.asarray(won + confidence / (3.0 * (np.abs(confidence) + 1.0)))
