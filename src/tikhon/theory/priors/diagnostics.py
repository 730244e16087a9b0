"""Whether chains have forgotten where they began: split R-hat and effective sample size."""

from __future__ import annotations

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["effective_sample_size", "split_rhat"]


def split_rhat(chains: Float64Array) -> Float64Array:
    """Return the potential scale reduction of each quantity, chains cut in halves.

    ``sqrt((W (N - 1) / N + B / N) / W)``: W the mean variance within half chains of length N, B/N
    the variance of their means. 1 where all halves agree; above 1.01 draw more.

    Parameters
    ----------
    chains : ndarray of shape (chains, draws, ...)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> float(split_rhat(rng.standard_normal((4, 1000))).round(2))
    1.0
    >>> float(split_rhat(rng.standard_normal((4, 1000)) + np.arange(4)[:, None]).round(1))
    1.5
    """
    halves = _halves(chains)
    n = halves.shape[1]
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((n - 1) / n + between / within)
    return np.asarray(np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0)))


def effective_sample_size(chains: Float64Array) -> Float64Array:
    """Return how many independent draws would know the mean as well, for each quantity.

    Autocorrelations over all half chains, summed in pairs while the pairs are positive and do not
    grow (Geyer's initial monotone sequence).

    Parameters
    ----------
    chains : ndarray of shape (chains, draws, ...)

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> 3000 < float(effective_sample_size(rng.standard_normal((4, 1000)))) < 5000
    True
    """
    halves = _halves(chains)
    k, n = halves.shape[:2]
    flat = halves.reshape(k, n, -1)
    centred = flat - flat.mean(axis=1, keepdims=True)
    size = 1 << (2 * n - 1).bit_length()
    spectrum = np.fft.rfft(centred, size, axis=1)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, size, axis=1)[:, :n].mean(axis=0) / n
    within = covariance[0] * n / (n - 1)
    pooled = within * (n - 1) / n + flat.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = 1.0 - (within - covariance * n / (n - 1)) / pooled
    rho[0] = 1.0
    pairs = rho[: n // 2 * 2].reshape(n // 2, 2, -1).sum(axis=1)
    alive = np.cumprod(pairs > 0, axis=0).astype(bool)
    falling = np.minimum.accumulate(np.where(alive, pairs, 0.0), axis=0)
    time = np.maximum(2.0 * falling.sum(axis=0) - 1.0, 1.0 / np.log10(k * n))
    found = np.where(pooled > 0, k * n / time, float(k * n))
    return np.asarray(found.reshape(halves.shape[2:]))


def _halves(chains: Float64Array) -> Float64Array:
    """Chains cut in two, the middle draw of an odd number left out."""
    draws = np.asarray(chains, dtype=np.float64)
    if draws.ndim < 2 or draws.shape[1] < 4:
        raise ValueError(f"`chains` must be (chains, draws >= 4, ...), got shape {draws.shape}.")
    n = draws.shape[1] // 2
    return np.concatenate([draws[:, :n], draws[:, -n:]])
