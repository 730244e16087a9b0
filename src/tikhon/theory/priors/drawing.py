"""Prior, likelihood and posterior of two coefficients, on a grid: ridge and lasso in a picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_data
from tikhon.errors import UnsupportedError
from tikhon.losses.squared import Squared
from tikhon.penalties.lasso import L1
from tikhon.penalties.ridge import L2
from tikhon.problem.problem import Problem
from tikhon.solvers.solve import solve
from tikhon.theory.priors.families import Laplace, Normal
from tikhon.typing import Float64Array

__all__ = ["TwoCoefficients", "plot_two", "two_coefficients"]


@dataclass(frozen=True, slots=True, eq=False)
class TwoCoefficients:
    """Log densities of two coefficients on a grid, each less its greatest value.

    Attributes
    ----------
    first, second : ndarray of shape (size,)
        Values of the coefficients.
    log_prior, log_likelihood, log_posterior : ndarray of shape (size, size)
        First coefficient along the columns.
    mode : ndarray of shape (2,)
        Of the posterior: the ridge or lasso solution.
    free : ndarray of shape (2,)
        Of the likelihood: least squares.
    prior : Normal or Laplace
    lam : float
    names : tuple of str
    """

    first: Float64Array
    second: Float64Array
    log_prior: Float64Array
    log_likelihood: Float64Array
    log_posterior: Float64Array
    mode: Float64Array
    free: Float64Array
    prior: Normal | Laplace
    lam: float
    names: tuple[str, str]

    def plot(self, ax: Any = None, *, dark: bool = False) -> Any:
        """Draw the three densities; return the matplotlib axes."""
        from tikhon.report.theory_plots import plot_two_coefficients

        return plot_two_coefficients(self, ax, dark=dark)


def two_coefficients(
    X: Any,
    y: Any,
    prior: Normal | Laplace,
    noise: float,
    *,
    intercept: bool = True,
    size: int = 241,
) -> TwoCoefficients:
    """Evaluate prior, likelihood and posterior of a model with two columns.

    Parameters
    ----------
    X : array or DataFrame of shape (n, 2)
    y : array of shape (n,)
    prior : Normal or Laplace
    noise : float
        sigma.
    intercept : bool, default True
        A flat prior of the intercept, integrated out.
    size : int, default 241
        Points along each axis.

    Examples
    --------
    >>> import tikhon as tk
    >>> data = tk.datasets.linear(30, 2, seed=2)
    >>> found = two_coefficients(data.X, data.y, tk.Laplace(scale=0.2), noise=data.noise)
    >>> found.log_prior.shape, float(found.log_posterior.max())
    ((241, 241), 0.0)
    """
    data = as_data(X, y)
    if data.design.shape[1] != 2 or not data.one_target:
        raise UnsupportedError(
            f"two coefficients are drawn, and `X` has {data.design.shape[1]} columns; take two."
        )
    n = len(data.y)
    lam = prior.lam(noise, n)
    penalty = L2() if isinstance(prior, Normal) else L1()
    mode = solve(Problem(Squared(), penalty, lam, intercept), X, y, tol=1e-12).coef
    free = solve(Problem(Squared(), L2(), 0.0, intercept), X, y).coef
    mean = data.design.stats().mean if intercept else np.zeros(2)
    A = np.concatenate([block.rows.copy() for block in data.design.blocks(mean)])
    first, second = _window(free, noise * np.sqrt(np.diagonal(np.linalg.pinv(A.T @ A))), size)
    W = np.stack(np.meshgrid(first, second), axis=-1)
    r = data.y[:, 0] - (data.y.mean() if intercept else 0.0) - A @ free
    distance = W - free
    likelihood = -np.einsum("...i,ij,...j->...", distance, A.T @ A, distance) / (2.0 * noise**2)
    likelihood -= np.einsum("...i,i->...", distance, -(A.T @ r)) / noise**2
    if isinstance(prior, Normal):
        log_prior = -np.sum(W**2, axis=-1) / (2.0 * prior.sd**2)
    else:
        log_prior = -np.sum(np.abs(W), axis=-1) / prior.scale
    posterior = likelihood + log_prior
    names = data.feature_names or ("first coefficient", "second coefficient")
    return TwoCoefficients(
        first,
        second,
        log_prior - log_prior.max(),
        likelihood - likelihood.max(),
        posterior - posterior.max(),
        np.asarray(mode),
        np.asarray(free),
        prior,
        lam,
        (names[0], names[1]),
    )


def _window(
    free: Float64Array, error: Float64Array, size: int
) -> tuple[Float64Array, Float64Array]:
    """Two axes of one length that show the origin and the likelihood."""
    low, high = np.minimum(0.0, free - 3.3 * error), np.maximum(0.0, free + 3.3 * error)
    middle, half = (low + high) / 2.0, 0.56 * max(float((high - low).max()), 1e-12)
    first, second = (np.linspace(m - half, m + half, size) for m in middle)
    return first, second


def plot_two(
    X: Any,
    y: Any,
    prior: Normal | Laplace,
    noise: float,
    ax: Any = None,
    *,
    intercept: bool = True,
    dark: bool = False,
) -> Any:
    """Draw prior, likelihood and posterior of two coefficients; return the matplotlib axes.

    Parameters
    ----------
    X, y, prior, noise, intercept
        As for `two_coefficients`.
    ax : matplotlib axes, optional
    dark : bool, default False
    """
    return two_coefficients(X, y, prior, noise, intercept=intercept).plot(ax, dark=dark)
