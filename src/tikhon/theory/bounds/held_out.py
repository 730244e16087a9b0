"""Certificates from rows that had no part in fitting or choosing: rarely vacuous."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from tikhon.theory.bounds.bound import Assumption, Bound, iid, positive, probability

__all__ = ["UNSEEN", "clopper_pearson", "empirical_bernstein"]

UNSEEN = "the test rows had no part in fitting, choosing or scaling"


def _unseen() -> Assumption:
    return Assumption.unknown(UNSEEN, "only who split the rows knows")


def clopper_pearson(errors: int, m: int, delta: float) -> Bound:
    """Bound the 0-1 loss from the errors on m test rows, exactly.

    The largest p for which at most `errors` errors in m trials have probability delta or more:
    the ``1 - delta`` quantile of Beta(errors + 1, m - errors). One-sided.

    Parameters
    ----------
    errors : int
    m : int
    delta : float

    Examples
    --------
    >>> round(clopper_pearson(0, 100, 0.05).value, 6), round(1 - 0.05 ** (1 / 100), 6)
    (0.029513, 0.029513)
    """
    positive(m=m)
    probability(delta)
    if not (0 <= errors <= m and float(errors).is_integer()):
        raise ValueError(f"`errors` must be a whole number between 0 and m = {m}, got {errors}.")
    value = 1.0 if errors == m else float(stats.beta.ppf(1.0 - delta, errors + 1, m - errors))
    return Bound(
        "held-out error rate",
        value,
        f"with probability 1 - delta, L01 <= {value:.4g} ({errors:g} errors in {m} test rows)",
        "Clopper and Pearson, exact binomial, one-sided",
        (iid(), _unseen()),
        ceiling=1.0,
        delta=delta,
    )


def empirical_bernstein(losses: Any, delta: float, c: float = 1.0) -> Bound:
    """Bound the risk from the losses on test rows, by their mean and their variance.

    ``mean + sqrt(2 V log(2 / delta) / m) + 7 c log(2 / delta) / (3 (m - 1))``, V the sample
    variance; close to the mean where losses vary little.

    Parameters
    ----------
    losses : array of shape (m,)
        In [0, c], m >= 2.
    delta : float
    c : float, default 1.0

    Examples
    --------
    >>> import numpy as np
    >>> round(empirical_bernstein(np.full(1000, 0.25), 0.05).value, 4)  # no variance
    0.2586
    """
    positive(c=c)
    probability(delta)
    values = np.asarray(losses, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2:
        raise ValueError(f"`losses` must be 2 or more losses, (m,), got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise ValueError("`losses` must be finite; clip them at `c` first.")
    m = len(values)
    log = math.log(2.0 / delta)
    spread = math.sqrt(2.0 * float(values.var(ddof=1)) * log / m)
    inside = bool((values >= 0).all() and (values <= c).all())
    return Bound(
        "held-out risk",
        float(values.mean()) + spread + 7.0 * c * log / (3.0 * (m - 1)),
        "with probability 1 - delta, L_D <= mean + sqrt(2 V log(2/delta) / m) "
        "+ 7 c log(2/delta) / (3 (m - 1))",
        "Maurer and Pontil, empirical Bernstein bound",
        (
            iid(),
            _unseen(),
            Assumption.checked(
                "the losses are in [0, c]",
                inside,
                f"c = {c:.4g}, losses from {values.min():.4g} to {values.max():.4g}",
            ),
        ),
        ceiling=c,
        delta=delta,
    )
