"""Random points at which laws are tried, and the sentence raised when one fails."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tikhon.losses import Loss
from tikhon.penalties import Penalty
from tikhon.typing import FloatArray

N_ROWS: Final = 48
N_CLASSES: Final = 3
EXTREMES: Final = (30.0, 40.0, 710.0, 1e4, 1e308)
FLOAT_TYPES: Final[tuple[np.dtype[np.floating[Any]], ...]] = (
    np.dtype(np.float64),
    np.dtype(np.float32),
)


def require(holds: npt.ArrayLike, component: object, law: str) -> None:
    """Raise unless a law holds everywhere.

    Raises
    ------
    AssertionError
        With the component, the law, and how many of the sampled points break it.
    """
    holds = np.asarray(holds)
    if not holds.all():
        broken = int(holds.size - np.count_nonzero(holds))
        raise AssertionError(f"{component!r}: {law} ({broken} of {holds.size} points fail).")


def sample_targets(loss: Loss, rng: np.random.Generator, n: int = N_ROWS) -> FloatArray:
    """Return `n` targets that the loss accepts: codes, signed numbers, signs, counts or positives.

    Raises
    ------
    AssertionError
        If `check_targets` refuses all of these.
    """
    if loss.per_class:
        codes = np.concatenate([np.arange(N_CLASSES), rng.integers(0, N_CLASSES, n - N_CLASSES)])
        return codes.astype(np.float64)
    candidates = (
        3 * rng.normal(size=n),
        rng.permutation(np.resize([-1.0, 1.0], n)),
        rng.poisson(3.0, n).astype(np.float64),
        rng.gamma(2.0, 2.0, n) + 0.01,
    )
    for y in candidates:
        if loss.check_targets(y) is None:
            return y
    raise AssertionError(f"{loss!r}: `check_targets` accepts none of the sampled kinds of targets.")


def sample_predictions(
    loss: Loss, y: FloatArray, rng: np.random.Generator, scale: float = 1.0
) -> FloatArray:
    """Return predictions for `y`, of several sizes up to about ``10 scale``."""
    shape = (len(y), N_CLASSES) if loss.per_class else y.shape
    sizes = rng.choice([0.1, 1.0, 4.0], size=(len(y),) + (1,) * (len(shape) - 1))
    return np.asarray(scale * sizes * rng.normal(size=shape))


def directions(loss: Loss, z: FloatArray) -> Iterator[FloatArray]:
    """Yield the directions in which predictions move: one per class, or the only one."""
    if not loss.per_class:
        yield np.ones_like(z)
        return
    for k in range(z.shape[-1]):
        direction = np.zeros_like(z)
        direction[..., k] = 1
        yield direction


def inner(loss: Loss, a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the products of rows: ``sum_k a_k b_k`` over classes, or ``a b``."""
    return np.asarray((a * b).sum(axis=-1) if loss.per_class else a * b)


def length(loss: Loss, a: FloatArray) -> FloatArray:
    """Return the 2-norm of each row over classes, or the absolute value."""
    return np.asarray(np.linalg.norm(a, axis=-1) if loss.per_class else np.abs(a))


def extreme_predictions(loss: Loss, sizes: tuple[float, ...] = EXTREMES) -> FloatArray:
    """Return predictions of these sizes and both signs: shape (m,), or (m, classes)."""
    ends = np.array([sign * size for size in sizes for sign in (-1.0, 1.0)])
    if not loss.per_class:
        return ends
    zero = np.zeros_like(ends)
    rows = [(ends, zero, zero), (zero, ends, -ends), (-ends, zero, ends), (ends, ends, zero)]
    return np.concatenate([np.stack(row, axis=-1) for row in rows])


def sample_coefficients(
    penalty: Penalty, shape: tuple[int, ...], rng: np.random.Generator
) -> FloatArray:
    """Return coefficients in the domain of the penalty, many of them at its kinks and bounds.

    Proximal points of multiples of 1/4: a kink is then hit exactly or missed by far, and
    difference quotients are never taken across one.
    """
    w = penalty.prox(rng.integers(-12, 13, size=shape) / 4, 0.5)
    snapped = np.where(np.abs(w) < 1e-9, 0.0, w)
    return snapped if np.isfinite(penalty.value(snapped)) else w


def sample_gradient(shape: tuple[int, ...], rng: np.random.Generator) -> FloatArray:
    """Return a gradient of a size comparable to 1."""
    return np.asarray(rng.choice([0.3, 1.0, 3.0]) * rng.normal(size=shape))
