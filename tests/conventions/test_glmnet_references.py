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
        return sp.coo_array((beta["value"], (beta_columns(beta, shape[1]), beta["row"])), shape)

    def beta_columns(beta, p):
        """The step of each value, from where the values of each step start."""
        return np.repeat(np.arange(shape[0]), np.diff(beta["step"]))

    if isinstance(o["beta"], dict):
        coefs, intercepts = dense(o["beta"]).toarray(), np.array(o["a0"])
    else:
        coefs = np.stack([dense(beta).toarray() for beta in o["beta"]], axis=2)
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
