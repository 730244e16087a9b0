"""Stability and oracle bounds of regularized loss minimisation, in lecture 001's convention.

    A(S) = argmin_w  L_S(w) + lam_s ||w||^2,        lam_s = lam / 2

rho is the Lipschitz constant and beta the smoothness of ``w -> loss``: those in z times
``sup ||x||`` and ``sup ||x||^2``. `tikhon.theory.constants` finds them for a loss and a
table. The strength that balances fitting and stability is here as well, with the number of rows
that follows from it.
"""

from __future__ import annotations

import math

from tikhon.theory.bounds.bound import LECTURE, Assumption, Bound, iid, positive, probability

__all__ = [
    "LIPSCHITZ",
    "SMOOTH",
    "boosted_sample_size",
    "oracle_excess",
    "replacement_distance",
    "ridge_sample_size",
    "sample_size",
    "smooth_oracle",
    "smooth_stability",
    "stability",
    "suggested_strength",
]

LIPSCHITZ = "the loss is convex, and rho-Lipschitz in w for every row"
SMOOTH = "the loss is convex, non-negative, and beta-smooth in w for every row"
INSIDE = "the comparison class is the ball ||w|| <= B"


def _given(what: str) -> Assumption:
    return Assumption.unknown(what, "only numbers were given; theory.report checks it on data")


def stability(rho: float, lam_s: float, m: int) -> Bound:
    """Bound the replace-one stability, and with it the expected generalization gap.

    ``E [L_D(A(S)) - L_S(A(S))] <= 2 rho^2 / (lam_s m)``

    Parameters
    ----------
    rho : float
        Lipschitz constant of ``w -> loss``.
    lam_s : float
        The lecture's strength, half of `lam`.
    m : int
        Rows.

    Examples
    --------
    >>> stability(2.0, 0.5, 100).value  # 2 * 4 / 50
    0.16
    """
    positive(rho=rho, lam_s=lam_s, m=m)
    return Bound(
        "stability",
        2.0 * rho * rho / (lam_s * m),
        "E[L_D(A(S)) - L_S(A(S))] = replace-one stability <= 2 rho^2 / (lam_s m)",
        f"{LECTURE}, Lipschitz loss",
        (iid(), _given(LIPSCHITZ)),
        lam=2.0 * lam_s,
    )


def replacement_distance(rho: float, lam_s: float, m: int) -> Bound:
    """Bound how far the solution moves when one row is replaced.

    ``||A(S^i) - A(S)|| <= 2 rho / (lam_s m)``, for every sample and every replacement.

    Parameters
    ----------
    rho, lam_s, m
        As for `stability`.

    Examples
    --------
    >>> replacement_distance(2.0, 0.5, 100).value
    0.08
    """
    positive(rho=rho, lam_s=lam_s, m=m)
    return Bound(
        "replacement distance",
        2.0 * rho / (lam_s * m),
        "||A(S^i) - A(S)|| <= 2 rho / (lam_s m)",
        f"{LECTURE}, Lipschitz loss",
        (_given(LIPSCHITZ),),
        lam=2.0 * lam_s,
    )


def smooth_stability(beta: float, lam_s: float, m: int, empirical_risk: float) -> Bound:
    """Bound the expected generalization gap for smooth losses, by the empirical risk.

    ``E [L_D(A(S)) - L_S(A(S))] <= 48 beta / (lam_s m) E L_S(A(S))``, for ``lam_s >= 2 beta / m``.

    Parameters
    ----------
    beta : float
        Smoothness of ``w -> loss``.
    lam_s, m
        As for `stability`.
    empirical_risk : float
        ``E L_S(A(S))``; with C, a bound on ``loss(0)``, in its place the bound still holds.

    Examples
    --------
    >>> smooth_stability(1.0, 0.5, 1000, 0.25).value  # 48 / 500 / 4
    0.024
    """
    positive(beta=beta, lam_s=lam_s, m=m)
    if not empirical_risk >= 0:
        raise ValueError(f"`empirical_risk` must be >= 0, got {empirical_risk}.")
    least = 2.0 * beta / m
    return Bound(
        "smooth stability",
        48.0 * beta / (lam_s * m) * empirical_risk,
        "E[L_D(A(S)) - L_S(A(S))] <= 48 beta / (lam_s m) E L_S(A(S))",
        f"{LECTURE}, smooth non-negative loss",
        (
            iid(),
            _given(SMOOTH),
            Assumption.checked(
                "lam_s >= 2 beta / m",
                lam_s >= least,
                f"lam_s = {lam_s:.4g}, 2 beta / m = {least:.4g}; {_rows_for(beta, lam_s, m)}",
            ),
        ),
        lam=2.0 * lam_s,
    )


def _rows_for(beta: float, lam_s: float, m: int) -> str:
    needed = math.ceil(2.0 * beta / lam_s)
    return "enough rows" if m >= needed else f"m = {m} is too small, {needed} rows would do"


def oracle_excess(rho: float, radius: float, m: int) -> Bound:
    """Bound the excess risk over the ball ``||w|| <= B``, at the suggested strength.

    ``E L_D(A(S)) <= min_{||w|| <= B} L_D(w) + rho B sqrt(8 / m)``

    Parameters
    ----------
    rho : float
    radius : float
        B.
    m : int

    Examples
    --------
    >>> oracle_excess(1.0, 2.0, 800).value
    0.2
    """
    positive(rho=rho, radius=radius, m=m)
    strength = suggested_strength(rho, radius, m)
    return Bound(
        "oracle excess",
        rho * radius * math.sqrt(8.0 / m),
        "E L_D(A(S)) <= min_{||w|| <= B} L_D(w) + rho B sqrt(8 / m), "
        "lam_s = sqrt(2 rho^2 / (B^2 m))",
        f"{LECTURE}, corollary of the oracle inequality",
        (iid(), _given(LIPSCHITZ), _given(INSIDE)),
        lam=strength.lam,
    )


def suggested_strength(rho: float, radius: float, m: int) -> Bound:
    """Return the strength that balances fitting and stability: the lecture's lam_s is the value.

    ``lam_s = sqrt(2 rho^2 / (B^2 m))``; `.lam` is twice that, ready for an estimator.

    Parameters
    ----------
    rho, radius, m
        As for `oracle_excess`.

    Examples
    --------
    >>> strength = suggested_strength(1.0, 2.0, 200)
    >>> strength.value, strength.lam
    (0.05, 0.1)
    """
    positive(rho=rho, radius=radius, m=m)
    lam_s = math.sqrt(2.0 / m) * rho / radius
    return Bound(
        "suggested strength",
        lam_s,
        "lam_s = sqrt(2 rho^2 / (B^2 m)) minimises lam_s B^2 + 2 rho^2 / (lam_s m)",
        f"{LECTURE}, corollary of the oracle inequality",
        (_given(LIPSCHITZ), _given(INSIDE)),
        lam=2.0 * lam_s,
    )


def sample_size(rho: float, radius: float, eps: float) -> Bound:
    """Return how many rows make the expected excess risk at most eps, for Lipschitz losses.

    ``m >= 8 rho^2 B^2 / eps^2``, with the suggested strength at that m.

    Parameters
    ----------
    rho, radius
        As for `oracle_excess`.
    eps : float

    Examples
    --------
    >>> sample_size(1.0, 2.0, 0.1).value
    3200
    """
    positive(rho=rho, radius=radius, eps=eps)
    m = _ceil(8.0 * (rho * radius / eps) ** 2)
    return Bound(
        "sample size",
        m,
        "m >= 8 rho^2 B^2 / eps^2 gives E L_D(A(S)) <= min_{||w|| <= B} L_D(w) + eps",
        f"{LECTURE}, corollary of the oracle inequality",
        (iid(), _given(LIPSCHITZ), _given(INSIDE)),
        lam=suggested_strength(rho, radius, m).lam,
    )


def smooth_oracle(beta: float, radius: float, eps: float) -> Bound:
    """Return how many rows make the expected excess at most eps, for smooth non-negative losses.

    ``m >= 150 beta B^2 / eps^2`` with ``lam_s = eps / (3 B^2)``, for losses with ``loss(0) <= 1``.

    The excess in the statement is absolute; with ``loss(0) <= C`` scale the loss by 1 / C first.

    Parameters
    ----------
    beta, radius, eps : float

    Examples
    --------
    >>> smooth_oracle(1.0, 2.0, 0.1).value
    60000
    """
    positive(beta=beta, radius=radius, eps=eps)
    return Bound(
        "sample size, smooth loss",
        _ceil(150.0 * beta * (radius / eps) ** 2),
        "m >= 150 beta B^2 / eps^2, lam_s = eps / (3 B^2): "
        "E L_D(A(S)) <= min_{||w|| <= B} L_D(w) + eps",
        f"{LECTURE}, smooth non-negative loss",
        (iid(), _given(SMOOTH), _given("loss(0) <= 1 for every row"), _given(INSIDE)),
        lam=2.0 * eps / (3.0 * radius * radius),
    )


def ridge_sample_size(radius: float, eps: float, delta: float | None = None) -> Bound:
    """Return how many rows ridge needs for an excess risk of at most eps.

    ``m(eps) = 150 B^2 / eps^2`` in expectation, with ``lam_s = eps / (3 B^2)``; with probability
    ``1 - delta``, by Markov's inequality, ``m(eps delta)`` at the strength for ``eps delta``.

    Parameters
    ----------
    radius : float
        B, of the comparison class.
    eps : float
        In (0, 1).
    delta : float, optional

    Examples
    --------
    >>> ridge_sample_size(1.0, 0.1).value, ridge_sample_size(1.0, 0.1, delta=0.1).value
    (15000, 1500000)
    """
    positive(radius=radius, eps=eps)
    if delta is not None:
        probability(delta)
    asked = eps if delta is None else eps * delta
    how = "E L_D(A(S)) <=" if delta is None else "with probability 1 - delta, L_D(A(S)) <="
    count = "150 B^2 / eps^2" if delta is None else "150 B^2 / (eps delta)^2"
    return Bound(
        "ridge sample size",
        _ceil(150.0 * (radius / asked) ** 2),
        f"m >= {count}: {how} min_{{||w|| <= B}} L_D(w) + eps",
        f"{LECTURE}, ridge regression generalizes well",
        (
            iid(),
            Assumption.checked("eps is in (0, 1)", eps < 1, f"eps = {eps:.4g}"),
            _given("||x|| <= 1 and |y| <= 1 for every row"),
            _given(INSIDE),
        ),
        lam=2.0 * asked / (3.0 * radius * radius),
        delta=delta,
    )


def boosted_sample_size(half: float, eps: float, delta: float) -> Bound:
    """Return the rows that boosting the confidence asks for, from m(eps / 2).

    ``m(eps / 2) k + ceil((log(4 / delta) + log k) / eps^2)`` with ``k = ceil(log2(1 / delta))``.

    The count is the lecture's. Its derivation gives less than it says: one part has an excess of
    at most eps with probability 1/2 (Markov), the best of k with probability ``1 - delta``, and
    choosing by the last part adds ``sqrt(2) eps`` and fails with probability ``delta / 2``.

    Parameters
    ----------
    half : float
        ``m(eps / 2)``, the rows for an expected excess of ``eps / 2``.
    eps, delta : float

    Examples
    --------
    >>> boosted_sample_size(60000, 0.1, 0.05).value  # 5 parts, and 599 rows to choose by
    300600
    """
    positive(half=half, eps=eps)
    probability(delta)
    k = math.ceil(math.log2(1.0 / delta))
    last = math.ceil((math.log(4.0 / delta) + math.log(k)) / eps**2)
    return Bound(
        "boosted sample size",
        _ceil(half) * k + last,
        "m(eps/2) k + ceil((log(4/delta) + log k) / eps^2), k = ceil(log2(1/delta)): an excess of "
        "at most (1 + sqrt 2) eps with probability 1 - 3 delta / 2",
        f"{LECTURE}, expectation to high probability (the count), derived here (the statement)",
        (iid(), _given("the loss is in [0, 1]")),
        delta=delta,
    )


def _ceil(count: float) -> int:
    """Round up, but for rounding in the last digits."""
    near = round(count)
    return near if math.isclose(near, count, rel_tol=1e-12) else math.ceil(count)
