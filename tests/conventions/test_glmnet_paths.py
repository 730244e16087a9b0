"""Paths of R glmnet, solved here at the translated strengths: the same coefficients."""

import numpy as np
import pytest
from test_glmnet_references import LOSSES, reference, standardized

import tikhon as tk

pytestmark = pytest.mark.peer

CLOSE = {
    "saheart_binomial_a0": 1e-5,
    "saheart_binomial_a1": 1e-5,
    "spam_binomial_a1": 1e-2,  # thresh leaves that much at the weak end
    "golub_binomial_a1": 1e-4,
    "golub_binomial_a0.5": 1e-4,
    "poissonexample_a1": 1e-3,
    "multinomialexample_a1": 1e-3,
}


@pytest.mark.parametrize("name", CLOSE)
def test_a_path_has_the_coefficients_of_r_glmnet(name):
    path, (X, y, _, sd) = reference(name), standardized(name)
    start = 1 if path.alpha == 0 else 0
    strengths = [
        tk.conventions.to_lam(f"glmnet.{path.family}", lambda_=v, alpha=path.alpha, y_sd=y.std())
        for v in path.lambdas[start:]
    ]
    lams = np.array([strength.lam for strength in strengths])
    found = tk.path(LOSSES[path.family], strengths[0].penalty, X, y, lams=lams)
    assert found.status == "converged"
    theirs = (path.coefs[start:].swapaxes(1, -1) * sd).swapaxes(1, -1)
    size = np.abs(theirs).max()
    np.testing.assert_allclose(found.coefs, theirs, atol=CLOSE[name] * size)
