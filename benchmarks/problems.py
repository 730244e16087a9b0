"""The problems that are measured: simulated data with a known design, a grid of strengths, folds.

A problem is drawn once and saved; every library then reads the same bytes, whatever version of
NumPy its environment pins. To add a problem, write a function that returns a `Problem` and give
it one line in `PROBLEMS`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Problem:
    """Data, folds and strengths.

    `lams` is decreasing and follows tikhon's objective, mean loss + lam R(w). Every fold has the
    same number of rows, so that the mean over folds is the mean over rows in every package and
    packages that count a strength per sum (not per mean) can be given the same fold problems.
    """

    task: str
    X: np.ndarray
    y: np.ndarray
    folds: np.ndarray
    lams: np.ndarray

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return int(self.folds.max()) + 1

    @property
    def n_train(self) -> int:
        """Rows left to learn from when one fold is held out."""
        n = len(self.y)
        return n - n // self.n_folds

    def splits(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Row numbers to learn from and row numbers held out, fold by fold."""
        return [
            (np.flatnonzero(self.folds != k), np.flatnonzero(self.folds == k))
            for k in range(self.n_folds)
        ]

    def save(self, folder: Path) -> Path:
        """Write every array into `folder`, which is returned."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("X", "y", "folds", "lams"):
            np.save(folder / f"{name}.npy", getattr(self, name))
        (folder / "problem.json").write_text(json.dumps({"task": self.task}))
        return folder

    @classmethod
    def load(cls, folder: Path, layout: str = "C") -> Problem:
        """Read a saved problem; `layout` "F" gives X column by column."""
        X = np.load(folder / "X.npy")
        if layout == "F":
            X = np.asfortranarray(X)
        y, folds, lams = (np.load(folder / f"{name}.npy") for name in ("y", "folds", "lams"))
        task = json.loads((folder / "problem.json").read_text())["task"]
        return cls(task, X, y, folds, lams)


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
    w = np.zeros(n_features)
    w[rng.choice(n_features, n_true, replace=False)] = rng.standard_normal(n_true)
    signal = X @ w
    noise = rng.standard_normal(n_samples) * signal.std() / np.sqrt(snr)
    folds = rng.permutation(n_samples) % n_folds
    lams = np.geomspace(*alphas, n_lams) / n_samples
    return Problem("ridge_cv", X, signal + noise, folds, lams)


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
}


def build(identifier: str, scale: str, **changes: object) -> Problem:
    """Draw a problem by its identifier; `changes` replace arguments of its scale."""
    definition = PROBLEMS[identifier]
    return definition.make(**{**definition.scales[scale], **changes})
