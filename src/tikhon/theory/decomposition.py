"""The error of a prediction in three parts: noise, squared bias and variance.

    E (y - f_S(x))^2  =  noise  +  (f(x) - E f_S(x))^2  +  E (f_S(x) - E f_S(x))^2

over samples S and new rows x. With a simulator all three are estimated at every strength, with
standard errors, and the left side is measured by itself on fresh targets: they add up. For real
data neither f nor the noise is known; the bootstrap estimates the variance alone.

A path serves all strengths of a sample. With a fixed design the samples differ in their targets
only, and one path with many targets serves them all.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.datasets import Simulation
from tikhon.losses.squared import Squared
from tikhon.paths.solve_path import path
from tikhon.penalties.base import Penalty
from tikhon.penalties.ridge import L2
from tikhon.results import frame
from tikhon.theory.refit import table_of
from tikhon.theory.simulator import Simulator, as_simulator
from tikhon.typing import ArrayLike, Float64Array

__all__ = ["BiasVariance", "BootstrapVariance", "bias_variance", "bootstrap_variance"]


@dataclass(frozen=True, slots=True, eq=False)
class BiasVariance:
    """Noise, squared bias and variance along a path, or over models.

    Attributes
    ----------
    along : ndarray of shape (L,)
        Strengths, or what models are numbered by.
    label : str
        What `along` is.
    noise : float
        Variance of the targets about their regression function.
    bias2, variance, error : ndarray of shape (L,)
        `error` is measured by itself, on fresh targets.
    bias2_se, variance_se, error_se : ndarray of shape (L,)
        Their standard errors over samples.
    balance_se : ndarray of shape (L,)
        That of ``error - total``.
    samples : int
    """

    along: Float64Array
    label: str
    noise: float
    bias2: Float64Array
    variance: Float64Array
    error: Float64Array
    bias2_se: Float64Array
    variance_se: Float64Array
    error_se: Float64Array
    balance_se: Float64Array
    samples: int

    @property
    def total(self) -> Float64Array:
        """Noise + squared bias + variance, (L,)."""
        return self.noise + self.bias2 + self.variance

    @property
    def best(self) -> int:
        """The position of the least total."""
        return int(np.argmin(self.total))

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per strength or model."""
        columns = {
            self.label: self.along,
            "noise": np.full(len(self.along), self.noise),
            "bias2": self.bias2,
            "bias2_se": self.bias2_se,
            "variance": self.variance,
            "variance_se": self.variance_se,
            "total": self.total,
            "error": self.error,
            "error_se": self.error_se,
        }
        return frame(columns, backend)

    def plot(self, ax: Any = None, *, dark: bool = False) -> Any:
        """Draw the classic picture; return the matplotlib axes."""
        from tikhon.report.theory_plots import plot_bias_variance

        return plot_bias_variance(self, ax, dark=dark)


def bias_variance(
    simulator: Simulator | Simulation,
    n: int,
    lams: ArrayLike | None = None,
    *,
    penalty: Penalty | None = None,
    models: Mapping[float, Any] | None = None,
    fixed: bool = False,
    samples: int = 200,
    test: int = 400,
    intercept: bool = True,
    seed: int = 0,
) -> BiasVariance:
    """Decompose the squared error of least squares with a penalty, or of any models.

    Parameters
    ----------
    simulator : Simulator or Simulation
        Simulated data of `tk.datasets` stand for the distribution of their rows.
    n : int
        Rows of a sample.
    lams : array of shape (L,), optional
        Strengths of a path; nothing is standardised.
    penalty : Penalty, optional
        L2 by default.
    models : mapping of number to estimator, optional
        In place of `lams`: anything with `fit` and `predict`, such as pipelines of polynomials
        under their degrees.
    fixed : bool, default False
        Keep the rows of the sample, and draw their targets anew.
    samples : int, default 200
    test : int, default 400
        New rows at which predictions are compared.
    intercept : bool, default True
    seed : int, default 0

    Returns
    -------
    BiasVariance

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> data = tk.datasets.linear(500, 10, seed=1)
    >>> parts = bias_variance(data, 30, np.geomspace(10, 1e-3, 9), samples=50)
    >>> bool((np.diff(parts.bias2) < 0).all() and (np.diff(parts.variance) > 0).all())
    True
    """
    if (lams is None) == (models is None):
        raise ValueError("give `lams` or `models`, one of the two.")
    for name, value, least in (("n", n, 2), ("samples", samples, 3), ("test", test, 1)):
        if not value >= least:
            raise ValueError(f"`{name}` must be >= {least}, got {value}.")
    source = as_simulator(simulator)
    rng = np.random.default_rng(seed)
    new = table_of(source.rows(rng, test))
    truth = np.asarray(source.truth(new), dtype=np.float64)
    if models is not None:
        along = np.array([float(key) for key in models])
        predictions = _of_models(source, n, list(models.values()), new, samples, rng, fixed=fixed)
    else:
        along = np.unique(np.atleast_1d(np.asarray(lams, dtype=np.float64)))[::-1].copy()
        how = _How(penalty if penalty is not None else L2(), along, intercept)
        predictions = _of_path(source, n, how, new, samples, rng, fixed=fixed)
    fresh = truth + source.noise * rng.standard_normal((samples, test))
    label = "lam" if models is None else "model"
    return _parts(along, label, predictions, truth, fresh, source.noise**2)


@dataclass(frozen=True, slots=True, eq=False)
class _How:
    """How a path is solved."""

    penalty: Penalty
    lams: Float64Array
    intercept: bool

    def predictions(self, X: Any, y: Float64Array, new: Any, s: Any = None) -> Float64Array:
        """Predictions for new rows, (targets, L, test)."""
        found = path(
            Squared(),
            self.penalty,
            X,
            y,
            lams=self.lams,
            sample_weight=s,
            intercept=self.intercept,
        )
        length, d = found.coefs.shape[:2]
        coefs = found.coefs.reshape(length, d, -1)
        flat = np.ascontiguousarray(coefs.transpose(1, 0, 2)).reshape(d, -1)
        z = as_design(new).predict(flat).reshape(new.shape[0], length, -1)
        return np.asarray((z + found.intercepts.reshape(length, -1)).transpose(2, 1, 0))


def _of_path(
    source: Simulator,
    n: int,
    how: _How,
    new: Any,
    samples: int,
    rng: np.random.Generator,
    *,
    fixed: bool,
) -> Float64Array:
    """Predictions of each sample's path, (samples, L, test)."""
    if not fixed:
        drawn = (source.draw(rng, n) for _ in range(samples))
        return np.concatenate([how.predictions(X, y, new) for X, y in drawn])
    X = source.rows(rng, n)
    truth = np.asarray(source.truth(X), dtype=np.float64)
    targets = truth[:, None] + source.noise * rng.standard_normal((n, samples))
    return how.predictions(X, targets, new)


def _of_models(
    source: Simulator,
    n: int,
    models: Sequence[Any],
    new: Any,
    samples: int,
    rng: np.random.Generator,
    *,
    fixed: bool,
) -> Float64Array:
    """Predictions of each model fitted to each sample, (samples, L, test)."""
    found = np.empty((samples, len(models), new.shape[0]))
    X, y = source.draw(rng, n)
    for r in range(samples):
        for place, model in enumerate(models):
            found[r, place] = copy.deepcopy(model).fit(X, y).predict(new)
        if fixed:
            y = np.asarray(source.truth(X)) + source.noise * rng.standard_normal(n)
        else:
            X, y = source.draw(rng, n)
    return found


def _parts(
    along: Float64Array,
    label: str,
    f: Float64Array,
    truth: Float64Array,
    fresh: Float64Array,
    noise: float,
) -> BiasVariance:
    """Turn predictions (R, L, test) into parts; each is a mean over samples, so has an error.

    The squared distance of the mean prediction from the truth overstates the squared bias by the
    variance of that mean, ``variance / R``, which is taken off. Its standard error is the
    jackknife's: leaving out sample r moves it by ``-2 (mean - truth) (f_r - mean) / (R - 1)``.
    """
    R = len(f)
    mean = f.mean(axis=0)
    centred = f - mean
    each = np.mean(centred**2, axis=2) * R / (R - 1)
    variance = each.mean(axis=0)
    miss = mean - truth
    bias2 = np.mean(miss**2, axis=1) - variance / R
    pull = 2.0 * np.einsum("lt,rlt->rl", miss, centred) / f.shape[2]
    errors = np.mean((fresh[:, None, :] - f) ** 2, axis=2)
    root = math.sqrt(R)
    return BiasVariance(
        along=along,
        label=label,
        noise=noise,
        bias2=bias2,
        variance=variance,
        error=errors.mean(axis=0),
        bias2_se=pull.std(axis=0, ddof=1) / root,
        variance_se=each.std(axis=0, ddof=1) / root,
        error_se=errors.std(axis=0, ddof=1) / root,
        balance_se=(errors - each - pull).std(axis=0, ddof=1) / root,
        samples=R,
    )


@dataclass(frozen=True, slots=True, eq=False)
class BootstrapVariance:
    """Variance of the predictions along a path, by the bootstrap.

    Attributes
    ----------
    lams : ndarray of shape (L,)
    variance, variance_se : ndarray of shape (L,)
        Mean over the rows, and its standard error over the draws.
    error, error_se : ndarray of shape (L,)
        Mean squared error on the rows that a draw left out: noise, bias and variance together.
    draws : int
    """

    lams: Float64Array
    variance: Float64Array
    variance_se: Float64Array
    error: Float64Array
    error_se: Float64Array
    draws: int

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per strength."""
        columns = {
            "lam": self.lams,
            "variance": self.variance,
            "variance_se": self.variance_se,
            "error": self.error,
            "error_se": self.error_se,
        }
        return frame(columns, backend)

    def plot(self, ax: Any = None, *, dark: bool = False) -> Any:
        """Draw variance and error against the strength; return the matplotlib axes."""
        from tikhon.report.theory_plots import plot_bootstrap

        return plot_bootstrap(self, ax, dark=dark)


def bootstrap_variance(
    X: Any,
    y: ArrayLike,
    lams: ArrayLike,
    *,
    penalty: Penalty | None = None,
    draws: int = 100,
    intercept: bool = True,
    seed: int = 0,
) -> BootstrapVariance:
    """Estimate the variance of predictions on real data: draw the rows again, fit again.

    Parameters
    ----------
    X : array, sparse array or DataFrame of shape (n, d)
    y : array of shape (n,)
    lams : array of shape (L,)
        Nothing is standardised.
    penalty : Penalty, optional
        L2 by default.
    draws : int, default 100
    intercept : bool, default True
    seed : int, default 0

    Returns
    -------
    BootstrapVariance

    Examples
    --------
    >>> import numpy as np
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> Z = (X - X.mean(axis=0)) / X.std(axis=0)
    >>> found = bootstrap_variance(Z, y, [10.0, 0.01], draws=30)
    >>> bool(found.variance[0] < found.variance[1])
    True
    """
    if not draws >= 3:
        raise ValueError(f"`draws` must be >= 3, got {draws}.")
    table, target = table_of(X), np.asarray(y, dtype=np.float64)
    if target.shape != (table.shape[0],):
        raise ValueError(f"`y` must have shape {(table.shape[0],)}, got {target.shape}.")
    n = len(target)
    along = np.unique(np.atleast_1d(np.asarray(lams, dtype=np.float64)))[::-1].copy()
    how = _How(penalty if penalty is not None else L2(), along, intercept)
    rng = np.random.default_rng(seed)
    f, errors = np.empty((draws, len(along), n)), np.empty((draws, len(along)))
    for r in range(draws):
        count = np.bincount(rng.integers(n, size=n), minlength=n)
        f[r] = how.predictions(table, target, table, count.astype(np.float64))[0]
        out = count == 0
        errors[r] = np.mean((target[out] - f[r][:, out]) ** 2, axis=1)
    each = np.mean((f - f.mean(axis=0)) ** 2, axis=2) * draws / (draws - 1)
    root = math.sqrt(draws)
    return BootstrapVariance(
        along,
        each.mean(axis=0),
        each.std(axis=0, ddof=1) / root,
        errors.mean(axis=0),
        errors.std(axis=0, ddof=1) / root,
        draws,
    )
