"""Values, derivatives and conjugates against fifty-digit arithmetic, at extreme arguments."""

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tikhon.losses import Gamma, Logistic, Multinomial, Poisson

EPS = np.finfo(np.float64).eps
EXTREMES = [0.0, 1e-300, 1e-9, 0.5, 1.0, 30.0, 36.7, 40.0, 700.0, 709.7, 710.0, 745.0, 1e4, 1e308]
SIGNED = [sign * size for size in EXTREMES for sign in (-1.0, 1.0)]
TINY = np.finfo(np.float64).tiny


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def mp_exp(t):
    """exp(t), 0 below any float: mpmath would spend its memory on exp(-1e308)."""
    return mp.mpf(0) if t < -1e5 else mp.exp(t)


def plogp(p):
    return mp.mpf(p) * mp.log(p) if p else mp.mpf(0)


def agrees(found, exact, ulps, terms=0.0):
    """Within some ulps of the result or of its largest term, or both beyond the float range."""
    exact = mp.mpf(exact)
    if abs(exact) > np.finfo(np.float64).max:
        return bool(np.isinf(found)) and mp.sign(exact) == np.sign(found)
    allowed = ulps * EPS * max(abs(exact), abs(mp.mpf(terms))) + TINY
    return abs(mp.mpf(float(found)) - exact) <= allowed


@pytest.mark.parametrize("z", SIGNED)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_logistic_is_relatively_accurate_everywhere(y, z):
    m = mp.mpf(y) * mp.mpf(z)
    softplus = mp.log1p(mp_exp(-m)) if m >= 0 else -m + mp.log1p(mp_exp(m))
    p_wrong = mp_exp(-m) / (1 + mp_exp(-m)) if m >= 0 else 1 / (1 + mp_exp(m))
    p_right = 1 / (1 + mp_exp(-m)) if m >= 0 else mp_exp(m) / (1 + mp_exp(m))
    loss, y, z = Logistic(), np.array(y), np.array(z)
    assert agrees(loss.value(y, z), softplus, 4)
    assert agrees(loss.derivative(y, z), -float(y) * p_wrong, 4)
    assert agrees(loss.curvature(y, z), p_wrong * p_right, 8)


@pytest.mark.parametrize(
    "a", [0.0, 5e-324, 1e-300, 1e-17, 1e-8, 0.3, 0.5, 0.9, 1 - 1e-8, 1 - EPS / 2, 1.0]
)
@pytest.mark.parametrize("y", [-1.0, 1.0])
def test_logistic_conjugate_is_relatively_accurate_up_to_the_edge(y, a):
    exact = plogp(a) + (1 - mp.mpf(a)) * (mp.log1p(-mp.mpf(a)) if a < 1 else 0)
    assert agrees(Logistic().conjugate(np.array(y), np.array(-y * a)), exact, 8)


@given(
    z=st.lists(st.sampled_from(SIGNED) | st.floats(-50, 50), min_size=2, max_size=5),
    y=st.integers(0, 1),
)
@settings(deadline=None, max_examples=150)
def test_multinomial_is_relatively_accurate_everywhere(z, y):
    shifted = [mp.mpf(k) - mp.mpf(max(z)) for k in z]
    top = z.index(max(z))
    rest = sum(mp_exp(t) for k, t in enumerate(shifted) if k != top)
    value = -shifted[y] + mp.log1p(rest)
    p = [mp_exp(t) / (1 + rest) for t in shifted]
    loss, codes, row = Multinomial(), np.array([y]), np.array([z])
    # exp turns the rounding of z_k - max into a relative error of its size.
    ulps = 16 + 4 * max(abs(t) for t in shifted if t > -1e3)
    assert agrees(loss.value(codes, row)[0], value, ulps)
    derivative, curvature = loss.derivative(codes, row)[0], loss.curvature(codes, row)[0]
    for k in range(len(z)):
        others = sum(p[j] for j in range(len(z)) if j != k)
        assert agrees(derivative[k], -others if k == y else p[k], ulps)
        assert agrees(curvature[k], p[k] * others, ulps)


@pytest.mark.parametrize("small", [0.0, 1e-300, 1e-20, 1e-9, 0.25])
def test_multinomial_conjugate_tells_probabilities_next_to_one(small):
    u = np.array([[-2 * small, small, small]])
    twice = 2 * mp.mpf(small)
    exact = (1 - twice) * mp.log1p(-twice) + 2 * plogp(small)
    assert agrees(Multinomial().conjugate(np.array([0]), u)[0], exact, 8)


@pytest.mark.parametrize("z", SIGNED)
@pytest.mark.parametrize("y", [0.0, 1e-300, 1.0, 7.0, 1e9])
def test_poisson_is_accurate_and_infinite_only_where_exp_overflows(y, z):
    exp = mp.exp(z) if z < 1e5 else mp.inf
    exp = mp_exp(mp.mpf(z)) if z < 0 else exp
    product = mp.mpf(y) * mp.mpf(z)
    loss, target, at = Poisson(), np.array(y), np.array(z)
    assert agrees(loss.value(target, at), exp - product, 4, max(exp, abs(product)))
    assert agrees(loss.derivative(target, at), exp - y, 4, max(exp, y))
    assert agrees(loss.curvature(target, at), exp, 4)


@pytest.mark.parametrize("v", [0.0, 5e-324, 1e-300, 1e-9, 1.0, np.e, 1e9, 1e300])
def test_poisson_conjugate_is_accurate_at_zero_counts(v):
    exact = mp.mpf(v) * (mp.log(v) - 1) if v else mp.mpf(0)
    assert agrees(Poisson().conjugate(np.array(0.0), np.array(v)), exact, 4, v)


@pytest.mark.parametrize("z", SIGNED)
@pytest.mark.parametrize("y", [1e-300, 1.0, 7.0, 1e300])
def test_gamma_is_accurate_where_a_factor_overflows_alone(y, z):
    ratio = mp.mpf(y) * mp.exp(-mp.mpf(z)) if z > -1e5 else mp.inf
    ratio = mp.mpf(0) if z > 1e5 else ratio
    loss, target, at = Gamma(), np.array(y), np.array(z)
    assert agrees(loss.curvature(target, at), ratio, 6)
    assert agrees(loss.value(target, at), ratio + mp.mpf(z), 6, max(ratio, abs(z)))
    assert agrees(loss.derivative(target, at), 1 - ratio, 6, max(ratio, 1))


@pytest.mark.parametrize("t", [0.0, 5e-324, 1e-300, 1e-9, 1.0, 1e9, 1e300])
@pytest.mark.parametrize("y", [1e-300, 1.0, 1e300])
def test_gamma_conjugate_is_accurate_for_any_scale(y, t):
    u = 1 - t
    left = 1 - mp.mpf(u)  # what is left of t in the argument itself
    exact = left * (mp.log(left) - mp.log(y) - 1) if left else mp.mpf(0)
    terms = left * (1 + abs(mp.log(y)) + (abs(mp.log(left)) if left else 0))
    assert agrees(Gamma().conjugate(np.array(y), np.array(u)), exact, 4, terms)
