"""The multinomial loss ``-log softmax_y(z)``: several classes at once.

The only loss whose prediction has one column per class. It couples the columns: its second
derivative is a matrix for each row.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tikhon.losses.base import Loss
from tikhon.losses.location import normalised_weights
from tikhon.losses.targets import first_problem, not_numeric
from tikhon.numerics import DOMAIN_SLACK, clip_within, exp, log, xlog1py, xlogx
from tikhon.typing import FloatArray


@dataclass(frozen=True, slots=True)
class Multinomial(Loss):
    """The negative log-likelihood of a class code y in 0..K-1, with log-weights z of K columns.

    ``loss(y, z) = log(sum_k exp(z_k)) - z_y`` and, for ``p = u + onehot(y)`` in the simplex,
    ``loss*(y, u) = sum_k p_k log(p_k)``.

    sqrt(2)-Lipschitz and 1/2-smooth in the 2-norm over classes. The largest entry of z is taken
    out of the sum of exponentials, so that the loss of a well predicted row keeps its relative
    accuracy.

    Examples
    --------
    >>> y, z = np.array([0, 2]), np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1e308]])
    >>> Multinomial().value(y, z)
    array([1.09861229, 0.        ])
    >>> Multinomial().derivative(y, z).round(3)
    array([[-0.667,  0.333,  0.333],
           [ 0.   ,  0.   , -0.   ]])
    """

    name: ClassVar[str] = "multinomial"
    classification: ClassVar[bool] = True
    per_class: ClassVar[bool] = True
    has_conjugate: ClassVar[bool] = True
    likelihood: ClassVar[str] = "exact"
    link_name: ClassVar[str] = "softmax"

    @property
    def lipschitz(self) -> float:
        """Return sqrt(2), approached when another class is all but certain."""
        return float(np.sqrt(2))

    @property
    def smoothness(self) -> float:
        """Return 1/2, attained when two classes share all the probability."""
        return 0.5

    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``log(sum_k exp(z_k)) - z_y``, shape (n,)."""
        top, _, rest, _ = _exponentials(z)
        with np.errstate(over="ignore"):
            behind = np.max(z, axis=-1) - _at(z, y)
        # Two non-negative terms: nothing cancels, whichever class is on top.
        return np.asarray(np.where(top == _codes(y), 0, behind) + np.log1p(rest))

    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``softmax(z) - onehot(y)``, shape (n, K).

        The entry of class y is minus the sum of the others, free of the cancellation in p - 1.
        """
        p = self.inverse_link(z)
        others = np.where(_onehot(y, p.shape[-1]), 0, p)
        return np.where(_onehot(y, p.shape[-1]), -others.sum(axis=-1, keepdims=True), p)

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the diagonal ``p (1 - p)`` of the second derivative, shape (n, K)."""
        top, parts, rest, total = _exponentials(z)
        p = parts / total[..., None]
        # 1 - p cancels only for the class on top, and there it is what the others have.
        is_top = _onehot(top, p.shape[-1])
        return np.asarray(p * np.where(is_top, (rest / total)[..., None], 1 - p))

    def hessian(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the second derivative ``diag(p) - p p'``, shape (n, K, K)."""
        p = self.inverse_link(z)
        diagonal = np.eye(p.shape[-1], dtype=bool)
        return np.where(
            diagonal, self.curvature(y, z)[..., None], -p[..., :, None] * p[..., None, :]
        )

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``sum_k p_k log(p_k)`` with ``p = u + onehot(y)``, shape (n,).

        Entries at most 8 eps below 0 are taken as 0, and sums within 8 K eps of 1 as 1. The term
        of class y is computed from u itself, which still tells 1 - p when p has rounded to 1.
        """
        u = np.asarray(u)
        hot = _onehot(y, u.shape[-1])
        p, inside = clip_within(u + hot, 0.0, 1.0)
        slack = DOMAIN_SLACK * u.shape[-1] * np.finfo(p.dtype).eps
        in_simplex = inside.all(axis=-1) & (np.abs(u.sum(axis=-1)) <= slack)
        terms = np.where(hot, xlog1py(p, np.clip(u, -1, 0)), xlogx(p))
        return np.where(in_simplex, terms.sum(axis=-1), np.inf)

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:
        """Return ``p - onehot(y)`` with p the Euclidean projection of ``u + onehot(y)``."""
        hot = _onehot(y, np.shape(u)[-1])
        p = _project_to_simplex(u + hot)
        others = np.where(hot, 0, p)
        return np.where(hot, -others.sum(axis=-1, keepdims=True), p)

    def link(self, mean: FloatArray) -> FloatArray:
        """Return ``log(mean)`` centred over the classes with positive probability.

        Softmax ignores a constant added to all classes; centring picks one. Impossible classes
        get ``-inf``.
        """
        logs = log(np.asarray(mean))
        finite = np.isfinite(logs)
        count = finite.sum(axis=-1, keepdims=True)
        centre = np.where(finite, logs, 0).sum(axis=-1, keepdims=True) / count
        return np.asarray(logs - centre.astype(logs.dtype))

    def inverse_link(self, z: FloatArray) -> FloatArray:
        """Return ``softmax(z)`` over the last axis."""
        _, parts, _, total = _exponentials(z)
        return np.asarray(parts / total[..., None])

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if `y` holds every code of 0..K-1, else a sentence."""
        problem = not_numeric(y) or first_problem(
            y,
            np.greater_equal(y, 0) & (np.floor(y) == y),
            "Targets of the multinomial loss must be class codes 0, 1, 2, ...",
            "Number the classes from 0.",
        )
        if problem:
            return problem
        present = np.unique(y)
        missing = np.flatnonzero(present != np.arange(len(present)))
        if not len(missing):
            return None
        return (
            f"Targets of the multinomial loss must use every code up to the largest, got no "
            f"{missing[0]} below {present[-1]:g}. Number the classes without gaps."
        )

    def null_prediction(
        self, y: FloatArray, s: FloatArray | None = None, *, n_classes: int | None = None
    ) -> FloatArray:
        """Return the centred logs of the weighted class frequencies, shape (K,).

        ``-inf`` for a class without weight. K is the largest code plus one unless `n_classes` is
        given, as it must be when the last class is absent from a fold.
        """
        weights = normalised_weights(y, s)
        frequencies = np.bincount(_codes(y), weights, minlength=n_classes or 0)
        return self.link(frequencies.astype(np.float64))


def _codes(y: npt.ArrayLike) -> npt.NDArray[np.intp]:
    return np.asarray(y).astype(np.intp)


def _onehot(y: npt.ArrayLike, n_classes: int) -> npt.NDArray[np.bool_]:
    return np.asarray(_codes(y)[..., None] == np.arange(n_classes))


def _at(z: FloatArray, y: npt.ArrayLike) -> FloatArray:
    return np.take_along_axis(z, _codes(y)[..., None], axis=-1)[..., 0]


def _exponentials(
    z: FloatArray,
) -> tuple[npt.NDArray[np.intp], FloatArray, FloatArray, FloatArray]:
    """Return the class on top, ``exp(z - max)``, its sum without the top, and the full sum."""
    top = np.argmax(z, axis=-1)
    with np.errstate(over="ignore"):
        parts = exp(z - _at(z, top)[..., None])
    rest = np.where(_onehot(top, parts.shape[-1]), 0, parts).sum(axis=-1)
    return top, parts, rest, 1 + rest


def _project_to_simplex(p: FloatArray) -> FloatArray:
    """Return the nearest point with non-negative entries of sum one: ``max(p - shift, 0)``.

    With entries sorted downward, the shift is the largest of the values that make the first k of
    them sum to one.
    """
    ordered = np.sort(p, axis=-1)[..., ::-1]
    counts = np.arange(1, p.shape[-1] + 1, dtype=p.dtype)
    shift = ((np.cumsum(ordered, axis=-1) - 1) / counts).max(axis=-1, keepdims=True)
    return np.asarray(np.maximum(p - shift, 0))
