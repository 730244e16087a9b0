"""Ridge as a posterior: mean, covariance, intervals; and the evidence for a strength.

    y = X w + b + noise,   noise ~ N(0, sigma^2),   w ~ N(0, tau^2 I),   b flat

    w | y ~ N(w_ridge, C),      C = (sigma^2 / n) (M + lam I)^-1,     lam n = sigma^2 / tau^2

M is the centred second-moment matrix. A new row is normal about its prediction with variance
``sigma^2 (1 + 1/n) + (x - mean)' C (x - mean)``. The evidence integrates w (and b) out:

    -2 log p(y) = N log(2 pi sigma^2) + sum log(1 + e / lam) + (n / sigma^2) misfit,
    misfit = total - sum c^2 / (e + lam),

with the spectrum (e, c, total) of the data, and N = n, less 1 for the intercept. For given lam the
best sigma^2 is ``(n / N) misfit``, which leaves one dimension to search.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, optimize, special

from tikhon.data.coerce import Data, as_data, as_design
from tikhon.data.moments import Cells
from tikhon.errors import UnsupportedError
from tikhon.losses.squared import Squared
from tikhon.penalties.ridge import L2
from tikhon.problem.problem import Problem
from tikhon.results import frame
from tikhon.solvers.choose import plan_ridge
from tikhon.solvers.solve import solve
from tikhon.solvers.spectrum import Spectrum
from tikhon.solvers.training import Training
from tikhon.theory.bounds.bound import positive, probability
from tikhon.theory.priors.families import Normal
from tikhon.typing import Float64Array

__all__ = ["Posterior", "log_evidence", "noise_for", "ridge_posterior", "spectrum_for"]

MOST_COLUMNS = 3000
"""Columns up to which a covariance matrix is made."""

SPAN = 1e12
"""How far the search for the best evidence reaches, above and below the largest eigenvalue."""


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """The posterior of ridge, given the noise.

    Attributes
    ----------
    mean : ndarray of shape (d,)
        The ridge coefficients.
    covariance : ndarray of shape (d, d)
    intercept : float
        Of the prediction, ``x . mean + intercept``.
    noise : float
        sigma.
    prior : Normal
    lam : float
    log_evidence : float
        Of sigma and the prior, for data of which the intercept was integrated out.
    n : float
        Rows: the sum of their weights.
    centre : ndarray of shape (d,) or None
        The means of the columns; None without an intercept.
    """

    mean: Float64Array
    covariance: Float64Array
    intercept: float
    noise: float
    prior: Normal
    lam: float
    log_evidence: float
    n: float
    centre: Float64Array | None

    @property
    def sd(self) -> Float64Array:
        """Posterior standard deviations, (d,)."""
        return np.sqrt(np.diagonal(self.covariance))

    def credible(self, level: float = 0.95) -> Float64Array:
        """Return the central interval of each coefficient, (d, 2)."""
        reach = _quantile(level) * self.sd
        return np.column_stack([self.mean - reach, self.mean + reach])

    def predict(self, X: Any) -> Float64Array:
        """Return the mean of new targets, (n,)."""
        return np.asarray(as_design(X).predict(self.mean) + self.intercept)

    def predictive_sd(self, X: Any) -> Float64Array:
        """Return the standard deviation of new targets, noise included, (n,)."""
        design = as_design(X)
        variance = np.empty(design.shape[0])
        for block in design.blocks(self.centre):
            rows = block.rows
            spread = np.einsum("ij,ij->i", rows @ self.covariance, rows)
            variance[block.start : block.start + len(rows)] = spread
        variance += self.noise**2 * (1.0 if self.centre is None else 1.0 + 1.0 / self.n)
        return np.sqrt(variance)

    def predictive(self, X: Any, level: float = 0.95) -> Float64Array:
        """Return the central interval of each new target, (n, 2)."""
        middle, reach = self.predict(X), _quantile(level) * self.predictive_sd(X)
        return np.column_stack([middle - reach, middle + reach])

    def draw(self, rng: np.random.Generator, size: int) -> Float64Array:
        """Return draws of the coefficients, (size, d)."""
        return rng.multivariate_normal(self.mean, self.covariance, size, method="cholesky")

    def to_frame(self, level: float = 0.95, backend: str | None = None) -> Any:
        """Return mean, standard deviation and interval of each coefficient."""
        low, high = self.credible(level).T
        columns = {"mean": self.mean, "sd": self.sd, "low": low, "high": high}
        return frame({name: np.ascontiguousarray(v) for name, v in columns.items()}, backend)


def ridge_posterior(
    X: Any,
    y: Any,
    prior: Normal | None = None,
    noise: float | None = None,
    *,
    sample_weight: Any = None,
    intercept: bool = True,
) -> Posterior:
    """Return the posterior of ridge; what is not given is found by the greatest evidence.

    Parameters
    ----------
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,)
    prior : Normal, optional
    noise : float, optional
        sigma.
    sample_weight : array of shape (n,), optional
        Weight 2 is the row twice.
    intercept : bool, default True

    Returns
    -------
    Posterior

    Examples
    --------
    >>> import tikhon as tk
    >>> data = tk.datasets.linear(200, 3, seed=1)
    >>> found = ridge_posterior(data.X, data.y)
    >>> low, high = found.credible(0.99).T
    >>> bool(((low < data.coef) & (data.coef < high)).all())
    True
    """
    data = as_data(X, y, sample_weight=sample_weight)
    if not data.one_target:
        raise UnsupportedError("a posterior is for one target; take the targets one by one.")
    if data.design.shape[1] > MOST_COLUMNS:
        raise UnsupportedError(
            f"a covariance of {data.design.shape[1]} columns is too large (at most "
            f"{MOST_COLUMNS}); take fewer columns."
        )
    spectrum = spectrum_for(data, intercept=intercept)
    lam, sigma = _found(spectrum, prior, noise, intercept=intercept)
    solution = solve(
        Problem(Squared(), L2(), lam, intercept), X, y, sample_weight=sample_weight, tol=1e-12
    )
    n = spectrum.weight
    centre = data.design.stats(data.s).mean if intercept else None
    moments = _second_moments(data, centre) + lam * np.eye(data.design.shape[1])
    size = np.sqrt(np.diagonal(moments))
    inverse = linalg.inv(moments / size / size[:, None]) / size / size[:, None]
    return Posterior(
        mean=np.asarray(solution.coef),
        covariance=sigma**2 / n * (inverse + inverse.T) / 2.0,
        intercept=float(solution.intercept),
        noise=sigma,
        prior=Normal.of_strength(lam, sigma, n) if prior is None else prior,
        lam=lam,
        log_evidence=log_evidence(spectrum, lam, sigma, intercept=intercept),
        n=n,
        centre=centre,
    )


def spectrum_for(data: Data, *, intercept: bool, standardize: bool = False) -> Spectrum:
    """Return the spectrum of the data, all directions."""
    training = Training(
        data.design, data.y, data.s, Cells.of(data.labels()), standardize, intercept
    )
    machine = plan_ridge(*data.design.shape).machine(training, lambda top: 1e-10 * top, 1e-8)
    if not machine.spectrum.complete:
        raise UnsupportedError(
            "the evidence needs every direction of the data, and a table of "
            f"{data.design.shape} is too large to decompose; take fewer columns or rows."
        )
    return machine.spectrum.spectrum()


def log_evidence(
    spectrum: Spectrum, lam: float, noise: float | None = None, *, intercept: bool = True
) -> float:
    """Return the logarithm of the evidence of a strength; at the best noise if none is given.

    Parameters
    ----------
    spectrum : Spectrum
        Of one target: ``tk.Ridge(standardize=False).fit(X, y).spectrum_``.
    lam : float
    noise : float, optional
        sigma.
    intercept : bool, default True

    Examples
    --------
    >>> import tikhon as tk
    >>> model = tk.Ridge(lam=0.1, standardize=False).fit(*tk.datasets.diabetes())
    >>> log_evidence(model.spectrum_, 0.1) > log_evidence(model.spectrum_, 1e6)
    True
    """
    positive(lam=lam)
    rows = _rows(spectrum, intercept=intercept)
    left = _misfit(spectrum, lam)
    variance = spectrum.weight * left / rows if noise is None else float(noise) ** 2
    if not variance > 0:
        return math.inf
    volume = float(np.sum(np.log1p(spectrum.e / lam)))
    fit = spectrum.weight * left / variance
    return -0.5 * (rows * math.log(2.0 * math.pi * variance) + volume + fit)


def noise_for(spectrum: Spectrum, prior: Normal, *, intercept: bool = True) -> float:
    """Return the noise of the greatest evidence under a prior."""
    return _found(spectrum, prior, None, intercept=intercept)[1]


def _found(
    spectrum: Spectrum, prior: Normal | None, noise: float | None, *, intercept: bool
) -> tuple[float, float]:
    """Strength and noise, what is missing by the greatest evidence."""
    n = spectrum.weight
    if noise is not None:
        positive(noise=noise)
    if prior is not None and noise is not None:
        return prior.lam(noise, n), noise
    rows = _rows(spectrum, intercept=intercept)
    if not float(spectrum.total[0]) > 0:
        raise UnsupportedError("a constant target has no noise to estimate: give `noise`.")
    top = max(spectrum.top, 1e-300)
    if prior is not None:
        scale = math.sqrt(float(spectrum.total[0]))

        def cost(t: float) -> float:
            sigma = scale * math.exp(t)
            return -log_evidence(spectrum, prior.lam(sigma, n), sigma, intercept=intercept)

        sigma = scale * math.exp(_least(cost, -14.0, 7.0))
        return prior.lam(sigma, n), sigma
    half = math.log(SPAN)
    lam = top * math.exp(
        _least(
            lambda t: -log_evidence(spectrum, top * math.exp(t), noise, intercept=intercept),
            -half,
            half / 2.0,
        )
    )
    sigma = math.sqrt(n * _misfit(spectrum, lam) / rows) if noise is None else noise
    return lam, sigma


def _least(cost: Any, low: float, high: float) -> float:
    """The least point of a function of one number: a grid, then a search about its best point."""
    grid = np.linspace(low, high, 80)
    values = np.array([cost(float(t)) for t in grid])
    best = int(np.argmin(values))
    left, right = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = optimize.minimize_scalar(
        cost, bounds=(left, right), method="bounded", options={"xatol": 1e-10}
    )
    return float(found.x) if found.fun <= values[best] else float(grid[best])


def _rows(spectrum: Spectrum, *, intercept: bool) -> float:
    if len(spectrum.total) != 1:
        raise UnsupportedError("the evidence is for one target; take the targets one by one.")
    if not spectrum.complete:
        raise UnsupportedError(
            "the evidence needs every direction of the data; use another solver."
        )
    return spectrum.weight - float(intercept)


def _misfit(spectrum: Spectrum, lam: float) -> float:
    """``total - sum c^2 / (e + lam)``: twice the least value of the ridge objective."""
    shrunk = spectrum.shrunk(lam)[:, 0]
    return max(float(spectrum.total[0] - spectrum.c[:, 0] @ shrunk), 0.0)


def _second_moments(data: Data, centre: Float64Array | None) -> Float64Array:
    d = data.design.shape[1]
    total = np.zeros((d, d))
    for block in data.design.blocks(centre):
        rows = block.rows
        if data.s is None:
            total += rows.T @ rows
        else:
            total += (rows.T * data.s[block.start : block.start + len(rows)]) @ rows
    return total / (len(data.y) if data.s is None else data.s.sum())


def _quantile(level: float) -> float:
    probability(1.0 - level)
    return float(special.ndtri(0.5 + level / 2.0))
