"""Uniform deviations: how far a whole class of hypotheses can be from its training losses.

    with probability 1 - delta, for every h of the class:  |L_D(h) - L_S(h)| <= eps(m, delta)

for losses in [0, 1] (in [0, c], c times as much). Structural risk minimisation spends delta over
nested classes by weights w(d), description length over single hypotheses by ``2^-bits``.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from tikhon.theory.bounds.bound import LECTURE, Assumption, Bound, iid, positive, probability

__all__ = [
    "BEFOREHAND",
    "BOUNDED",
    "class_weight",
    "finite_class",
    "mdl",
    "nonuniform_sample_size",
    "norm_ball",
    "vc",
]

BOUNDED = "the loss is in [0, 1]"
BEFOREHAND = "the class was fixed before the data were seen"


def _given(what: str) -> Assumption:
    return Assumption.unknown(what, "only numbers were given")


def class_weight(d: int) -> float:
    """Return the lecture's weight of class d, ``6 / (pi^2 (d + 1)^2)``; they sum to 1.

    Examples
    --------
    >>> round(class_weight(0), 4)
    0.6079
    """
    if d < 0:
        raise ValueError(f"`d` must be >= 0, got {d}.")
    return 6.0 / (math.pi * (d + 1)) ** 2


def finite_class(size: float, m: int, delta: float) -> Bound:
    """Bound the deviation over finitely many hypotheses: Hoeffding and the union bound.

    ``sqrt(log(2 |H| / delta) / (2 m))``

    Parameters
    ----------
    size : float
        |H|.
    m : int
    delta : float

    Examples
    --------
    >>> round(finite_class(1, 1000, 0.05).value, 4)  # sqrt(log 40 / 2000)
    0.0429
    """
    positive(size=size, m=m)
    probability(delta)
    return Bound(
        "finite class",
        math.sqrt((math.log(2.0 * size) - math.log(delta)) / (2.0 * m)),
        "for all h in H, |L_D(h) - L_S(h)| <= sqrt(log(2 |H| / delta) / (2 m))",
        f"{LECTURE}, structural risk minimisation; Hoeffding",
        (iid(), _given(BOUNDED), _given(BEFOREHAND)),
        ceiling=1.0,
        delta=delta,
    )


def vc(d: float, m: int, delta: float) -> Bound:
    """Bound the deviation of the 0-1 loss over a class of VC dimension d.

    ``sqrt(8 / m (d log(2 e m / d) + log(4 / delta)))``: the constant that the lecture leaves open.

    Parameters
    ----------
    d : float
        VC dimension; ``k + 1`` for half-spaces of k columns with an offset.
    m : int
    delta : float

    Examples
    --------
    >>> round(vc(3, 10_000, 0.05).value, 4)
    0.1644
    """
    positive(d=d, m=m)
    probability(delta)
    growth = d * math.log(2.0 * math.e * max(m, d / 2.0) / d)
    return Bound(
        "VC class",
        math.sqrt(8.0 / m * (growth + math.log(4.0 / delta))),
        "for all h in H, |L_D(h) - L_S(h)| <= sqrt(8/m (d log(2 e m / d) + log(4/delta)))",
        "Vapnik and Chervonenkis; an explicit form of the rate in lecture 001",
        (
            iid(),
            Assumption.checked("2 m >= d", 2 * m >= d, f"m = {m}, d = {d:g}"),
            _given("the loss is the 0-1 loss"),
            _given(BEFOREHAND),
        ),
        ceiling=1.0,
        delta=delta,
    )


def norm_ball(rho: float, radius: float, m: int, delta: float, c: float = 1.0) -> Bound:
    """Bound the deviation over a ball of linear functions: Rademacher complexity.

    ``2 rho B / sqrt(m) + c sqrt(2 log(2 / delta) / m)``, for all ``||w|| <= B``.

    Parameters
    ----------
    rho : float
        Lipschitz constant of ``w -> loss``: that in z times ``sup ||x||``.
    radius : float
        B.
    m : int
    delta : float
    c : float, default 1.0
        The loss is in [0, c].

    Examples
    --------
    >>> round(norm_ball(1.0, 2.0, 10_000, 0.05).value, 4)  # 0.04 + sqrt(2 log 40 / 10000)
    0.0672
    """
    positive(rho=rho, radius=radius, m=m, c=c)
    probability(delta)
    return Bound(
        "norm ball",
        2.0 * rho * radius / math.sqrt(m) + c * math.sqrt(2.0 * math.log(2.0 / delta) / m),
        "for all ||w|| <= B, L_D(w) <= L_S(w) + 2 rho B / sqrt(m) + c sqrt(2 log(2/delta) / m)",
        "Rademacher complexity of linear classes",
        (
            iid(),
            _given("the loss is rho-Lipschitz in w for every row"),
            _given("the loss is in [0, c]"),
            _given("B was fixed before the data were seen"),
        ),
        ceiling=c,
        delta=delta,
    )


def mdl(bits: float, m: int, delta: float, *, tight: bool = False) -> Bound:
    """Bound the deviation of a hypothesis that has a short description.

    ``sqrt((|h| + log(2 / delta)) / (2 m))``; with `tight`, ``|h| log 2`` in place of |h|.

    Parameters
    ----------
    bits : float
        |h|, its length in a prefix-free binary code.
    m : int
    delta : float
    tight : bool, default False
        The lecture bounds ``log 2^|h|`` by |h|; the exact term is a third smaller.

    Examples
    --------
    >>> round(mdl(20, 1000, 0.05).value, 4), round(mdl(20, 1000, 0.05, tight=True).value, 4)
    (0.1088, 0.0937)
    """
    positive(m=m)
    probability(delta)
    if not bits >= 0:
        raise ValueError(f"`bits` must be >= 0, got {bits}.")
    price = bits * math.log(2.0) if tight else bits
    return Bound(
        "description length",
        math.sqrt((price + math.log(2.0 / delta)) / (2.0 * m)),
        "for all h, L_D(h) <= L_S(h) + sqrt((|h|"
        + (" log 2" if tight else "")
        + " + log(2/delta)) / (2 m))",
        f"{LECTURE}, minimum description length",
        (
            iid(),
            _given(BOUNDED),
            _given("the code is prefix-free and was fixed before the data were seen"),
        ),
        ceiling=1.0,
        delta=delta,
    )


def nonuniform_sample_size(
    d: int,
    eps: float,
    delta: float,
    *,
    deviation: Callable[[int, int, float], Bound] = vc,
    weight: Callable[[int], float] = class_weight,
) -> Bound:
    """Return the rows after which SRM competes with a given hypothesis of class d.

    ``m_NUL(eps, delta, h) <= m_UC of H_d at (eps / 2, w(d) delta)``: the smallest m from which the
    deviation of class d, at its share of delta, is at most ``eps / 2``.

    Parameters
    ----------
    d : int
        The class of the hypothesis, >= 1.
    eps, delta : float
    deviation : callable, default `vc`
        ``deviation(d, m, delta)`` bounds the deviation of class d.
    weight : callable, default `class_weight`
        w(d). (The lecture's rate prints ``6 delta / (pi^2 d^2)``, its weights ``(d + 1)^2``.)

    Examples
    --------
    >>> few = nonuniform_sample_size(2, 0.1, 0.05).value
    >>> share = class_weight(2) * 0.05
    >>> vc(2, few, share).value <= 0.05 < vc(2, few - 1, share).value
    True
    """
    positive(d=d, eps=eps)
    probability(delta)
    share = weight(d) * delta
    low, high = 1, max(2, d)
    while deviation(d, high, share).value > eps / 2.0:
        low, high = high, 2 * high
        if high > 2**60:
            raise ValueError(
                f"no sample of any size brings the deviation of class {d} to {eps / 2}."
            )
    while high - low > 1:
        middle = (low + high) // 2
        if deviation(d, middle, share).value > eps / 2.0:
            low = middle
        else:
            high = middle
    return Bound(
        "nonuniform sample size",
        high,
        f"m_NUL(eps, delta, h) <= m_UC of H_{d} at (eps/2, w({d}) delta), w({d}) = {weight(d):.4g}",
        f"{LECTURE}, nonuniform learnability",
        deviation(d, high, share).assumptions,
        delta=delta,
    )
