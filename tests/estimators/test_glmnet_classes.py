"""Paths of R glmnet for classes and counts, reached by the estimators at the translated strength.

Needs the folder that the environment variable TIKHON_DATA names; see tests/conventions.
"""

import sys
from pathlib import Path

import numpy as np
import pytest

import tikhon as tk

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "conventions"))
from test_glmnet_references import DATA, reference

pytestmark = pytest.mark.peer

PENALTIES = {0.0: "l2", 0.5: "elastic_net", 1.0: "l1"}
PLACES = (0.15, 0.5, 0.8)
"""Where on glmnet's path: it begins without coefficients, and ends where it converges least."""

CLOSE = {"spam_binomial_a1": 2e-4}
"""What glmnet's own tolerance leaves of probabilities where the curvature is small."""


def points(name):
    path = reference(name)
    for share in PLACES:
        at = int(share * (len(path.lambdas) - 1))
        yield path.lambdas[at], path.coefs[at], path.intercepts[at]


@pytest.mark.parametrize(
    "name",
    [
        "saheart_binomial_a0",
        "saheart_binomial_a1",
        "spam_binomial_a1",
        "golub_binomial_a0.5",
        "golub_binomial_a1",
        "multinomialexample_a1",
    ],
)
def test_logistic_regression_is_glmnets(name):
    alpha = reference(name).alpha
    X, y = DATA[name]()
    for lam, coef, intercept in points(name):
        model = tk.LogisticRegression(lam, penalty=PENALTIES[alpha]).fit(X, y)
        assert model.status_ == "converged"
        z = X @ coef + intercept
        ours = model.predict_proba(X)
        if z.ndim == 1:
            theirs = 1 / (1 + np.exp(-z))
            np.testing.assert_allclose(ours[:, 1], theirs, atol=CLOSE.get(name, 5e-6))
        else:
            theirs = np.exp(z - z.max(axis=1, keepdims=True))
            theirs /= theirs.sum(axis=1, keepdims=True)
            np.testing.assert_allclose(ours, theirs, atol=5e-6)


def test_poisson_regression_is_glmnets():
    name = "poissonexample_a1"
    X, y = DATA[name]()
    for lam, coef, intercept in points(name):
        model = tk.PoissonRegressor(lam, penalty="l1").fit(X, y)
        assert model.status_ == "converged"
        np.testing.assert_allclose(model.predict(X), np.exp(X @ coef + intercept), rtol=5e-6)
        np.testing.assert_array_equal(model.coef_ != 0, coef != 0)
