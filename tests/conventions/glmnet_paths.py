"""The paths of R glmnet, and the data they were fitted to.

Both are read from the folder that the environment variable TIKHON_DATA names:
`glmnet/<name>.json.gz` holds one path, with lambda, intercepts and sparse coefficients, and the
data are files beside that folder.
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
