"""Information criteria: training loss and degrees of freedom in place of held-out rows.

With k parameters (k = degrees of freedom plus 1 for an intercept, for each target) and n rows

    aic    minus twice the log-likelihood  +  2 k
    bic    the same                        +  log(n) k
    ebic   bic                             +  2 gamma log binom(d, df)

For the squared loss the noise is taken as normal with one unknown variance: minus twice the
log-likelihood is ``n log(RSS / n)``, up to a constant. For the logistic, multinomial and Poisson
losses it is ``2 n`` times the mean loss. Several targets count as n rows each in the first term.

**Where a fit interpolates, the first kind breaks down**: log(RSS) falls without bound as the
parameters approach the rows in number. A column of pure noise lowers ``n log(RSS)`` by
``n / (n - k)`` on average and costs ``c`` (2, or log n), so beyond ``k = n (1 - 1 / c)`` noise
would be rewarded. Such strengths are not eligible, nor are those whose RSS is rounding. For the
second kind, not eligible is k > n.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from tikhon.errors import UnsupportedError
from tikhon.selection.evidence import Evidence, strongest_of_the_best
from tikhon.typing import BoolArray, Float64Array

__all__ = ["AIC", "BIC", "EBIC"]

ROUNDING = 1e-12
"""A training loss below this part of the path's largest is rounding."""


@dataclass(frozen=True)
class AIC:
    """Akaike's criterion: the strength that is likely to predict best.

    ``n log(RSS / n) + 2 k``, or ``2 n (mean loss) + 2 k``.

    Not eligible, with the squared loss: strengths that use more than half of the rows as
    parameters, or fit them to rounding.

    Examples
    --------
    >>> import tikhon as tk
    >>> study = tk.Ridge().fit(*tk.datasets.diabetes()).study_
    >>> study.lam("aic") == study.lam(tk.rules.AIC())
    True
    """

    def values(self, evidence: Evidence) -> Float64Array:
        """Return the criterion of each strength, ``inf`` where it is not eligible."""
        return _criterion("aic", evidence, 2.0)

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the smallest value; of the strongest strength, among equals."""
        return strongest_of_the_best(self.values(evidence))


@dataclass(frozen=True)
class BIC:
    """Schwarz's criterion: for large n, the true support if it is among the candidates.

    ``n log(RSS / n) + log(n) k``, or ``2 n (mean loss) + log(n) k``; n is the sum of the sample
    weights, where there are any.

    Not eligible, with the squared loss: strengths with more than ``n (1 - 1 / log n)`` parameters,
    or whose fit is exact to rounding.

    Examples
    --------
    >>> import tikhon as tk
    >>> study = tk.Ridge().fit(*tk.datasets.diabetes()).study_
    >>> study.lam("bic") > study.lam("aic")
    True
    """

    def values(self, evidence: Evidence) -> Float64Array:
        """Return the criterion of each strength, ``inf`` where it is not eligible."""
        return _criterion("bic", evidence, float(np.log(evidence.sample.weight)))

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the smallest value; of the strongest strength, among equals."""
        return strongest_of_the_best(self.values(evidence))


@dataclass(frozen=True)
class EBIC:
    """The extended BIC: for supports chosen among very many columns.

    ``BIC + 2 gamma log binom(d, df)``: among d columns there are ``binom(d, df)`` supports of one
    size, and the more there are, the better the best of them looks by chance. Degrees of freedom
    need not be whole: ``log binom`` is that of the gamma function. Eligible is what is for `BIC`.

    Parameters
    ----------
    gamma : float, default 0.5
        0 is BIC; 1 suits d that grows with n as any power of it.

    Examples
    --------
    >>> import tikhon as tk
    >>> study = tk.Ridge().fit(*tk.datasets.diabetes()).study_
    >>> study.lam(tk.rules.EBIC(gamma=0.0)) == study.lam("bic")
    True
    """

    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < np.inf:
            raise ValueError(f"`gamma` must be >= 0 and finite, got {self.gamma}.")

    def values(self, evidence: Evidence) -> Float64Array:
        """Return the criterion of each strength, ``inf`` where it is not eligible."""
        sample = evidence.sample
        bic = _criterion("ebic", evidence, float(np.log(sample.weight)))
        supports = _log_binomial(sample.n_features, evidence.df)
        return np.asarray(bic + 2.0 * self.gamma * sample.n_targets * supports)

    def choose(self, evidence: Evidence) -> int:
        """Return the position of the smallest value; of the strongest strength, among equals."""
        return strongest_of_the_best(self.values(evidence))


def _criterion(name: str, evidence: Evidence, price: float) -> Float64Array:
    """Minus twice the log-likelihood plus `price` for each parameter, ``inf`` if not eligible."""
    sample = evidence.sample
    _require_likelihood(name, evidence)
    parameters = sample.n_targets * (evidence.df + sample.intercept)
    rows = sample.n_targets * sample.weight
    if sample.loss.likelihood == "normal":
        eligible, most = _not_interpolating(evidence, parameters, rows, price)
        with np.errstate(divide="ignore"):
            fit = rows * np.log(2.0 * evidence.losses / sample.n_targets)
        if not evidence.losses.any():  # a constant target: the null model is exact, nothing to buy
            fit = np.zeros_like(fit)
    else:
        most = rows
        eligible = parameters <= most
        fit = 2.0 * sample.weight * evidence.losses
    eligible &= np.isfinite(fit)
    if not eligible.any():
        raise UnsupportedError(
            f"rule={name!r} can judge no strength of this study: each has more than "
            f"{max(most, 0.0):.4g} parameters for {rows:g} numbers, or fits them to rounding. "
            "Use rule='min' or '1se', or stronger strengths."
        )
    return np.where(eligible, fit + price * parameters, np.inf)


def _not_interpolating(
    evidence: Evidence, parameters: Float64Array, rows: float, price: float
) -> tuple[BoolArray, float]:
    """Where a column of noise costs more than it gains, and the most parameters with that."""
    most = rows * (1.0 - 1.0 / price) if price > 0 else 0.0
    real = evidence.losses >= ROUNDING * np.nanmax(evidence.losses, initial=0.0)
    return (parameters <= most) & real, most


def _require_likelihood(name: str, evidence: Evidence) -> None:
    loss = evidence.sample.loss
    if loss.likelihood == "none":
        raise UnsupportedError(
            f"rule={name!r} needs a likelihood, and {type(loss).__name__} is not the logarithm of "
            "one, up to a known factor. Use rule='min' or '1se', or the loss Squared, Logistic, "
            "Multinomial or Poisson."
        )
    if np.isnan(evidence.df).all():
        raise UnsupportedError(
            f"rule={name!r} needs degrees of freedom, which are unknown here: they are known for "
            "L1 (weighted or not), and for L2 with a solver other than 'iterative'. Use "
            "rule='min' or '1se'."
        )


def _log_binomial(d: int, df: Float64Array) -> Float64Array:
    """Return ``log binom(d, df)`` for real df between 0 and d."""
    inside = np.clip(df, 0.0, d)
    return np.asarray(
        special.gammaln(d + 1.0) - special.gammaln(inside + 1.0) - special.gammaln(d - inside + 1.0)
    )
