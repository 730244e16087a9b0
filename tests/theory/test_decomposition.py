"""Noise, squared bias and variance: they add up, and agree with closed forms."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures

import tikhon as tk
from tikhon.theory import Simulator, bias_variance, bootstrap_variance

LAMS = np.geomspace(10, 1e-3, 12)

WAVE = Simulator(lambda rng, n: rng.uniform(-1, 1, (n, 1)), lambda X: np.sin(3 * X[:, 0]), 0.3)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("penalty", [tk.penalties.L2(), tk.penalties.L1()], ids=repr)
def test_the_parts_add_up_along_the_path(penalty, fixed):
    data = tk.datasets.linear(400, 8, seed=4)
    parts = bias_variance(data, 25, LAMS, penalty=penalty, fixed=fixed, samples=150, seed=1)
    off = np.abs(parts.error - parts.total) / parts.balance_se
    assert off.max() < 4
    broken = np.abs(parts.error - parts.total + parts.variance) / parts.balance_se
    assert broken.max() > 10
    assert parts.noise == pytest.approx(data.noise**2)
    assert (np.diff(parts.bias2) < 2 * parts.bias2_se[1:]).all()


def test_ridge_on_a_fixed_design_has_the_closed_form(rng):
    """bias = x'(A^-1 M - I) w and variance = sigma^2 x' A^-1 M A^-1 x / n, A = M + lam I."""
    X = rng.standard_normal((30, 4))
    w, sigma, lam = np.array([1.0, -2.0, 0.5, 0.0]), 0.7, 0.4
    source = Simulator(lambda draws, n: X[draws.permutation(30)[:n]], lambda X: X @ w, sigma)
    parts = bias_variance(
        source, 30, [lam], fixed=True, samples=4000, test=30, intercept=False, seed=2
    )
    M = X.T @ X / 30
    A = np.linalg.inv(M + lam * np.eye(4))
    bias2 = np.mean((X @ (A @ M - np.eye(4)) @ w) ** 2)
    variance = sigma**2 / 30 * np.mean(np.einsum("ij,jk,ik->i", X, A @ M @ A, X))
    assert abs(parts.bias2[0] - bias2) < 4 * parts.bias2_se[0]
    assert abs(parts.variance[0] - variance) < 4 * parts.variance_se[0]
    assert parts.variance_se[0] < 0.05 * variance


def test_standard_errors_are_those_of_repeated_runs():
    data = tk.datasets.linear(300, 3, seed=0)
    runs = [bias_variance(data, 15, [0.3], samples=40, seed=s, fixed=False) for s in range(40)]
    for name in ("bias2", "variance", "error"):
        values = np.array([getattr(run, name)[0] for run in runs])
        said = np.mean([getattr(run, f"{name}_se")[0] for run in runs])
        assert 0.6 < values.std(ddof=1) / said < 2.0, name


def test_polynomials_of_growing_degree_give_the_classic_picture():
    models = {
        degree: make_pipeline(PolynomialFeatures(degree, include_bias=False), tk.Ridge(lam=1e-9))
        for degree in (1, 3, 8)
    }
    parts = bias_variance(WAVE, 25, models=models, samples=60, test=100)
    assert parts.label == "model"
    assert parts.bias2[0] > 10 * parts.bias2[1]
    assert parts.variance[2] > 3 * parts.variance[1]
    assert parts.along[parts.best] == 3
    assert (np.abs(parts.error - parts.total) < 4 * parts.balance_se).all()


def test_the_bootstrap_finds_the_variance_of_a_mean(rng):
    """At a huge strength the prediction is the mean of y, of variance var(y) / n."""
    X, y = rng.standard_normal((60, 2)), rng.standard_normal(60)
    found = bootstrap_variance(X, y, [1e9], draws=800)
    expected = y.var() / 60
    assert abs(found.variance[0] - expected) < 4 * found.variance_se[0]
    assert found.error[0] > y.var()


def test_the_bootstrap_agrees_with_the_simulator(rng):
    data = tk.datasets.linear(400, 5, seed=1)
    truth = bias_variance(data, 200, [1.0, 0.01], samples=200)
    found = bootstrap_variance(data.X[:200], data.y[:200], [1.0, 0.01], draws=200)
    np.testing.assert_allclose(found.variance, truth.variance, rtol=0.35)


def test_pictures_and_tables(rng):
    parts = bias_variance(WAVE, 20, LAMS, samples=20, test=50)
    assert list(parts.to_frame().columns)[:3] == ["lam", "noise", "bias2"]
    boot = bootstrap_variance(rng.standard_normal((30, 2)), rng.standard_normal(30), LAMS, draws=10)
    assert len(boot.to_frame()) == len(LAMS)
    for drawn, words in ((parts, {" total", " squared bias", " variance", " noise"}), (boot, {})):
        for dark in (False, True):
            ax = drawn.plot(dark=dark)
            assert words <= {text.get_text() for text in ax.texts} if words else ax.texts
            assert ax.get_xlabel() == "strength lam (weaker to the right)"
            plt.close(ax.figure)


def test_wrong_use_is_refused(rng):
    for call, message in (
        (lambda: bias_variance(WAVE, 20), "give `lams` or `models`"),
        (lambda: bias_variance(WAVE, 1, LAMS), "`n` must be >= 2"),
        (lambda: bias_variance(WAVE, 20, LAMS, samples=2), "`samples` must be >= 3"),
        (lambda: Simulator(lambda rng, n: None, lambda X: X, -1.0), "`noise` must be >= 0"),
        (lambda: bootstrap_variance(np.ones((3, 1)), np.ones(3), [1.0], draws=2), "`draws`"),
        (lambda: bootstrap_variance(np.ones((3, 1)), np.ones(4), [1.0]), "`y` must have shape"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="`simulator` must be"):
        bias_variance("wave", 20, LAMS)
    parts = bias_variance(WAVE, 20, [1.0, 0.0], samples=5, test=10)
    with pytest.raises(tk.UnsupportedError, match="leave out lam = 0"):
        parts.plot()
