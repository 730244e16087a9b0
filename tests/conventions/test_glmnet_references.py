"""Every point of the paths of R glmnet is optimal here, at the translated strength.

The paths and their data are read from the folder that the environment variable TIKHON_DATA
names: `glmnet/<name>.json.gz` holds one path, with lambda, intercepts and sparse coefficients,
and the data are files beside that folder.
"""

import csv
import gzip
import json
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from optimality import relative_gap

import tikhon as tk

pytestmark = pytest.mark.peer

FOLDER = os.environ.get("TIKHON_DATA")


@dataclass(frozen=True)
class Reference:
    """A path of R glmnet: coefficients of shape (steps, columns) or (steps, columns, classes)."""

    family: str
    alpha: float
    lambdas: np.ndarray
    coefs: np.ndarray
    intercepts: np.ndarray


def folder():
    if not FOLDER:
        pytest.skip("TIKHON_DATA does not name the folder with the paths of R glmnet")
    return Path(FOLDER)


def reference(name):
    with gzip.open(folder() / "glmnet" / f"{name}.json.gz", "rt") as file:
        o = json.load(file)
    shape = (len(o["lam"]), o["p"])

    def dense(beta):
        return sp.coo_array((beta["value"], (beta["step"], beta["row"])), shape).toarray()

    if isinstance(o["beta"], dict):
        coefs, intercepts = dense(o["beta"]), np.array(o["a0"])
    else:
        coefs = np.stack([dense(beta) for beta in o["beta"]], axis=2)
        intercepts = np.array(o["a0"]).T
    return Reference(o["family"], o["alpha"], np.array(o["lam"]), coefs, intercepts)


def table(name):
    with (folder() / name).open(newline="") as file:
        rows = list(csv.reader(file))
    return np.array(rows[1:])


def arrays(name):
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as z:
        if "X" in z:
            return z["X"].astype(float), z["y"].astype(float)
        parts = (z["X_data"], z["X_indices"], z["X_indptr"])
        return sp.csr_array(parts, shape=tuple(z["X_shape"])).toarray(), z["y"].astype(float)


def prostate():
    rows = table("prostate.csv")
    X = rows[:, :8].astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    train = rows[:, 9] == "TRUE"
    return X[train], rows[train, 8].astype(float)


def heart():
    rows = table("SAheart.csv")
    rows[:, 4] = np.where(rows[:, 4] == "Present", "1", "0")
    return rows[:, :9].astype(float), rows[:, 9].astype(float)


def spam():
    rows = table("spam.csv")
    return rows[:, :57].astype(float), (rows[:, 57] == "spam").astype(float)


DATA = {
    "prostate_train_a0": prostate,
    "prostate_train_a0.5": prostate,
    "prostate_train_a1": prostate,
    "quickstart_gaussian_a0": lambda: arrays("QuickStartExample"),
    "quickstart_gaussian_a0.5": lambda: arrays("QuickStartExample"),
    "quickstart_gaussian_a1": lambda: arrays("QuickStartExample"),
    "sparseexample_a1": lambda: arrays("SparseExample"),
    "riboflavin_a0": lambda: arrays("riboflavin"),
    "riboflavin_a1": lambda: arrays("riboflavin"),
    "saheart_binomial_a0": heart,
    "saheart_binomial_a1": heart,
    "spam_binomial_a1": spam,
    "golub_binomial_a0.5": lambda: arrays("golub"),
    "golub_binomial_a1": lambda: arrays("golub"),
    "poissonexample_a1": lambda: arrays("PoissonExample"),
    "multinomialexample_a1": lambda: arrays("MultinomialExample"),
}
LOSSES = {
    "gaussian": tk.losses.Squared(),
    "binomial": tk.losses.Logistic(),
    "poisson": tk.losses.Poisson(),
    "multinomial": tk.losses.Multinomial(),
}


# What thresh, glmnet's own tolerance, leaves at the weak end of the path.
TOLERANCE = {
    "spam_binomial_a1": 2e-5,
    "riboflavin_a1": 1e-5,
    "poissonexample_a1": 5e-6,
    "multinomialexample_a1": 5e-6,
}
WRONG = 1.05


def standardized(name):
    """The data of a path: columns standardised with 1/n, targets as the losses want them."""
    X, y = DATA[name]()
    mean, sd = X.mean(axis=0), X.std(axis=0)
    X = (X - mean) / np.where(sd > 0, sd, 1.0)
    if "binomial" in name:
        y = 2 * y - 1
    return X, (y - 1 if "multinomial" in name else y), mean, sd


def gaps(name, factor=1.0):
    """Relative duality gaps along a path, at the translated lam times a factor."""
    path, (X, y, mean, sd) = reference(name), standardized(name)
    # The first lambda for alpha = 0 is made up: its coefficients are those of infinity.
    start = 1 if path.alpha == 0 else 0
    found = []
    for lambda_, coef, b in list(zip(path.lambdas, path.coefs, path.intercepts, strict=True))[
        start:
    ]:
        strength = tk.conventions.to_lam(
            f"glmnet.{path.family}", lambda_=lambda_, alpha=path.alpha, y_sd=y.std()
        )
        problem = tk.Problem(LOSSES[path.family], strength.penalty, factor * strength.lam)
        found.append(relative_gap(problem, X, y, (coef.T * sd).T, b + mean @ coef))
    return np.array(found)


@pytest.mark.parametrize("name", DATA)
def test_every_point_of_a_path_is_optimal_at_the_translated_strength(name):
    assert gaps(name).max() < TOLERANCE.get(name, 1e-6)


@pytest.mark.parametrize("name", DATA)
def test_a_strength_wrong_by_five_percent_is_seen(name):
    assert np.median(gaps(name, WRONG)) > 10 * TOLERANCE.get(name, 1e-6)
