"""The Bayesian lasso by Gibbs sampling, after Park and Casella.

A Laplace prior is a normal one whose variance is exponential, so full conditionals are standard:

    w | ...        normal,  A^-1 X'y / sigma^2 and A^-1,   A = X'X / sigma^2 + diag(1 / v)
    1 / v_j | ...  inverse Gaussian, mean 1 / (b |w_j|), shape 1 / b^2
    sigma^2 | ...  inverse gamma,   N / 2 and RSS / 2,  under p(sigma^2) = 1 / sigma^2

The intercept has a flat prior and is integrated out by centring: N = n - 1 then. With
`conditional=True` the scale is in units of sigma, as Park and Casella have it, which makes the
posterior unimodal whatever the data. The lasso is the mode of the joint density, which the sampler
does not pass through: intervals come from draws, never from the mode.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_data, as_design
from tikhon.errors import FitWarning, UnsupportedError, warn_user
from tikhon.results import frame
from tikhon.theory.bounds.bound import positive, probability
from tikhon.theory.priors.diagnostics import effective_sample_size, split_rhat
from tikhon.theory.priors.families import Laplace
from tikhon.typing import Float64Array

__all__ = ["Draws", "bayesian_lasso"]

AGREEMENT = 1.01
"""Largest split R-hat of chains that agree."""

TINY = 1e-150


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Draws from the posterior of the Bayesian lasso.

    Attributes
    ----------
    coef : ndarray of shape (chains, draws, d)
    intercept : ndarray of shape (chains, draws)
    noise : ndarray of shape (chains, draws)
        sigma.
    prior : Laplace
    conditional : bool
    """

    coef: Float64Array
    intercept: Float64Array
    noise: Float64Array
    prior: Laplace
    conditional: bool

    @property
    def mean(self) -> Float64Array:
        """Posterior means, (d,)."""
        return np.asarray(self.coef.mean(axis=(0, 1)))

    @property
    def sd(self) -> Float64Array:
        """Posterior standard deviations, (d,)."""
        return np.asarray(self.coef.std(axis=(0, 1), ddof=1))

    @property
    def rhat(self) -> Float64Array:
        """Split R-hat of each coefficient, (d,)."""
        return split_rhat(self.coef)

    @property
    def ess(self) -> Float64Array:
        """Effective number of draws of each coefficient, (d,)."""
        return effective_sample_size(self.coef)

    @property
    def mcse(self) -> Float64Array:
        """Monte-Carlo standard error of each mean, (d,)."""
        return np.asarray(self.sd / np.sqrt(self.ess))

    @property
    def converged(self) -> bool:
        """Whether every split R-hat is at most 1.01."""
        return bool(self.rhat.max() <= AGREEMENT)

    def credible(self, level: float = 0.95) -> Float64Array:
        """Return the central interval of each coefficient, (d, 2)."""
        probability(1.0 - level)
        flat = self.coef.reshape(-1, self.coef.shape[2])
        return np.quantile(flat, [0.5 - level / 2, 0.5 + level / 2], axis=0).T

    def predict(self, X: Any) -> Float64Array:
        """Return the mean of new targets, (n,)."""
        return np.asarray(as_design(X).predict(self.mean) + self.intercept.mean())

    def predictive(self, X: Any, level: float = 0.95, seed: int = 0) -> Float64Array:
        """Return the central interval of each new target, noise included, (n, 2)."""
        probability(1.0 - level)
        flat = self.coef.reshape(-1, self.coef.shape[2])
        z = np.asarray(as_design(X).predict(np.ascontiguousarray(flat.T))) + self.intercept.ravel()
        z += np.random.default_rng(seed).standard_normal(z.shape) * self.noise.ravel()
        return np.quantile(z, [0.5 - level / 2, 0.5 + level / 2], axis=1).T

    def to_frame(self, level: float = 0.95, backend: str | None = None) -> Any:
        """Return one row per coefficient: mean, sd, interval, R-hat, effective draws."""
        low, high = self.credible(level).T
        columns = {
            "mean": self.mean,
            "sd": self.sd,
            "low": low,
            "high": high,
            "rhat": self.rhat,
            "ess": self.ess,
        }
        return frame({name: np.ascontiguousarray(v) for name, v in columns.items()}, backend)


def bayesian_lasso(
    X: Any,
    y: Any,
    prior: Laplace,
    noise: float | None = None,
    *,
    conditional: bool = False,
    intercept: bool = True,
    sample_weight: Any = None,
    chains: int = 4,
    draws: int = 1000,
    warmup: int = 500,
    seed: int = 0,
) -> Draws:
    """Draw from the posterior under Laplace priors.

    Parameters
    ----------
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,)
    prior : Laplace
    noise : float, optional
        sigma; drawn as well if it is not given, under ``p(sigma^2) = 1 / sigma^2``.
    conditional : bool, default False
        Take ``prior.scale`` in units of sigma.
    intercept : bool, default True
    sample_weight : array of shape (n,), optional
        Weight 2 is the row twice.
    chains, draws, warmup : int
        Chains from spread starts, draws kept of each, draws before them.
    seed : int, default 0

    Returns
    -------
    Draws
        With a warning if the chains do not agree.

    Examples
    --------
    >>> import tikhon as tk
    >>> data = tk.datasets.linear(100, 3, nonzero=1, seed=3)
    >>> found = bayesian_lasso(data.X, data.y, Laplace(scale=1.0), draws=500)
    >>> found.coef.shape, found.converged
    ((4, 500, 3), True)
    """
    data = as_data(X, y, sample_weight=sample_weight)
    if not data.one_target:
        raise UnsupportedError("the Bayesian lasso is for one target; take them one by one.")
    for name, value, least in (("chains", chains, 2), ("draws", draws, 4), ("warmup", warmup, 0)):
        if not value >= least:
            raise ValueError(f"`{name}` must be >= {least}, got {value}.")
    if noise is not None:
        positive(noise=noise)
    n, d = data.design.shape
    s = np.ones(n) if data.s is None else data.s
    centre = data.design.stats(data.s).mean if intercept else np.zeros(d)
    target = data.y[:, 0] - (s @ data.y[:, 0] / s.sum() if intercept else 0.0)
    moments, xy = np.zeros((d, d)), np.zeros(d)
    for block in data.design.blocks(centre):
        at = slice(block.start, block.start + len(block.rows))
        weighted = block.rows.T * s[at]
        moments += weighted @ block.rows
        xy += weighted @ target[at]
    rows = float(s.sum()) - float(intercept)
    sums = _Sums(moments, xy, float(s @ target**2), rows)
    size = (chains, draws, warmup)
    rng = np.random.default_rng(seed)
    coef, sigma = _chains(sums, prior.scale, noise, conditional, size, rng)
    offset = np.zeros(sigma.shape)
    if intercept:
        mean = float(s @ data.y[:, 0] / s.sum())
        flat = rng.standard_normal(sigma.shape)
        offset = mean - coef @ centre + flat * sigma / math.sqrt(float(s.sum()))
    found = Draws(coef, offset, sigma, prior, conditional)
    if not found.converged:
        warn_user(
            f"chains disagree: the largest split R-hat is {found.rhat.max():.3f}, wanted "
            f"{AGREEMENT}. Raise `draws`, now {draws}.",
            FitWarning,
        )
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Sums:
    """What the sampler needs of the data: ``X'X``, ``X'y``, ``y'y`` and the rows that count."""

    xx: Float64Array
    xy: Float64Array
    yy: float
    rows: float


def _chains(
    sums: _Sums,
    scale: float,
    noise: float | None,
    conditional: bool,
    size: tuple[int, int, int],
    rng: np.random.Generator,
) -> tuple[Float64Array, Float64Array]:
    """All chains side by side: coefficients (chains, draws, d) and sigma (chains, draws)."""
    chains, draws, warmup = size
    d = len(sums.xy)
    spread = math.sqrt(sums.yy / max(sums.rows, 1.0)) or 1.0
    sigma = np.full(chains, noise) if noise else spread * np.exp(rng.normal(0.0, 0.5, chains))
    inverse = 1.0 / (2.0 * scale**2 * rng.exponential(size=(chains, d)) + TINY)
    coefs, sigmas = np.empty((chains, draws, d)), np.empty((chains, draws))
    diagonal = np.arange(d)
    for t in range(-warmup, draws):
        # X'X + R has the covariance's inverse up to sigma^2; with a fixed scale R grows with it.
        A = np.repeat(sums.xx[None], chains, axis=0)
        A[:, diagonal, diagonal] += inverse if conditional else inverse * sigma[:, None] ** 2
        root = np.linalg.cholesky(A).transpose(0, 2, 1)
        noisy = rng.standard_normal((chains, d, 1)) * sigma[:, None, None]
        w = np.linalg.solve(A, sums.xy[None, :, None]) + np.linalg.solve(root, noisy)
        w = w[:, :, 0]
        if noise is None:
            rss = sums.yy - 2.0 * w @ sums.xy + np.einsum("ci,ij,cj->c", w, sums.xx, w)
            shape = sums.rows / 2.0
            if conditional:
                rss, shape = rss + np.einsum("ci,ci->c", w**2, inverse), shape + d / 2.0
            sigma = np.sqrt(np.maximum(rss, TINY) / 2.0 / rng.gamma(shape, size=chains))
        reach = np.maximum(np.abs(w), TINY) / (sigma[:, None] if conditional else 1.0)
        inverse = np.maximum(rng.wald(1.0 / (scale * reach), 1.0 / scale**2), TINY)
        if t >= 0:
            coefs[:, t], sigmas[:, t] = w, sigma
    return coefs, sigmas
