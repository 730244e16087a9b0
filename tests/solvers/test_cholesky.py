"""The first lecture's linear system, in both forms."""

import numpy as np
import pytest

import tikhon as tk
from tests.solvers.test_ridge_laws import data_of


@pytest.mark.parametrize("shape", [(30, 5), (12, 40)])
@pytest.mark.parametrize("form", ["auto", "primal", "dual"])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("targets", [None, 2])
def test_both_forms_give_the_ridge_solution(rng, shape, form, intercept, targets):
    X, y = data_of(rng, *shape, targets)
    solved = tk.ridge_cholesky(X, y, 0.3, form=form, intercept=intercept)
    model = tk.Ridge(lam=0.3, standardize=False, fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(solved.coef.T, model.coef_, rtol=1e-10, atol=1e-13)
    np.testing.assert_allclose(solved.intercept, model.intercept_, atol=1e-11)
    assert (solved.dual is None) == (solved.form == "primal")
    if form == "auto":
        assert solved.form == ("primal" if shape[0] >= shape[1] else "dual")


def test_the_strength_mends_the_condition_number(rng):
    X, y = data_of(rng, 30, 5)
    X[:, 4] = X[:, 0] + 1e-3 * X[:, 4]
    solved = [tk.ridge_cholesky(X, y, lam) for lam in (1e-8, 1e-4, 1.0)]
    conditions = [s.condition for s in solved]
    assert conditions == sorted(conditions, reverse=True)
    Z = X - X.mean(axis=0)
    assert conditions[2] == pytest.approx(np.linalg.cond(Z.T @ Z + 30 * np.eye(5)), rel=1e-10)
    assert solved[0].condition_without == pytest.approx(np.linalg.cond(Z.T @ Z), rel=1e-6)
    twice = np.column_stack([X, X])
    assert tk.ridge_cholesky(twice, y, 1.0).condition_without == np.inf


def test_what_is_no_strength_and_no_form_is_refused(rng):
    X, y = data_of(rng)
    with pytest.raises(ValueError, match="`lam`"):
        tk.ridge_cholesky(X, y, 0.0)
    with pytest.raises(ValueError, match="`form`"):
        tk.ridge_cholesky(X, y, 1.0, form="qr")
