"""The degree of a polynomial, by every rule on one table: SRM, MDL, leave-one-out, AIC, BIC.

Degree k is class k, of dimension k + 1. Least squares on polynomials that are orthonormal over the
sample (Legendre's, then QR) is stable at any degree: the fits are nested projections, so one
factorisation gives the training loss and the leverages of all degrees.

    srm    L_S + c sqrt(8 / m (2 (k + 1) log(2 e m / (k + 1)) + log(4 / (w(k) delta))))
    mdl    L_S + c sqrt((|h| + log(2 / delta)) / (2 m)),  |h| bits of the Legendre coefficients
    loo    mean of (r_i / (1 - h_i))^2 / 2
    aic    m log(RSS / m) + 2 (k + 1),       bic    with log(m) in place of 2

Losses are halves of squares. For srm and mdl they are clipped at c.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.losses.squared import Squared
from tikhon.results import frame
from tikhon.theory.bounds.bound import probability
from tikhon.theory.bounds.capacity import mdl
from tikhon.theory.classes import weight_of
from tikhon.theory.clipped import clip_for
from tikhon.theory.code import Code, code_length, encode, quantised
from tikhon.typing import ArrayLike, Float64Array, IntArray

__all__ = ["Degrees", "polynomial_degrees"]

RULES = ("srm", "mdl", "loo", "aic", "bic")

PRECISIONS = (2, 3, 4, 6, 8, 12)


@dataclass(frozen=True, slots=True, eq=False)
class Degrees:
    """What each rule makes of each degree.

    Attributes
    ----------
    degrees : ndarray of int, shape (K,)
    loss : ndarray of shape (K,)
        Mean of half the squares on the training rows.
    srm, mdl, loo, aic, bic : ndarray of shape (K,)
        inf where a rule cannot judge.
    bits : ndarray of int, shape (K,)
        Length of the description that `mdl` counts.
    coefs : tuple of ndarray
        Coefficients of Legendre polynomials on ``[low, high]``, one array per degree.
    low, high : float
        The range of x.
    c : float
        `srm` and `mdl` are vacuous from there on.
    """

    degrees: IntArray
    loss: Float64Array
    srm: Float64Array
    mdl: Float64Array
    loo: Float64Array
    aic: Float64Array
    bic: Float64Array
    bits: IntArray
    coefs: tuple[Float64Array, ...]
    low: float
    high: float
    c: float

    def choose(self, rule: str = "loo") -> int:
        """Return the degree that a rule chooses: "srm", "mdl", "loo", "aic" or "bic"."""
        if rule not in RULES:
            raise ValueError(f"`rule` must be one of {', '.join(map(repr, RULES))}, got {rule!r}.")
        return int(self.degrees[int(np.argmin(getattr(self, rule)))])

    def predict(self, x: ArrayLike, rule: str = "loo") -> Float64Array:
        """Return the predictions of the polynomial that a rule chooses, (n,)."""
        at = int(np.flatnonzero(self.degrees == self.choose(rule))[0])
        return np.asarray(np.polynomial.legendre.legval(self._inside(x), self.coefs[at]))

    def lipschitz(self, rule: str = "loo") -> float:
        """Return the Lipschitz constant of the chosen polynomial on the range of x."""
        at = int(np.flatnonzero(self.degrees == self.choose(rule))[0])
        slope = np.polynomial.legendre.legder(self.coefs[at])
        turns = np.polynomial.legendre.legroots(np.polynomial.legendre.legder(slope))
        real = turns[np.abs(turns.imag) < 1e-9].real if len(turns) else np.empty(0)
        places = np.concatenate([[-1.0, 1.0], real[np.abs(real) <= 1]])
        steepest = np.abs(np.polynomial.legendre.legval(places, slope)).max()
        return float(steepest * 2.0 / (self.high - self.low))

    def code(self, precision: int = 8) -> Code:
        """Return the code word of the polynomial that "mdl" chooses."""
        at = int(np.argmin(self.mdl))
        return encode(self.coefs[at], precision=precision)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per degree."""
        names = ("degrees", "loss", *RULES, "bits")
        return frame({name: getattr(self, name).astype(np.float64) for name in names}, backend)

    def _inside(self, x: ArrayLike) -> Float64Array:
        return (2.0 * np.ravel(np.asarray(x)) - self.low - self.high) / (self.high - self.low)


def polynomial_degrees(
    x: ArrayLike,
    y: ArrayLike,
    degrees: Sequence[int] = tuple(range(11)),
    *,
    delta: float = 0.05,
    clip: float | None = None,
    weight: Callable[[int], float] | None = None,
) -> Degrees:
    """Fit a polynomial of each degree by least squares, and judge it by every rule.

    Parameters
    ----------
    x : array of shape (n,) or (n, 1)
    y : array of shape (n,)
    degrees : sequence of int, default 0 to 10
    delta : float, default 0.05
        Of the bounds that "srm" and "mdl" minimise.
    clip : float, optional
        c; by default the loss of mistaking the smallest target for the largest.
    weight : callable, optional
        w(d); ``6 / (pi^2 (d + 1)^2)`` by default.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, 5000)
    >>> y = x**3 - x / 2 + 0.05 * rng.standard_normal(5000)
    >>> found = polynomial_degrees(x, y, clip=0.05)
    >>> found.choose("srm"), found.choose("mdl"), found.choose("bic")
    (3, 3, 3)
    """
    probability(delta)
    flat, target = np.ravel(np.asarray(x, dtype=np.float64)), np.asarray(y, dtype=np.float64)
    order = np.unique(np.asarray(degrees, dtype=np.int64))
    _check(x, flat, target, order)
    m = len(flat)
    low, high = float(flat.min()), float(flat.max())
    u = (2.0 * flat - low - high) / (high - low) if high > low else np.zeros(m)
    basis = np.asarray(np.polynomial.legendre.legvander(u, int(order[-1])), dtype=np.float64)
    Q, R = np.linalg.qr(basis)
    along = Q.T @ target
    clipped = clip_for(Squared(), target, clip)
    columns: dict[str, list[float]] = {name: [] for name in ("loss", *RULES)}
    bits, coefs = [], []
    for k in order:
        size = int(k) + 1
        z = Q[:, :size] @ along[:size]
        coef = np.linalg.solve(R[:size, :size], along[:size])
        r, h = target - z, np.einsum("ij,ij->i", Q[:, :size], Q[:, :size])
        share = delta * weight_of(int(k), weight)
        growth = 2.0 * size * math.log(2.0 * math.e * m / size) + math.log(4.0 / share)
        risk = float(clipped.values(target, z).mean())
        word, described = _description(basis[:, :size], target, coef, clipped, delta)
        columns["loss"].append(float(np.mean(r**2) / 2.0))
        columns["srm"].append(risk + clipped.c * math.sqrt(8.0 / m * growth))
        columns["mdl"].append(described)
        columns["loo"].append(_leave_one_out(r, h))
        rss = float(r @ r)
        fits = rss > 1e-24 * float(target @ target)
        for name, price in (("aic", 2.0), ("bic", math.log(m))):
            fair = fits and size <= m * (1.0 - 1.0 / price) if price > 1 else False
            columns[name].append(m * math.log(rss / m) + price * size if fair else math.inf)
        bits.append(word)
        coefs.append(coef)
    judged = {name: np.array(values) for name, values in columns.items()}
    return Degrees(
        degrees=order,
        bits=np.array(bits, dtype=np.int64),
        coefs=tuple(coefs),
        low=low,
        high=high,
        c=clipped.c,
        **judged,
    )


def _check(x: ArrayLike, flat: Float64Array, target: Float64Array, order: IntArray) -> None:
    """Refuse what is not one column, and degrees that the values of x do not determine."""
    if np.asarray(x).ndim > 2 or len(flat) != np.shape(x)[0] or target.shape != flat.shape:
        raise UnsupportedError(
            f"degrees are compared for one column, got `x` of shape {np.shape(x)} and `y` of shape "
            f"{target.shape}."
        )
    if not len(order) or order[0] < 0 or order[-1] >= len(np.unique(flat)):
        raise ValueError(
            f"`degrees` must be whole numbers from 0 to {len(np.unique(flat)) - 1}, one less than "
            f"there are values of `x`, got {order.tolist()}."
        )


def _leave_one_out(r: Float64Array, h: Float64Array) -> float:
    """Half the mean square of left-out residuals; inf where a row determines its own fit."""
    left = 1.0 - h
    if np.any(left < 1e-10):
        return math.inf
    return float(np.mean((r / left) ** 2) / 2.0)


def _description(
    basis: Float64Array, y: Float64Array, coef: Float64Array, clipped: Any, delta: float
) -> tuple[int, float]:
    """Bits and bound of the best of several precisions."""
    best = (0, math.inf)
    for precision in PRECISIONS:
        length = code_length(coef, 0.0, precision)
        risk = float(clipped.values(y, basis @ quantised(coef, precision)).mean())
        bound = risk + clipped.c * mdl(length, len(y), delta).value
        if bound < best[1]:
            best = (length, bound)
    return best
