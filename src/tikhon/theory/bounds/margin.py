"""Margin bounds of support vector machines: free of the dimension."""

from __future__ import annotations

import math

from tikhon.theory.bounds.bound import LECTURE, Assumption, Bound, iid, positive, probability
from tikhon.theory.bounds.stable import suggested_strength

__all__ = ["hard_margin", "soft_margin"]

SEPARABLE = "the distribution is separable with margin gamma, by a plane through the origin"
INSIDE_BALL = "||x|| <= rho for every row"
NO_OFFSET = "the plane goes through the origin: no intercept outside the penalty"


def _given(what: str) -> Assumption:
    return Assumption.unknown(what, "only numbers were given; theory.report checks it on data")


def hard_margin(rho: float, gamma: float, m: int, delta: float) -> Bound:
    """Bound the 0-1 loss of the hard-margin machine on separable data.

    ``sqrt(4 (rho / gamma)^2 / m) + sqrt(2 log(2 / delta) / m)``, with probability ``1 - delta``.

    Parameters
    ----------
    rho : float
        Radius, ``sup ||x||``.
    gamma : float
        Margin of the distribution: ``y <w, x> >= gamma`` for some w of norm 1.
    m : int
    delta : float

    Examples
    --------
    >>> round(hard_margin(1.0, 0.5, 1600, 0.05).value, 4)  # 0.1 + sqrt(2 log 40 / 1600)
    0.1679
    """
    positive(rho=rho, gamma=gamma, m=m)
    probability(delta)
    return Bound(
        "hard margin",
        2.0 * rho / gamma / math.sqrt(m) + math.sqrt(2.0 * math.log(2.0 / delta) / m),
        "with probability 1 - delta, L01(A(S)) <= sqrt(4 (rho/gamma)^2 / m) "
        "+ sqrt(2 log(2/delta) / m)",
        f"{LECTURE}, sample complexity of Hard-SVM",
        (iid(), _given(SEPARABLE), _given(INSIDE_BALL)),
        ceiling=1.0,
        delta=delta,
    )


def soft_margin(
    rho: float, radius: float, m: int, hinge_risk: float = 0.0, lam_s: float | None = None
) -> Bound:
    """Bound the expected 0-1 loss of the soft-margin machine by any comparison vector u.

    ``E L01 <= E L_hinge <= L_hinge(u) + lam_s ||u||^2 + 2 rho^2 / (lam_s m)``; with the suggested
    strength, ``L_hinge(u) + sqrt(8 rho^2 B^2 / m)`` for ``||u|| <= B``.

    Parameters
    ----------
    rho : float
        ``sup ||x||``: the hinge loss is 1-Lipschitz in z.
    radius : float
        B, or the norm of u.
    m : int
    hinge_risk : float, default 0.0
        ``L_hinge(u)`` on the distribution. 0, by default, leaves the excess alone.
    lam_s : float, optional
        The lecture's strength, half of `lam`; the suggested one by default.

    Examples
    --------
    >>> soft_margin(1.0, 2.0, 800).value, soft_margin(1.0, 2.0, 800, lam_s=0.025).value
    (0.2, 0.2)
    """
    positive(rho=rho, radius=radius, m=m)
    if not hinge_risk >= 0:
        raise ValueError(f"`hinge_risk` must be >= 0, got {hinge_risk}.")
    if lam_s is None:
        lam = suggested_strength(rho, radius, m).lam
        excess = math.sqrt(8.0) * rho * radius / math.sqrt(m)
        says = "L_hinge(u) + sqrt(8 rho^2 B^2 / m), ||u|| <= B"
    else:
        positive(lam_s=lam_s)
        lam = 2.0 * lam_s
        excess = lam_s * radius**2 + 2.0 * rho**2 / (lam_s * m)
        says = "L_hinge(u) + lam_s ||u||^2 + 2 rho^2 / (lam_s m)"
    return Bound(
        "soft margin",
        hinge_risk + excess,
        f"E L01(A(S)) <= E L_hinge(A(S)) <= {says}",
        f"{LECTURE}, soft-SVM",
        (iid(), _given(INSIDE_BALL), _given(NO_OFFSET)),
        ceiling=1.0,
        lam=lam,
    )
