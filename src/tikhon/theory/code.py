"""A prefix-free binary code of linear models: what minimum description length counts.

    precision p         Elias' gamma code
    intercept           one bit for zero or not, then a number
    number of nonzeros  gamma code of k + 1
    which columns       their number among the binom(d, k) sets of k columns, in ceil(log2) bits
    each coefficient    a sign, an exponent (gamma code of its step from the one before), p - 1 bits

A number is a sign, a power of two and p leading binary digits, so the code knows no units and no
scale of the data: it is fixed before they are seen, which is what the bound needs. The receiver
knows d. Decoding gives the same floats that were encoded, so predictions are the same bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.errors import UnsupportedError
from tikhon.typing import Float64Array, IntArray

__all__ = ["Code", "code_length", "decode", "encode", "quantised"]

MOST_DIGITS = 53


@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """A linear model in words of 0 and 1.

    Attributes
    ----------
    bits : str
        The code word.
    coef : ndarray of shape (d,)
        What it decodes to: coefficients of `precision` binary digits.
    intercept : float
    precision : int
    """

    bits: str
    coef: Float64Array
    intercept: float
    precision: int

    def __len__(self) -> int:
        return len(self.bits)

    def predict(self, X: Any) -> Float64Array:
        """Return ``X coef + intercept``."""
        return np.asarray(as_design(X).predict(self.coef) + self.intercept)


def encode(model: Any, intercept: float = 0.0, *, precision: int = 8) -> Code:
    """Encode a linear model, its coefficients rounded to `precision` binary digits.

    Parameters
    ----------
    model : array of shape (d,), Solution or fitted estimator
    intercept : float, default 0.0
        Where `model` is an array.
    precision : int, default 8
        Binary digits of each coefficient, 1 to 53.

    Examples
    --------
    >>> import numpy as np
    >>> code = encode(np.array([0.0, 1.5, 0.0, -0.375]), precision=2)
    >>> len(code), decode(code.bits, 4).coef
    (22, array([ 0.   ,  1.5  ,  0.   , -0.375]))
    """
    coef, offset = _numbers(model, intercept)
    w = quantised(coef, precision)
    b = float(quantised(np.array([offset]), precision)[0])
    support = np.flatnonzero(w)
    offset_word = "1" + _number(b, 0, precision)[0] if b else "0"
    words = [_gamma(precision), offset_word, _gamma(len(support) + 1)]
    words.append(_set_word(support, len(w)))
    last = 0
    for j in support:
        word, last = _number(float(w[j]), last, precision)
        words.append(word)
    return Code("".join(words), w, b, precision)


def decode(bits: str, n_features: int) -> Code:
    """Decode a word; the inverse of `encode`.

    Parameters
    ----------
    bits : str
    n_features : int
        d, which the receiver knows.

    Raises
    ------
    ValueError
        If the word ends too early, or something follows it.
    """
    reader = _Reader(bits)
    precision = reader.gamma()
    if precision > MOST_DIGITS:
        raise ValueError(f"`bits` is no code word: a precision of {precision} digits.")
    b = reader.number(0, precision)[0] if reader.take(1) == "1" else 0.0
    support = _set_of(reader, reader.gamma() - 1, n_features)
    coef = np.zeros(n_features)
    last = 0
    for j in support:
        coef[j], last = reader.number(last, precision)
    if reader.at != len(bits):
        raise ValueError(f"`bits` holds {len(bits) - reader.at} more after the code word's end.")
    return Code(bits, coef, b, precision)


def code_length(coef: Float64Array, intercept: float, precision: int) -> int:
    """Return the length of a model's code word without writing it, in bits."""
    w = quantised(np.asarray(coef, dtype=np.float64), precision)
    b = quantised(np.array([float(intercept)]), precision)
    support = np.flatnonzero(w)
    exponents = np.frexp(w[support])[1].astype(np.int64)
    steps = np.diff(exponents, prepend=0)
    length = _gamma_bits(precision) + 1 + _gamma_bits(len(support) + 1)
    length += _set_bits(len(support), len(w))
    length += int(np.sum(precision + _gamma_lengths(_zigzag(steps))))
    if b[0]:
        length += precision + int(_gamma_lengths(_zigzag(np.frexp(b)[1].astype(np.int64)))[0])
    return length


def quantised(values: Float64Array, precision: int) -> Float64Array:
    """Round numbers to so many leading binary digits.

    Examples
    --------
    >>> import numpy as np
    >>> quantised(np.array([0.0, 5.2, 9.7, -0.7]), 3).tolist()
    [0.0, 5.0, 10.0, -0.75]
    """
    if not (isinstance(precision, int | np.integer) and 1 <= precision <= MOST_DIGITS):
        raise ValueError(f"`precision` must be between 1 and {MOST_DIGITS}, got {precision!r}.")
    digits, exponent = np.frexp(np.asarray(values, dtype=np.float64))
    return np.asarray(np.ldexp(np.round(np.ldexp(digits, precision)), exponent - precision))


def _numbers(model: Any, intercept: float) -> tuple[Float64Array, float]:
    """Coefficients and intercept of an array, a solution or an estimator with one output."""
    for names in (("coef", "intercept"), ("coef_", "intercept_")):
        if hasattr(model, names[0]):
            coef = np.asarray(getattr(model, names[0]), dtype=np.float64)
            offset = np.ravel(getattr(model, names[1]))
            break
    else:
        coef, offset = np.asarray(model, dtype=np.float64), np.array([intercept])
    if coef.ndim == 2 and len(coef) == 1:
        coef = coef[0]
    if coef.ndim != 1 or len(offset) != 1:
        raise UnsupportedError(
            f"the code is for one output, and the coefficients have shape {coef.shape}; encode "
            "each output by itself."
        )
    if not (np.isfinite(coef).all() and np.isfinite(offset).all()):
        raise ValueError("coefficients must be finite to be encoded.")
    return coef, float(offset[0])


def _gamma(n: int) -> str:
    """Elias' gamma code of n >= 1: as many zeros as n has binary digits after the first, then n."""
    digits = f"{int(n):b}"
    return "0" * (len(digits) - 1) + digits


def _gamma_bits(n: int) -> int:
    return 2 * (int(n).bit_length() - 1) + 1


def _gamma_lengths(n: IntArray) -> IntArray:
    return np.asarray(2 * (np.frexp(n.astype(np.float64))[1].astype(np.int64) - 1) + 1)


def _zigzag(step: Any) -> Any:
    """0, -1, 1, -2, 2, ... as 1, 2, 3, 4, 5, ..."""
    return np.where(np.asarray(step) >= 0, 2 * np.asarray(step) + 1, -2 * np.asarray(step))


def _number(value: float, last: int, precision: int) -> tuple[str, int]:
    """Sign, exponent as a step from the last one, and the digits after the leading one."""
    digits, exponent = math.frexp(abs(value))
    whole = int(math.ldexp(digits, precision))
    rest = f"{whole:b}"[1:]
    step = _gamma(int(_zigzag(exponent - last)))
    return ("1" if value < 0 else "0") + step + rest, exponent


def _set_bits(k: int, d: int) -> int:
    return (math.comb(d, k) - 1).bit_length()


def _set_word(support: IntArray, d: int) -> str:
    """The number of a set of columns among all sets of its size, in the combinatorial system."""
    k = len(support)
    width = _set_bits(k, d)
    if not width:
        return ""
    rank = sum(math.comb(int(j), i) for i, j in enumerate(support, 1))
    return f"{rank:0{width}b}"


def _set_of(reader: _Reader, k: int, d: int) -> list[int]:
    """Read a set of k columns of d: the largest first, the rest by what is left of the rank."""
    if k > d:
        raise ValueError(f"`bits` is no code word for {d} columns: it has {k} nonzero ones.")
    width = _set_bits(k, d)
    rank = int(reader.take(width), 2) if width else 0
    if rank >= math.comb(d, k):
        raise ValueError("`bits` is no code word: there are not so many sets of columns.")
    found: list[int] = []
    column = d
    for i in range(k, 0, -1):  # the largest column with binom(column, i) <= what is left
        column -= 1
        ways = math.comb(column, i)
        while ways > rank:
            ways = ways * (column - i) // column  # binom(column - 1, i)
            column -= 1
        found.append(column)
        rank -= ways
    return found[::-1]


@dataclass(slots=True)
class _Reader:
    """Reads a word from left to right."""

    bits: str
    at: int = 0

    def take(self, count: int) -> str:
        """Return the next bits."""
        taken = self.bits[self.at : self.at + count]
        if len(taken) < count:
            raise ValueError(f"`bits` ends in the middle of the code word, at {len(self.bits)}.")
        self.at += count
        return taken

    def gamma(self) -> int:
        """Return the next whole number >= 1."""
        zeros = 0
        while self.take(1) == "0":
            zeros += 1
        return int("1" + self.take(zeros), 2)

    def number(self, last: int, precision: int) -> tuple[float, int]:
        """Return the next number and its exponent."""
        sign = -1.0 if self.take(1) == "1" else 1.0
        zigzag = self.gamma()
        exponent = last + (zigzag // 2 if zigzag % 2 else -(zigzag // 2))
        whole = int("1" + self.take(precision - 1), 2)
        try:
            return sign * math.ldexp(float(whole), exponent - precision), exponent
        except OverflowError as error:
            raise ValueError("`bits` is no code word: a coefficient beyond float64.") from error
