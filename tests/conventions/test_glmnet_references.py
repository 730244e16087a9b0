"""Every point of the paths of R glmnet is optimal here, at the translated strength."""

import numpy as np
import pytest
from glmnet_paths import DATA, reference
from optimality import relative_gap

import tikhon as tk

pytestmark = pytest.mark.peer

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
