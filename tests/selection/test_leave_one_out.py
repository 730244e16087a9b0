"""Closed forms of leave-one-out equal leaving rows out one by one."""

import numpy as np
import pytest

import tikhon as tk
from tests.reference import ridge
from tests.selection.test_cross_validation import LAMS, SHAPES, WEIGHTS, data_of, study_of


def one_by_one(X, y, power, *, weights, standardize, intercept):
    n = len(y)
    s = np.ones(n) if weights is None else weights
    p = s / s.sum()
    mean = p @ X if intercept else np.zeros(X.shape[1])
    scale = np.sqrt(p @ (X - mean) ** 2) if standardize else np.ones(X.shape[1])
    used = np.flatnonzero(s > 0)
    cost = np.empty((len(LAMS), len(used)))
    for place, row in enumerate(used):
        rest = np.setdiff1d(used, [row])
        for i, lam in enumerate(LAMS):
            coef, b = ridge(
                X[rest], y[rest], lam, weights=s[rest], intercept=intercept, scale=scale
            )
            cost[i, place] = np.mean(np.abs(y[row] - X[row] @ coef - b) ** power)
    return cost, s[used]


@pytest.mark.parametrize("standardize", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("solver", ["tall", "wide"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("score", "power"), [("squared_error", 2), ("absolute_error", 1)])
def test_leave_one_out_is_exact(rng, shape, solver, weights, intercept, standardize, score, power):
    X, y = data_of(rng, shape, targets=2)
    s = WEIGHTS[weights](rng, len(y))
    how = {"weights": s, "standardize": standardize, "intercept": intercept}
    study = study_of(X, y, folds="loo", score=score, solver=solver, **how)
    cost, weight = one_by_one(X, y, power, **how)
    mean = np.average(cost, axis=1, weights=weight)
    variance = np.average((cost.T - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(study.mean, mean, rtol=1e-9)
    np.testing.assert_allclose(study.se, np.sqrt(variance / (len(weight) - 1)), rtol=1e-7)
    assert study.scores is None


def test_leave_one_out_survives_interpolation(rng):
    X, y = data_of(rng, "wide")
    lams = np.array([1e-9])
    study = tk.cross_validate(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=lams, folds="loo")
    errors = []
    for row in range(len(y)):
        rest = np.setdiff1d(np.arange(len(y)), [row])
        centred = X[rest] - X[rest].mean(axis=0)
        w = np.linalg.pinv(centred) @ (y[rest] - y[rest].mean())
        errors.append(y[row] - y[rest].mean() - (X[row] - X[rest].mean(axis=0)) @ w)
    assert study.mean[0] == pytest.approx(np.mean(np.square(errors)), rel=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("solver", ["tall", "wide"])
def test_gcv_is_its_formula(rng, solver, intercept):
    X, y = data_of(rng, "tall")
    study = study_of(X, y, folds="gcv", solver=solver, intercept=intercept)
    n, d = X.shape
    for i, lam in enumerate(LAMS):
        Z = X - X.mean(axis=0) if intercept else X
        H = Z @ np.linalg.solve(Z.T @ Z + n * lam * np.eye(d), Z.T) + intercept / n
        expected = np.mean((y - H @ y) ** 2) / (1 - np.trace(H) / n) ** 2
        assert study.mean[i] == pytest.approx(expected, rel=1e-10)


def test_what_has_no_closed_form_is_refused_by_name(rng):
    X, y = data_of(rng, "tall")
    with pytest.raises(ValueError, match="no closed form for the score 'r2'"):
        study_of(X, y, folds="loo", score="r2")
    with pytest.raises(ValueError, match="use folds=10"):
        study_of(X, y, folds="gcv", solver="iterative")
    with pytest.raises(ValueError, match="no standard error"):
        study_of(X, y, folds="gcv").choose("1se")
    with pytest.raises(ValueError, match="`folds`"):
        study_of(X, y, folds="lox")
