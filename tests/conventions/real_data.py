"""One small real table with targets of every kind, its columns centred, of unequal spread."""

from dataclasses import dataclass

import numpy as np

import tikhon as tk


@dataclass(frozen=True)
class Table:
    """Columns and one target per loss; weights for the packages that take them."""

    X: np.ndarray
    targets: dict
    weights: np.ndarray

    @property
    def n(self):
        return len(self.X)


def diabetes():
    X, y = tk.datasets.diabetes()
    X = (X - X.mean(axis=0)) / X.std(axis=0) * np.geomspace(0.7, 1.4, X.shape[1])
    rng = np.random.default_rng(0)
    targets = {
        # Neither centred nor of unit variance: a rule that forgets either is found out.
        "real": y / 40,
        "centred": (y - y.mean()) / 40,
        "sign": np.where(y > np.median(y), 1.0, -1.0),
        "count": np.floor(y / 40),
        "code": np.digitize(y, np.quantile(y, [1 / 3, 2 / 3])).astype(float),
    }
    return Table(X, targets, rng.integers(1, 4, len(y)).astype(float))


DIABETES = diabetes()
