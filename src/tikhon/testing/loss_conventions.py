"""Laws of the rest of a loss: best constants, links, targets, float types, several targets."""

from typing import Final

import numpy as np

from tikhon.losses import Loss
from tikhon.testing.loss_calculus import LossLaw
from tikhon.testing.samples import N_ROWS, require, sample_predictions, sample_targets
from tikhon.testing.tolerances import rounding
from tikhon.typing import FloatArray


def _mean_loss(loss: Loss, y: FloatArray, s: FloatArray, z: FloatArray) -> float:
    everywhere = np.broadcast_to(z, y.shape + np.shape(z))
    return float(s @ loss.value(y, np.array(everywhere)) / s.sum())


def null_prediction_is_best(loss: Loss, rng: np.random.Generator) -> None:
    """Require that no other constant has a smaller weighted mean loss."""
    y = sample_targets(loss, rng)
    s = rng.integers(0, 3, len(y)).astype(np.float64)
    s[:3] += 1  # of each class, at least one
    null = loss.null_prediction(y, s)
    least = _mean_loss(loss, y, s, null)
    others = [
        null + size * rng.normal(size=null.shape) for size in (1e-6, 1e-3, 0.1, 1.0, 10.0) * 4
    ]
    slack = rounding(np.float64, y.max(), least) * (1 + np.abs(null).max())
    holds = [_mean_loss(loss, y, s, z) >= least - slack for z in others]
    require(holds, loss, "`null_prediction` must minimise the mean loss")


def weights_are_repetitions(loss: Loss, rng: np.random.Generator) -> None:
    """Require an integer weight and repeated rows to give the same best constant, up to ties."""
    y = sample_targets(loss, rng)
    s = rng.integers(0, 4, len(y))
    s[:3] += 1
    repeated = np.repeat(y, s)
    by_weight = loss.null_prediction(y, s.astype(np.float64))
    by_row = loss.null_prediction(repeated)
    ones = np.ones(len(repeated))
    a, b = (_mean_loss(loss, repeated, ones, z) for z in (by_weight, by_row))
    slack = rounding(np.float64, a, y.max()) * (1 + np.abs(by_row).max())
    require(abs(a - b) <= slack, loss, "a weight must count as a repetition")


def links_are_inverse(loss: Loss, rng: np.random.Generator) -> None:
    """Require ``link(inverse_link(z)) = z`` and ``inverse_link(link(mean)) = mean``."""
    z = sample_predictions(loss, sample_targets(loss, rng), rng)
    mean = loss.inverse_link(z)
    back = loss.link(mean)
    # The logit forgets z at the rate p (1 - p), the softmax all but exactly at that of the least p.
    lost = np.exp(np.abs(z).max()) if loss.link_name in {"logit", "softmax"} else 1.0
    centred = z - z.mean(axis=-1, keepdims=True) if loss.per_class else z
    slack = rounding(np.float64, z) * (1 + lost)
    require(np.abs(back - centred) <= slack, loss, "`link` must invert `inverse_link`")
    again = loss.inverse_link(back)
    require(np.abs(again - mean) <= slack * (1 + np.abs(mean)), loss, "`inverse_link` must return")


def bad_targets_are_named(loss: Loss, rng: np.random.Generator) -> None:
    """Require `check_targets` to accept good targets, and to name NaN and infinities."""
    y = sample_targets(loss, rng)
    require(loss.check_targets(y) is None, loss, "`check_targets` must accept good targets")
    for wrong in (np.nan, np.inf):
        spoiled = y.copy()
        spoiled[rng.integers(len(y))] = wrong
        told = loss.check_targets(spoiled)
        require(bool(told) and str(wrong) in str(told), loss, f"`check_targets` must name {wrong}")


def float_type_is_kept(loss: Loss, rng: np.random.Generator) -> None:
    """Require float32 out for float32 in, close to the float64 answer."""
    y = sample_targets(loss, rng).astype(np.float32)
    z = sample_predictions(loss, y, rng).astype(np.float32)
    wide_y, wide_z = y.astype(np.float64), z.astype(np.float64)
    for name in ("value", "derivative", "curvature", *(["feasible"] * loss.has_conjugate)):
        method = getattr(loss, name)
        narrow, wide = method(y, z), method(wide_y, wide_z)
        require(narrow.dtype == np.float32, loss, f"`{name}` must keep float32")
        require(wide.dtype == np.float64, loss, f"`{name}` must keep float64")
    narrow, wide = loss.value(y, z), loss.value(wide_y, wide_z)
    size = np.abs(z).max() * (1 + np.abs(loss.derivative(wide_y, wide_z)).max())
    slack = rounding(np.float32, wide, size)
    require(np.abs(narrow - wide) <= slack, loss, "float32 must agree with float64")
    require(loss.inverse_link(z).dtype == np.float32, loss, "`inverse_link` must keep float32")
    if loss.has_conjugate:
        u = loss.derivative(y, z)
        require(loss.conjugate(y, u).dtype == np.float32, loss, "`conjugate` must keep float32")


def targets_are_separate(loss: Loss, rng: np.random.Generator) -> None:
    """Require several targets at once to be several losses side by side."""
    if loss.per_class:
        return
    y = np.stack([sample_targets(loss, rng, N_ROWS) for _ in range(3)], axis=1)
    z = np.stack([sample_predictions(loss, column, rng) for column in y.T], axis=1)
    for name in ("value", "derivative", "curvature"):
        together = getattr(loss, name)(y, z)
        apart = [getattr(loss, name)(y[:, t], z[:, t]) for t in range(3)]
        same = np.array_equal(together, np.stack(apart, axis=1))
        require(same, loss, f"`{name}` must treat targets separately")
    s = rng.uniform(0.5, 1.5, N_ROWS)
    together = loss.null_prediction(y, s)
    apart = [loss.null_prediction(y[:, t], s) for t in range(3)]
    slack = rounding(np.float64, together)
    require(np.abs(together - apart) <= slack, loss, "`null_prediction` must be per target")


CONVENTION_LAWS: Final[tuple[LossLaw, ...]] = (
    null_prediction_is_best,
    weights_are_repetitions,
    links_are_inverse,
    bad_targets_are_named,
    float_type_is_kept,
    targets_are_separate,
)
