"""The degree of a polynomial by every rule, against plain computations."""

import math

import numpy as np
import pytest

import tikhon as tk
from tikhon.theory import bounds, polynomial_degrees


@pytest.fixture
def cubic(rng):
    x = rng.uniform(2.0, 5.0, 300)
    u = (x - 3.5) / 1.5
    return x, u**3 - 0.5 * u + 0.1 * rng.standard_normal(300)


def test_every_column_is_its_formula(cubic):
    x, y = cubic
    found = polynomial_degrees(x, y, range(6), clip=0.8, delta=0.1)
    u = (2 * x - x.min() - x.max()) / (x.max() - x.min())
    for k in range(6):
        V = np.vander(u, k + 1)
        hat = V @ np.linalg.pinv(V)
        r = y - hat @ y
        assert found.loss[k] == pytest.approx(np.mean(r**2) / 2)
        assert found.loo[k] == pytest.approx(np.mean((r / (1 - np.diag(hat))) ** 2) / 2)
        assert found.aic[k] == pytest.approx(300 * np.log(np.mean(r**2)) + 2 * (k + 1))
        assert found.bic[k] == pytest.approx(300 * np.log(np.mean(r**2)) + np.log(300) * (k + 1))
        growth = 2 * (k + 1) * math.log(2 * math.e * 300 / (k + 1))
        share = 0.1 * bounds.class_weight(k)
        eps = 0.8 * math.sqrt(8 / 300 * (growth + math.log(4 / share)))
        assert found.srm[k] == pytest.approx(np.minimum(r**2 / 2, 0.8).mean() + eps)
    np.testing.assert_allclose(np.polynomial.legendre.legval(u, found.coefs[5]), hat @ y)


def test_the_true_degree_is_found_by_the_rules_that_look_for_it(rng):
    x = rng.uniform(-1, 1, 20_000)
    y = x**3 - x / 2 + 0.05 * rng.standard_normal(20_000)
    found = polynomial_degrees(x, y, range(13), clip=0.05)
    assert [found.choose(rule) for rule in ("srm", "mdl", "bic")] == [3, 3, 3]
    assert found.choose("loo") >= 3
    np.testing.assert_allclose(found.predict([0.5], "bic"), [0.5**3 - 0.25], atol=0.01)
    # the slope of x^3 - x / 2 is steepest at the ends: 3 - 1/2
    assert found.lipschitz("bic") == pytest.approx(2.5, rel=0.05)


def test_high_degrees_are_stable(rng):
    x = np.sort(rng.uniform(0, 1, 400))
    y = np.sin(40 * x)
    found = polynomial_degrees(x, y, [30, 45])
    assert found.loss[1] < 1e-10
    np.testing.assert_allclose(found.predict(x[20:-20], "loo"), y[20:-20], atol=1e-4)


def test_the_description_decodes_to_the_same_polynomial(cubic):
    x, y = cubic
    found = polynomial_degrees(x, y, clip=0.1)
    code = found.code(6)
    again = tk.theory.decode(code.bits, len(code.coef))
    np.testing.assert_array_equal(again.coef, code.coef)
    assert found.to_frame().shape == (11, 8)


def test_what_cannot_be_compared_is_refused(rng):
    x, y = rng.random(5), rng.random(5)
    with pytest.raises(ValueError, match="`degrees` must be whole numbers from 0 to 4"):
        polynomial_degrees(x, y, [5])
    with pytest.raises(tk.UnsupportedError, match="one column"):
        polynomial_degrees(rng.random((5, 2)), y)
    with pytest.raises(ValueError, match="`rule` must be one of 'srm'"):
        polynomial_degrees(x, y, [0, 1]).choose("ebic")
    exact = polynomial_degrees(x, y, [4])
    assert math.isinf(exact.loo[0])
    assert math.isinf(exact.bic[0])
