"""Penalties as priors: strengths, posteriors, evidence and draws, against integrals."""

import math
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import integrate, sparse, stats

import tikhon as tk
from tikhon.theory import priors


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 3)) * [1.0, 3.0, 0.5] + [0.0, 10.0, -2.0]
    return X, X @ [1.0, -0.5, 0.0] + 2.0 + 1.5 * rng.standard_normal(40)


def test_priors_and_strengths_are_each_others_inverse():
    assert tk.Normal(0, sd=3.0).lam(noise=6.0, n=50) == pytest.approx(36 / 9 / 50)
    assert tk.Laplace(0, scale=3.0).lam(noise=6.0, n=50) == pytest.approx(36 / 3 / 50)
    for kind, name in ((tk.Normal, "sd"), (tk.Laplace, "scale")):
        prior = kind.of_strength(0.03, noise=2.0, n=70)
        assert prior.lam(2.0, 70) == pytest.approx(0.03)
        assert prior == kind(0, **{name: getattr(prior, name)})
        with pytest.raises(tk.UnsupportedError, match="`mean` must be 0, got 1"):
            kind(1.0)
        with pytest.raises(ValueError, match=f"`{name}` must be > 0"):
            kind(0, **{name: 0.0})
        with pytest.raises(ValueError, match="`noise`"):
            prior.lam(-1.0, 10)


def test_the_modes_are_ridge_and_lasso(rng, data):
    """No point near the solution has a higher posterior density."""
    X, y = data
    n, noise = len(y), 1.5
    A, t = X - X.mean(axis=0), y - y.mean()

    def log_posterior(w, prior):
        fit = -np.sum((t - A @ w) ** 2) / (2 * noise**2)
        if isinstance(prior, tk.Normal):
            return fit + stats.norm.logpdf(w, scale=prior.sd).sum()
        return fit + stats.laplace.logpdf(w, scale=prior.scale).sum()

    for prior, penalty in ((tk.Normal(0, sd=0.4), "L2"), (tk.Laplace(0, scale=0.2), "L1")):
        lam = prior.lam(noise, n)
        problem = tk.Problem(tk.losses.Squared(), getattr(tk.penalties, penalty)(), lam)
        w = tk.solve(problem, X, y, tol=1e-12).coef
        for _ in range(200):
            near = w + 10.0 ** rng.uniform(-4, 0) * rng.standard_normal(3)
            assert log_posterior(near, prior) < log_posterior(w, prior)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", [None, "some"])
def test_the_posterior_is_the_textbooks_normal(rng, data, intercept, weights):
    """With an intercept: the limit of a flat prior, as one more column with a huge variance."""
    X, y = data
    s = None if weights is None else rng.integers(0, 4, len(y)).astype(float)
    noise, prior = 1.3, tk.Normal(0, sd=0.7)
    found = priors.ridge_posterior(X, y, prior, noise, sample_weight=s, intercept=intercept)
    used = np.ones(len(y)) if s is None else s
    B = np.column_stack([X - X.mean(axis=0), np.ones(len(y))]) if intercept else X
    precision = (B.T * used) @ B / noise**2
    precision += np.diag([1 / prior.sd**2] * 3 + [0.0] * intercept)
    covariance = np.linalg.inv(precision)
    mean = covariance @ (B.T * used) @ y / noise**2
    np.testing.assert_allclose(found.mean, mean[:3], rtol=1e-7)
    np.testing.assert_allclose(found.covariance, covariance[:3, :3], rtol=1e-7)
    assert found.lam == pytest.approx(noise**2 / prior.sd**2 / used.sum())
    new = rng.standard_normal((5, 3)) * 3
    N = np.column_stack([new - X.mean(axis=0), np.ones(5)]) if intercept else new
    np.testing.assert_allclose(found.predict(new), N @ mean, rtol=1e-7)
    variance = noise**2 + np.einsum("ij,jk,ik->i", N, covariance, N)
    np.testing.assert_allclose(found.predictive_sd(new), np.sqrt(variance), rtol=1e-7)
    low, high = found.credible(0.9).T
    np.testing.assert_allclose((high - low) / 2, 1.6448536 * found.sd, rtol=1e-6)
    low, high = found.predictive(new, 0.5).T
    np.testing.assert_allclose((high - low) / 2, 0.6744898 * np.sqrt(variance), rtol=1e-6)
    table = sparse.csr_array(X)
    again = priors.ridge_posterior(table, y, prior, noise, sample_weight=s, intercept=intercept)
    np.testing.assert_allclose(again.covariance, found.covariance, rtol=1e-8)


@pytest.mark.parametrize("intercept", [False, True])
def test_the_evidence_is_the_integral_over_the_coefficients(rng, intercept):
    """One column, no intercept: y is normal. With one, contrasts of y are: N = n - 1 of them."""
    x, y = rng.standard_normal((12, 1)), rng.standard_normal(12)
    noise, sd = 0.8, 1.7
    found = priors.ridge_posterior(x, y, tk.Normal(0, sd=sd), noise, intercept=intercept)
    H = np.linalg.qr(np.column_stack([np.ones(12), np.eye(12)[:, :11]]))[0][:, 1:]
    A, t = (H.T @ x, H.T @ y) if intercept else (x, y)

    def joint(w):
        return np.exp(
            stats.norm.logpdf(t - A[:, 0] * w, scale=noise).sum() + stats.norm.logpdf(w, scale=sd)
        )

    middle = found.mean[0]
    value, _ = integrate.quad(joint, middle - 15, middle + 15, points=[middle], epsabs=0)
    assert found.log_evidence == pytest.approx(math.log(value), rel=1e-8)


def test_strength_and_noise_have_the_greatest_evidence(data):
    X, y = data
    spectrum = tk.Ridge(lam=1.0, standardize=False).fit(X, y).spectrum_
    found = priors.ridge_posterior(X, y)
    best = priors.log_evidence(spectrum, found.lam, found.noise)
    assert found.log_evidence == pytest.approx(best)
    assert best == pytest.approx(priors.log_evidence(spectrum, found.lam))
    for factor in (0.3, 0.9, 1.1, 3.0):
        assert priors.log_evidence(spectrum, factor * found.lam, found.noise) < best
        assert priors.log_evidence(spectrum, found.lam, factor * found.noise) < best
    assert found.prior.lam(found.noise, len(y)) == pytest.approx(found.lam)
    held = priors.ridge_posterior(X, y, noise=1.5)
    for factor in (0.5, 2.0):
        assert priors.log_evidence(spectrum, factor * held.lam, 1.5) < held.log_evidence


def test_ridge_takes_a_prior_in_natural_units(data):
    X, y = data
    prior = tk.Normal(0, sd=0.5)
    model = tk.Ridge(prior=prior).fit(X, y)
    assert model.lam_ == pytest.approx(prior.lam(model.noise_, len(y)))
    posterior = priors.ridge_posterior(X, y, prior)
    np.testing.assert_allclose(model.coef_, posterior.mean, rtol=1e-7)
    assert model.noise_ == pytest.approx(posterior.noise, rel=1e-6)
    spectrum = model.spectrum_
    best = priors.log_evidence(spectrum, model.lam_, model.noise_)
    for factor in (0.8, 1.25):
        other = factor * model.noise_
        assert priors.log_evidence(spectrum, prior.lam(other, len(y)), other) < best
    assert spectrum.prior_sd(model.lam_, model.noise_) == pytest.approx(0.5)
    scaled = tk.Ridge(prior=tk.Normal(0, sd=0.5e3)).fit(X / 1e3, y)
    np.testing.assert_allclose(scaled.coef_ / 1e3, model.coef_, rtol=1e-5)
    for options, message in (
        ({"lam": 1.0}, "give `lam` or `prior`"),
        ({"norm": 1.0}, "give `norm` or `prior`"),
        ({"nested": True}, "leaves nothing to choose"),
    ):
        with pytest.raises(ValueError, match=message):
            tk.Ridge(prior=prior, **options).fit(X, y)
    with pytest.raises(tk.UnsupportedError, match="A Laplace prior is the lasso"):
        tk.Ridge(prior=tk.Laplace(0, scale=1.0)).fit(X, y)


def test_intervals_cover_as_often_as_they_say(rng):
    """Coefficients drawn from the prior, targets from the model: coverage must be exact."""
    d, noise, prior, runs = 4, 0.9, tk.Normal(0, sd=1.4), 600
    inside, predicted = 0, 0
    for _ in range(runs):
        X = rng.standard_normal((15, d))
        w = prior.sd * rng.standard_normal(d)
        y = X @ w + 3.0 + noise * rng.standard_normal(15)
        found = priors.ridge_posterior(X, y, prior, noise)
        low, high = found.credible(0.8).T
        inside += np.mean((low <= w) & (w <= high))
        x = rng.standard_normal((1, d))
        (low, high), new = found.predictive(x, 0.8)[0], x @ w + 3.0 + noise * rng.standard_normal()
        predicted += low <= new[0] <= high
    error = 3.5 * math.sqrt(0.16 / runs)
    assert abs(inside / runs - 0.8) < error
    assert abs(predicted / runs - 0.8) < error


def laplace_moments(A, t, prior, noise, conditional=False):
    """Mean and sd of two coefficients by summing over a fine grid."""
    free = np.linalg.lstsq(A, t, rcond=None)[0]
    reach = 8 * noise / np.linalg.svd(A)[1].min()
    axes = [np.linspace(f - reach, f + reach, 701) for f in free]
    W = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    scale = prior.scale * (noise if conditional else 1.0)
    rss = np.sum((t - W @ A.T) ** 2, axis=-1)
    log = -rss / (2 * noise**2) - np.abs(W).sum(axis=-1) / scale
    p = np.exp(log - log.max())
    p /= p.sum()
    mean = np.array([np.sum(p * W[..., j]) for j in range(2)])
    return mean, np.sqrt([np.sum(p * (W[..., j] - mean[j]) ** 2) for j in range(2)])


@pytest.mark.parametrize("conditional", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_draws_have_the_moments_of_the_posterior(rng, intercept, conditional):
    X = rng.standard_normal((25, 2))
    X[:, 1] += 0.8 * X[:, 0]
    y = X @ [1.0, 0.1] + 4.0 * intercept + 0.8 * rng.standard_normal(25)
    prior = tk.Laplace(0, scale=0.3)
    found = priors.bayesian_lasso(
        X, y, prior, 0.8, conditional=conditional, intercept=intercept, draws=1500
    )
    A, t = (X - X.mean(axis=0), y - y.mean()) if intercept else (X, y)
    mean, sd = laplace_moments(A, t, prior, 0.8, conditional)
    np.testing.assert_array_less(np.abs(found.mean - mean), 4.5 * found.mcse)
    np.testing.assert_allclose(found.sd, sd, rtol=0.06)
    wrong, _ = laplace_moments(A, t, tk.Laplace(0, scale=0.1), 0.8, conditional)
    assert np.abs(found.mean - wrong).max() > 4.5 * found.mcse.max()
    assert found.converged
    assert found.ess.min() > 500
    np.testing.assert_array_equal(found.noise, 0.8)


@pytest.mark.parametrize("conditional", [False, True])
def test_the_noise_is_drawn_from_its_posterior(rng, conditional):
    """One column: coefficient and noise integrated on a grid."""
    x = rng.standard_normal(20)
    y = 0.7 * x + 0.5 * rng.standard_normal(20)
    prior = tk.Laplace(0, scale=0.5)
    found = priors.bayesian_lasso(
        x[:, None], y, prior, conditional=conditional, intercept=False, draws=2000
    )
    W, S = np.meshgrid(np.linspace(-0.5, 2, 501), np.linspace(0.15, 2.0, 501), indexing="ij")
    rss = np.sum(y**2) - 2 * W * (x @ y) + W**2 * (x @ x)
    b = prior.scale * (S if conditional else 1.0)
    # p(sigma^2) = 1 / sigma^2 is 1 / sigma in sigma
    log = -20 * np.log(S) - rss / (2 * S**2) - np.abs(W) / b - np.log(b) - np.log(S)
    p = np.exp(log - log.max())
    p /= p.sum()
    draws = found.noise
    error = draws.std() / math.sqrt(priors.effective_sample_size(draws))
    assert abs(draws.mean() - np.sum(p * S)) < 4.5 * error
    assert abs(found.mean[0] - np.sum(p * W)) < 4.5 * found.mcse[0]


def test_weights_are_repetitions_for_draws(rng, data):
    X, y = data
    s = rng.integers(0, 3, len(y))
    options = {"prior": tk.Laplace(0, scale=1.0), "draws": 60, "warmup": 20}
    one = _quiet(X, y, sample_weight=s.astype(float), **options)
    other = _quiet(X.repeat(s, axis=0), y.repeat(s), **options)
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-6, atol=1e-8)


def _quiet(*args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tk.FitWarning)
        return priors.bayesian_lasso(*args, **options)


def test_predictive_intervals_of_draws_cover(rng):
    covered = 0
    for seed in range(15):
        truth = tk.datasets.linear(130, 3, seed=seed)
        found = _quiet(
            truth.X[:30], truth.y[:30], tk.Laplace(0, scale=1.0), draws=200, warmup=100, seed=seed
        )
        low, high = found.predictive(truth.X[30:], 0.8).T
        covered += np.mean((low <= truth.y[30:]) & (truth.y[30:] <= high))
    assert 0.75 < covered / 15 < 0.88


def test_chains_that_disagree_are_told_from_chains_that_mix(rng):
    mixed = rng.standard_normal((4, 500, 2))
    apart = mixed + np.arange(4)[:, None, None] * [0.0, 1.0]
    drifting = mixed + np.linspace(0, 3, 500)[:, None]
    assert priors.split_rhat(mixed).max() < 1.01
    assert priors.split_rhat(apart)[0] < 1.01 < 1.3 < priors.split_rhat(apart)[1]
    assert priors.split_rhat(drifting).min() > 1.15
    x = rng.standard_normal((8, 1))
    with pytest.warns(tk.FitWarning, match=r"split R-hat is .*, wanted 1.01. Raise `draws`"):
        priors.bayesian_lasso(x, 5 * x[:, 0], tk.Laplace(0, scale=9.0), draws=4, warmup=0)


@pytest.mark.parametrize("phi", [0.0, 0.6, 0.9])
def test_the_effective_size_of_an_autoregression_is_known(rng, phi):
    """The sum of autocorrelations phi^k gives N (1 - phi) / (1 + phi)."""
    e = rng.standard_normal((4, 8000))
    x = np.empty_like(e)
    x[:, 0] = e[:, 0] / math.sqrt(1 - phi**2)
    for t in range(1, 8000):
        x[:, t] = phi * x[:, t - 1] + e[:, t]
    expected = 32_000 * (1 - phi) / (1 + phi)
    assert float(priors.effective_sample_size(x)) == pytest.approx(expected, rel=0.15)


def test_two_coefficients_on_a_grid_peak_where_the_solvers_say(rng):
    X = rng.standard_normal((20, 2))
    y = X @ [1.0, -0.2] + 0.5 * rng.standard_normal(20)
    for prior in (tk.Normal(0, sd=0.3), tk.Laplace(0, scale=0.1)):
        found = priors.two_coefficients(X, y, prior, 0.5)
        step = found.first[1] - found.first[0]
        for density, point in (
            (found.log_posterior, found.mode),
            (found.log_likelihood, found.free),
        ):
            j, i = np.unravel_index(density.argmax(), density.shape)
            top = np.array([found.first[i], found.second[j]])
            assert np.abs(top - point).max() <= 2 * step
    with pytest.raises(tk.UnsupportedError, match="`X` has 3 columns"):
        priors.two_coefficients(rng.standard_normal((5, 3)), np.ones(5), prior, 1.0)


def test_the_picture_of_two_coefficients_is_drawn_on_light_and_dark(rng):
    X = rng.standard_normal((20, 2))
    y = X @ [1.0, 0.5] + rng.standard_normal(20)
    for dark in (False, True):
        ax = priors.plot_two(X, y, tk.Laplace(0, scale=0.2), 1.0, dark=dark)
        words = {text.get_text() for text in ax.texts}
        assert {"prior", "likelihood", "posterior", "least squares", "mode: lasso"} <= words
        plt.close(ax.figure)


def test_what_has_no_posterior_is_refused(rng, data):
    X, y = data
    two = np.column_stack([y, y])
    with pytest.raises(tk.UnsupportedError, match="one target"):
        priors.ridge_posterior(X, two)
    with pytest.raises(tk.UnsupportedError, match="one target"):
        priors.bayesian_lasso(X, two, tk.Laplace())
    with pytest.raises(tk.UnsupportedError, match="a constant target"):
        priors.ridge_posterior(X, np.ones(len(y)))
    with pytest.raises(ValueError, match="`chains` must be >= 2"):
        priors.bayesian_lasso(X, y, tk.Laplace(), chains=1)
    with pytest.raises(ValueError, match="`chains` must be"):
        priors.split_rhat(np.zeros((2, 3)))
