"""Smooth losses with data that suit them, penalties of every form, and tables of every kind."""

import numpy as np
import scipy.sparse as sp

import tikhon as tk

LOSSES = {
    "logistic": tk.losses.Logistic(),
    "squared_hinge": tk.losses.SquaredHinge(),
    "huber": tk.losses.Huber(),
    "poisson": tk.losses.Poisson(),
    "gamma": tk.losses.Gamma(),
    "multinomial": tk.losses.Multinomial(),
}

PENALTIES = {
    "l2": tk.penalties.L2(),
    "l1": tk.penalties.L1(),
    "elastic": tk.penalties.ElasticNet(0.5),
    "weighted": tk.penalties.Weighted(tk.penalties.L1(), [1.0, 2.0, 0.5, 1.0, 1.0]),
    "free": tk.penalties.Weighted(tk.penalties.L2(), [1.0, 0.0, 0.5, 1.0, 1.0]),
    "bounded": tk.penalties.Sum(tk.penalties.L2(), tk.penalties.Box(-0.1, 0.2)),
    "nonnegative": tk.penalties.Sum(tk.penalties.L1(), tk.penalties.Nonnegative()),
    "groups": tk.penalties.Group([0, 0, 1, 1, 1]),
}

KINDS = {
    "c": np.ascontiguousarray,
    "f": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


def draw(rng, loss, n=80, d=5):
    """Draw columns and targets; numbers are exact in single precision, half of them zero."""
    X = rng.standard_normal((n, d))
    X[rng.random((n, d)) < 0.3] = 0.0
    X[:, 0] += 2.0
    X = X.astype(np.float32).astype(float)
    z = X @ np.linspace(-1.0, 1.0, d)
    if loss.per_class:
        codes = np.argmax(np.outer(z, [1.0, -0.5, 0.0]) + rng.gumbel(size=(n, 3)), axis=1)
        codes[:3] = range(3)
        return X, codes.astype(float)
    if loss.classification:
        return X, np.where(z + 2.0 * rng.standard_normal(n) > np.median(z), 1.0, -1.0)
    if loss.name == "poisson":
        return X, rng.poisson(np.exp(0.4 * z)).astype(float)
    if loss.name == "gamma":
        return X, np.exp(0.4 * z) * rng.gamma(2.0, size=n) + 1e-3
    return X, z + rng.standard_normal(n)
