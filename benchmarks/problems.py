"""The problems that are measured: simulated data with a known design, a grid of strengths, folds.

A problem is drawn once and saved; every library then reads the same bytes, whatever version of
NumPy its environment pins. To add a problem, write a function that returns a `Problem` and give
it one line in `PROBLEMS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """Data, folds, strengths and, where there are any, groups of columns.

    `lams` is decreasing and follows tikhon's objective, mean loss + lam R(w). Every fold has the
    same number of rows, so that the mean over folds is the mean over rows in every package and
    packages that count a strength per sum (not per mean) can be given the same fold problems.
    A task without cross-validation has one fold. `groups` numbers the group of each column;
    groups are contiguous and of one size.
    """

    task: str
    X: np.ndarray | sparse.csc_array
    y: np.ndarray
    folds: np.ndarray
    lams: np.ndarray
    groups: np.ndarray

    @property
    def n_folds(self) -> int:
        """Number of folds; 1 where nothing is held out."""
        return int(self.folds.max()) + 1

    @property
    def n_train(self) -> int:
        """Rows left to learn from when one fold is held out."""
        n = len(self.y)
        return n - n // self.n_folds

    @property
    def group_size(self) -> int:
        """Columns in each group."""
        return len(self.groups) // (int(self.groups.max()) + 1)

    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Row numbers to learn from and row numbers held out, fold by fold."""
        return [
            (np.flatnonzero(self.folds != k), np.flatnonzero(self.folds == k))
            for k in range(self.n_folds)
        ]

    def save(self, folder: Path) -> Path:
        """Write every array into `folder`, which is returned."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("y", "folds", "lams", "groups"):
            np.save(folder / f"{name}.npy", getattr(self, name))
        if sparse.issparse(self.X):
            sparse.save_npz(folder / "X.npz", self.X, compressed=False)
        else:
            np.save(folder / "X.npy", self.X)
        (folder / "problem.json").write_text(json.dumps({"task": self.task}))
        return folder

    @classmethod
    def load(cls, folder: Path, layout: str = "C") -> Problem:
        """Read a saved problem; `layout` "F" gives a dense X column by column."""
        X = _load_sparse(folder) if (folder / "X.npz").exists() else np.load(folder / "X.npy")
        if layout == "F" and not sparse.issparse(X):
            X = np.asfortranarray(X)
        names = ("y", "folds", "lams", "groups")
        arrays = (np.load(folder / f"{name}.npy") for name in names)
        task = json.loads((folder / "problem.json").read_text())["task"]
        return cls(task, X, *arrays)


def _load_sparse(folder: Path) -> sparse.csc_array:
    """Compressed columns with 32-bit indices, which every package takes."""
    X = sparse.csc_matrix(sparse.load_npz(folder / "X.npz"))
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def autoregressive_columns(
    n_samples: int, n_features: int, rho: float, rng: np.random.Generator
) -> np.ndarray:
    """Gaussian rows whose neighbouring columns correlate by `rho`, all of unit variance."""
    # Drawn with features as rows: the recursion then runs over contiguous memory.
    Z = rng.standard_normal((n_features, n_samples))
    for j in range(1, n_features):
        Z[j] *= np.sqrt(1 - rho**2)
        Z[j] += rho * Z[j - 1]
    return np.ascontiguousarray(Z.T)


def ridge_cv(
    *,
    n_samples: int,
    n_features: int,
    alphas: tuple[float, float],
    n_true: int = 20,
    snr: float = 3.0,
    rho: float = 0.5,
    n_lams: int = 100,
    n_folds: int = 10,
    seed: int = 0,
) -> Problem:
    """Ridge over strengths and folds; `alphas` bounds n_samples * lam, largest first."""
    if n_samples % n_folds:
        raise ValueError(
            f"`n_samples` must be a multiple of `n_folds`, got {n_samples} and {n_folds}."
        )
    rng = np.random.default_rng(seed)
    X = autoregressive_columns(n_samples, n_features, rho, rng)
    y = _targets(X, n_true, snr, rng)
    folds = rng.permutation(n_samples) % n_folds
    lams = np.geomspace(*alphas, n_lams) / n_samples
    return Problem("ridge_cv", X, y, folds, lams, np.arange(n_features))


def _targets(
    X: np.ndarray | sparse.csc_array, n_true: int, snr: float, rng: np.random.Generator
) -> np.ndarray:
    """A linear signal of `n_true` columns, and noise: `snr` is the ratio of their variances."""
    w = np.zeros(X.shape[1])
    w[rng.choice(len(w), n_true, replace=False)] = rng.standard_normal(n_true)
    signal = X @ w
    return signal + rng.standard_normal(len(signal)) * signal.std() / np.sqrt(snr)


def penalised(
    task: str,
    *,
    n_samples: int,
    n_features: int,
    ratio: float,
    n_true: int = 20,
    snr: float = 3.0,
    rho: float = 0.5,
    n_lams: int = 100,
    n_folds: int = 1,
    group_size: int = 1,
    per_row: int = 0,
    seed: int = 0,
) -> Problem:
    """Penalties that set coefficients to 0, from the least strength that sets all of them to 0.

    `per_row` is the number of nonzero entries in each row of a sparse table; 0 makes a dense one.
    """
    rng = np.random.default_rng(seed)
    if per_row:
        X = _sparse_columns(n_samples, n_features, per_row, rng)
    else:
        X = autoregressive_columns(n_samples, n_features, rho, rng)
    y = _targets(X, n_true, snr, rng)
    folds = rng.permutation(n_samples) % n_folds
    groups = np.arange(n_features) // group_size
    correlations = X.T @ (y - y.mean()) / n_samples
    norms = np.sqrt(np.add.reduceat(correlations**2, np.arange(0, n_features, group_size)))
    top = float(norms.max()) / np.sqrt(group_size)
    return Problem(task, X, y, folds, np.geomspace(top, top * ratio, n_lams), groups)


def _sparse_columns(
    n_samples: int, n_features: int, per_row: int, rng: np.random.Generator
) -> sparse.csc_array:
    """Rows with `per_row` entries (where two fall together, fewer), uniform between 0 and 1."""
    rows = np.repeat(np.arange(n_samples), per_row)
    columns = rng.integers(0, n_features, len(rows))
    X = sparse.coo_array((rng.random(len(rows)), (rows, columns)), shape=(n_samples, n_features))
    return sparse.csc_array(X.tocsc())


@dataclass(frozen=True, slots=True)
class Definition:
    """A problem and the arguments that give its full and its small form.

    The small form is for trying the harness and for warming libraries up before the clock starts.
    """

    title: str
    make: Callable[..., Problem]
    scales: Mapping[str, Mapping[str, object]]


PROBLEMS: dict[str, Definition] = {
    "P1": Definition(
        "ridge, tall: 10 folds x 100 strengths",
        ridge_cv,
        {
            "full": {"n_samples": 100_000, "n_features": 300, "alphas": (1e3, 1e-3)},
            "small": {"n_samples": 5_000, "n_features": 50, "alphas": (1e3, 1e-3)},
        },
    ),
    "P1-wide": Definition(
        "ridge, wide: 10 folds x 100 strengths",
        ridge_cv,
        {
            # Strongly correlated columns, as spectra and genomes have: with independent ones 500
            # rows predict nothing, the curve is flat and the selected strength an accident.
            "full": {"n_samples": 500, "n_features": 50_000, "alphas": (1e7, 1e1), "rho": 0.99},
            "small": {"n_samples": 200, "n_features": 2_000, "alphas": (1e6, 1e0), "rho": 0.99},
        },
    ),
    "P2": Definition(
        "lasso, tall: 10 folds x 100 strengths",
        partial(penalised, "lasso_cv"),
        {
            "full": {"n_samples": 100_000, "n_features": 300, "ratio": 1e-3, "n_folds": 10},
            "small": {"n_samples": 2_000, "n_features": 40, "ratio": 1e-3, "n_folds": 10},
        },
    ),
    "P3": Definition(
        "lasso path, wide: 100 strengths",
        partial(penalised, "lasso_path"),
        {
            "full": {"n_samples": 500, "n_features": 20_000, "ratio": 1e-2},
            "small": {"n_samples": 100, "n_features": 500, "ratio": 1e-2},
        },
    ),
    "P4": Definition(
        "lasso, wide: 5 folds x 100 strengths",
        partial(penalised, "lasso_cv"),
        {
            "full": {"n_samples": 500, "n_features": 20_000, "ratio": 1e-2, "n_folds": 5},
            "small": {"n_samples": 100, "n_features": 500, "ratio": 1e-2, "n_folds": 5},
        },
    ),
    "wide-sparse": Definition(
        "lasso path, sparse: 50 strengths, 75 entries a row",
        partial(penalised, "lasso_path"),
        {
            "full": {
                "n_samples": 20_000,
                "n_features": 50_000,
                "ratio": 1e-2,
                "per_row": 75,
                "n_lams": 50,
                "n_true": 100,
                "snr": 50.0,
            },
            "small": {
                "n_samples": 500,
                "n_features": 1_000,
                "ratio": 1e-2,
                "per_row": 20,
                "n_lams": 20,
                "snr": 50.0,
            },
        },
    ),
    "group": Definition(
        "group lasso path, wide: groups of 10, 100 strengths",
        partial(penalised, "group_path"),
        {
            "full": {"n_samples": 1_000, "n_features": 10_000, "ratio": 1e-2, "group_size": 10},
            "small": {"n_samples": 100, "n_features": 400, "ratio": 1e-2, "group_size": 10},
        },
    ),
}


def build(identifier: str, scale: str, **changes: object) -> Problem:
    """Draw a problem by its identifier; `changes` replace arguments of its scale."""
    definition = PROBLEMS[identifier]
    return definition.make(**{**definition.scales[scale], **changes})
