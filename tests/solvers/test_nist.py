"""NIST StRD linear regression sets, through the public API, with raw powers as columns."""

import json
from pathlib import Path

import numpy as np
import pytest

import tikhon as tk
from tests.reference import digits

SETS = json.loads((Path(__file__).parents[1] / "data" / "nist.json").read_text())

# What IEEE doubles can determine: Filip's tenth powers are rounded on input, which alone leaves
# 7.6 digits; the others are exact or nearly so.
GATE = {"Norris": 12, "NoInt1": 12, "Longley": 12, "Wampler1": 9, "Wampler4": 7.5, "Filip": 7}


def load(name):
    """Return columns, targets and certified coefficients of a set."""
    known = SETS[name]
    X = np.array(known["X"], dtype=float)
    return (
        X[:, 1:] if known["intercept"] else X,
        np.array(known["y"], dtype=float),
        np.array([float(c) for c in known["certified_coef_str"]]),
        known["intercept"],
    )


@pytest.mark.parametrize("name", GATE)
def test_certified_digits_are_reached(name):
    X, y, certified, intercept = load(name)
    model = tk.LinearRegression(fit_intercept=intercept).fit(X, y)
    found = np.r_[model.intercept_, model.coef_] if intercept else model.coef_
    assert model.status_ == "converged"
    assert digits(found, certified) >= GATE[name]


@pytest.mark.parametrize("noise", [1.0, 100.0, 10_000.0])
def test_noise_orthogonal_to_the_columns_costs_no_digits(noise, rng):
    # the construction of Wampler's sets: integer powers, coefficients 1, a residual orthogonal
    # to every column
    x = np.arange(21.0)
    X = np.column_stack([x**k for k in range(1, 6)])
    A = np.column_stack([np.ones(21), X])
    Q = np.linalg.qr(A / np.linalg.norm(A, axis=0))[0]
    raw = rng.standard_normal(21)
    residual = np.round((raw - Q @ (Q.T @ raw)) * 2**30) / 2**30
    y = A.sum(axis=1) + noise * residual
    model = tk.LinearRegression().fit(X, y)
    exact = np.linalg.lstsq(A, noise * residual, rcond=None)[0] + 1.0
    assert digits(np.r_[model.intercept_, model.coef_], exact) >= 5.5


def test_moving_the_intercept_into_the_columns_changes_nothing():
    X, y, certified, _ = load("Longley")
    A = np.column_stack([np.ones(len(y)), X])
    model = tk.LinearRegression(fit_intercept=False).fit(A, y)
    assert digits(model.coef_, certified) >= 12
