"""Support vector problems: weak duality, offsets, feasibility, and complementary slackness."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tikhon.problem.support import SupportProblem


def _any(rng, kind, n=40, offset="constraint"):
    p = rng.random(n) * (rng.random(n) < 0.8)
    p /= p.sum()
    if kind == "tube":
        return SupportProblem.tubes(rng.standard_normal(n), p, 0.2, offset=offset)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    return SupportProblem.classes(y, p, squared=kind == "squared", offset=offset)


KINDS = ["hinge", "squared", "tube"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gap_bounds_the_distance_from_any_other_point(kind, rng):
    problem = _any(rng, kind)
    A = rng.standard_normal((40, 60))
    K, lam = A @ A.T, 0.3

    def primal(beta, b):
        f = K @ beta
        return problem.losses(problem.target - f - b).sum() + 0.5 * lam * beta @ f

    for _ in range(30):
        u = problem.balanced(0.1 * rng.standard_normal(40))
        b = rng.standard_normal()
        certificate, slack = problem.certificate(lam, u, K @ u / lam, b)
        gap = slack.sum()
        assert np.all(slack >= 0)
        assert certificate.objective == pytest.approx(primal(u / lam, b))
        other = primal(0.05 * rng.standard_normal(40), rng.standard_normal())
        assert certificate.objective - gap <= other + 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_balanced_points_are_feasible_and_feasible_points_are_left_alone(kind, rng):
    problem = _any(rng, kind)
    for scale in (1e-3, 0.1, 10.0):
        u = problem.balanced(scale * rng.standard_normal(40))
        assert np.all((u >= problem.lower) & (u <= problem.upper))
        assert abs(u.sum()) <= 1e-14 * max(1.0, np.abs(u).sum())
        np.testing.assert_allclose(problem.balanced(u), u, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_offset_is_the_best(kind, rng):
    problem = _any(rng, kind)
    f = rng.standard_normal(40)

    def loss(b):
        return problem.losses(f - b).sum()

    b = problem.best_offset(f)
    grid = np.linspace(-4, 4, 2001)
    assert loss(b) <= min(loss(t) for t in grid) + 1e-12
    assert loss(b) <= minimize_scalar(loss).fun + 1e-9


def test_slack_vanishes_exactly_where_slackness_is_complementary():
    p = np.full(4, 0.25)
    y = np.array([1.0, 1.0, -1.0, -1.0])
    problem = SupportProblem.classes(y, p)
    r = np.array([0.5, 0.0, -0.5, 1.0])  # y (1 - y z): inside, on the margin, inside, outside
    u = np.array([0.25, 0.1, -0.25, 0.0])
    assert problem.slack(r, u).tolist() == [0.0, 0.0, 0.0, 0.0]
    assert problem.violation(r, u).tolist() == [0.0, 0.0, 0.0, 0.0]
    moved = problem.slack(r + np.array([0.0, 0.1, 0.0, -2.0]), u)
    assert moved[1] > 0
    assert moved[3] > 0


def test_an_unknown_offset_is_refused():
    with pytest.raises(ValueError, match="`offset` must be one of 'constraint'"):
        SupportProblem.classes(np.array([1.0, -1.0]), np.array([0.5, 0.5]), offset="free")
