"""The truth of the benchmarks: a bound from below that no answer can pass."""

import numpy as np
import pytest

from benchmarks.path_accuracy import PathReference
from benchmarks.problems import build, penalised


@pytest.fixture(scope="module", params=["P4", "group", "wide-sparse"])
def reference(request):
    problem = build(request.param, "small", n_lams=10)
    return PathReference(problem)


def test_the_bound_is_met_by_the_answers_it_comes_from(reference):
    assert 0.0 <= reference.gap <= 1e-10


def test_at_the_largest_strength_no_coefficient_is_optimal(reference):
    problem = reference.problem
    zero = np.zeros((1, problem.X.shape[1]))
    gap = reference.suboptimality(problem.lams[:1], zero, np.array([problem.y.mean()]))
    assert abs(gap[0]) <= 1e-10


def test_an_error_of_known_size_is_seen_exactly():
    """Off the optimum by delta in the intercept, the objective grows by delta^2 / 2."""
    problem = penalised("lasso_path", n_samples=60, n_features=30, ratio=0.1, n_lams=5)
    reference = PathReference(problem)
    coefs, intercepts = reference._solved(np.arange(60))
    found = reference.suboptimality(problem.lams, coefs, intercepts + 1e-3)
    np.testing.assert_allclose(found, 0.5e-6 / reference.null, rtol=1e-4)


def test_what_is_not_finite_is_infinitely_wrong(reference):
    problem = reference.problem
    coefs = np.full((len(problem.lams), problem.X.shape[1]), np.nan)
    gaps = reference.suboptimality(problem.lams, coefs, np.zeros(len(problem.lams)))
    assert np.all(gaps == np.inf)


def test_the_curve_without_coefficients_is_the_spread_of_the_targets():
    problem = build("P4", "small", n_lams=5)
    curve = PathReference(problem).curve()
    held = [problem.y[h] - problem.y[t].mean() for t, h in problem.splits()]
    # Near the largest strength a fold may already have a first coefficient, so a little less.
    assert curve[0] == pytest.approx(np.mean([np.mean(r**2) for r in held]), rel=0.05)
    assert curve.shape == (5,)
