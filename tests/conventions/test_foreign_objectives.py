"""Every objective elsewhere is a positive multiple of ours at the translated strength."""

import numpy as np
import pytest
from foreign_objectives import FOREIGN, hinge, square
from optimality import relative_gap
from real_data import DIABETES
from scipy.optimize import minimize

import tikhon as tk

LECTURES = [name for name in FOREIGN if name.startswith("lecture")]
VISIBLE = 1.05


def translated(name, lam, l1_ratio, n, y_sd):
    """Parameters there, and strength here, from the parameters alone."""
    known = {"n": n, "y_sd": y_sd}
    mixture = tk.conventions.find(name).rule.mixture
    fixed = mixture is not None and mixture.name is None
    parameters = tk.conventions.from_lam(name, lam, None if fixed else l1_ratio, **known)
    return parameters, tk.conventions.to_lam(name, **known, **parameters)


def test_every_row_is_written_down():
    assert {row.name for row in tk.conventions.table()} == set(FOREIGN) - {"lecture000.hinge"}


@pytest.mark.parametrize("weighted", [False, True], ids=["rows", "weights"])
@pytest.mark.parametrize("name", FOREIGN)
def test_the_objective_there_is_a_multiple_of_ours(name, weighted, rng):
    there = FOREIGN[name]
    X, s = DIABETES.X, DIABETES.weights if weighted else np.ones(DIABETES.n)
    y = DIABETES.targets["real" if there.loss is square else "sign"]
    y_sd = np.sqrt(np.average((y - np.average(y, weights=s)) ** 2, weights=s))
    parameters, strength = translated(name, 0.3, 0.6, s.sum(), y_sd)
    problem = tk.Problem(there.twin, strength.penalty, strength.lam)
    values = []
    for _ in range(4):
        w, b = rng.normal(size=X.shape[1]) / 4, rng.normal()
        total = s @ there.loss(y, X @ w + b)
        foreign = there.value(total, s.sum(), w, parameters, y_sd)
        values.append((foreign, problem.value(X, y, w, b, s)))
    foreign, ours = np.diff(np.array(values), axis=0).T
    assert foreign[0] / ours[0] > 0
    np.testing.assert_allclose(foreign / ours, foreign[0] / ours[0], rtol=1e-9)


@pytest.mark.parametrize("name", LECTURES)
def test_the_minimiser_of_a_lecture_is_optimal_at_the_translated_strength_and_at_no_other(name):
    there = FOREIGN[name]
    few = slice(0, 60)
    X, y = DIABETES.X[few, :3], DIABETES.targets["real" if there.loss is square else "sign"][few]
    parameters, strength = translated(name, 0.2, 0.4, len(y), y.std())
    w, b = minimiser(there, parameters, X, y)
    gaps = [
        relative_gap(tk.Problem(there.twin, strength.penalty, strength.lam * f), X, y, w, b)
        for f in (1.0, VISIBLE, 1 / VISIBLE)
    ]
    assert gaps[0] < 1e-7
    assert min(gaps[1:]) > 1e-6


def minimiser(there, parameters, X, y):
    """Coefficients and intercept that minimise an objective, by sequential quadratic programming.

    Kinks are taken apart. ``w = plus - minus`` with both parts non-negative: their norms are
    least, and those of w, where one of each pair is 0. Slacks above ``1 - y z`` are the hinge.
    """
    n, d = X.shape
    slack = n if there.loss is hinge else 0

    def value(x):
        w, b, xi = x[:d] - x[d : 2 * d], x[2 * d], x[2 * d + 1 :]
        total = xi.sum() if slack else there.loss(y, X @ w + b).sum()
        return there.value(total, n, x[: 2 * d], parameters, 1.0)

    signed = y[:, None] * np.column_stack([X, -X, np.ones(n)])
    above = {
        "type": "ineq",
        "fun": lambda x: signed @ x[: 2 * d + 1] + x[2 * d + 1 :] - 1,
        "jac": lambda _: np.column_stack([signed, np.eye(n)]),
    }
    x = minimize(
        value,
        np.concatenate([np.full(2 * d, 0.1), [0.0], np.ones(slack)]),
        bounds=[(0, None)] * (2 * d) + [(None, None)] + [(0, None)] * slack,
        constraints=[above] if slack else [],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    ).x
    return x[:d] - x[d : 2 * d], x[2 * d]
