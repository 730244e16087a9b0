r"""The interface of a loss, and what a user's own loss inherits.

A loss is a convex function ``loss(y, z)`` of a prediction ``z = Xw + b``, for each target ``y``.
The objective averages it over the rows; the dual needs its conjugate

    loss*(y, u) = sup_z  u z - loss(y, z),

for which ``loss(y, z) + loss*(y, u) >= u z`` with equality exactly when u is a derivative at z.
Problems, solvers and certificates speak to losses through this interface alone; penalties do not
know of it.
"""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tikhon.losses.location import per_target, root_of_increasing
from tikhon.losses.targets import first_problem, not_numeric
from tikhon.typing import FloatArray


class Loss(ABC):
    """A convex loss of a prediction, elementwise.

    ``loss(y, z)``, convex in z for each y.

    Subclasses are frozen dataclasses: parameters are fields, so a loss is hashable, comparable and
    prints as the expression that makes it. A user's own loss defines `value` and `derivative`;
    `curvature` and `null_prediction` then come from differences and a root, and without a
    conjugate certificates report the KKT residual instead of a duality gap.

    Targets `y` and predictions `z` broadcast against each other: shape (n,) for one target,
    (n, n_targets) for several. Results come in the float type of the arguments.

    Attributes
    ----------
    name : str
        How messages and model files call it.
    classification : bool
        Whether targets are classes; but for `per_class`, they are then coded -1 and +1.
    per_class : bool
        Whether z has one column per class, and y holds class codes.
    has_conjugate : bool
        Whether `conjugate` and `feasible` are implemented.
    likelihood : str
        What minus the loss is, up to a constant of the data: "exact" for the logarithm of a
        likelihood, "normal" for that of a normal distribution times its unknown variance, "none"
        otherwise. Information criteria need it.
    link_name : str
        "identity", "logit", "softmax", "log", or "none" where z estimates no mean.

    Examples
    --------
    >>> class LogCosh(Loss):
    ...     name = "log-cosh"
    ...     def value(self, y, z):
    ...         return np.logaddexp(z - y, y - z) - float(np.log(2))
    ...     def derivative(self, y, z):
    ...         return np.tanh(z - y)
    >>> y = np.array([0.0, 1.0, 5.0])
    >>> LogCosh().curvature(y, y).round(6)
    array([1., 1., 1.])
    >>> float(LogCosh().null_prediction(y).round(6))
    1.174957
    """

    __slots__ = ()

    name: ClassVar[str] = "custom"
    classification: ClassVar[bool] = False
    per_class: ClassVar[bool] = False
    has_conjugate: ClassVar[bool] = False
    likelihood: ClassVar[str] = "none"
    link_name: ClassVar[str] = "identity"

    @property
    def lipschitz(self) -> float | None:
        """Return a bound on ``|derivative|`` over all z (2-norm over classes), None if unknown."""
        return None

    @property
    def smoothness(self) -> float | None:
        """Return the Lipschitz constant of the derivative in z, None if unknown or infinite."""
        return None

    @abstractmethod
    def value(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return ``loss(y, z)``."""

    @abstractmethod
    def derivative(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the derivative in z; at a kink, one subgradient."""

    def curvature(self, y: FloatArray, z: FloatArray) -> FloatArray:
        """Return the second derivative in z; here, a central difference of `derivative`.

        The step is ``eps^(1/3) max(1, |z|)``, which leaves about ten correct digits.
        """
        kind = np.result_type(y, z)
        wide = np.asarray(z, dtype=np.float64)
        step = np.cbrt(np.finfo(np.float64).eps) * np.maximum(1.0, np.abs(wide))
        with np.errstate(over="ignore", invalid="ignore"):
            above, below = wide + step, wide - step
            rise = self.derivative(y, above) - self.derivative(y, below)
            slope = rise / (above - below)
        return np.asarray(np.maximum(slope, 0), dtype=kind)

    def conjugate(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return ``sup_z u z - loss(y, z)``, ``inf`` outside its domain.

        Raises
        ------
        TypeError
            Where no closed form is given.
        """
        raise TypeError(self._no_conjugate("conjugate"))

    def feasible(self, y: FloatArray, u: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the point nearest to `u` in the domain of the conjugate.

        Raises
        ------
        TypeError
            Where no conjugate is given.
        """
        raise TypeError(self._no_conjugate("feasible"))

    def link(self, mean: FloatArray) -> FloatArray:
        """Return the prediction z that stands for `mean`."""
        return np.asarray(mean)

    def inverse_link(self, z: FloatArray) -> FloatArray:
        """Return the mean that the prediction `z` stands for."""
        return np.asarray(z)

    def check_targets(self, y: npt.ArrayLike) -> str | None:
        """Return None if `y` suits, else a sentence naming the problem and the remedy."""
        return not_numeric(y) or first_problem(y, True, "", "")

    def null_prediction(self, y: FloatArray, s: FloatArray | None = None) -> FloatArray:
        """Return the constant z that minimises ``sum_i s_i loss(y_i, z)``, one per target.

        Here, by a safe root of the mean derivative. ``inf`` or ``-inf`` where the infimum is only
        approached, as for a logistic loss and a single class.

        Parameters
        ----------
        y : array of shape (n,) or (n, n_targets)
        s : array of shape (n,), optional
            Weights, equal by default.

        Returns
        -------
        array of shape () or (n_targets,), float64
        """

        def minimise(target: FloatArray, weights: FloatArray) -> float:
            def slope(z: float) -> float:
                with np.errstate(over="ignore"):
                    return float(weights @ self.derivative(target, np.full_like(target, z)))

            return root_of_increasing(slope)

        return per_target(y, s, minimise)

    def _no_conjugate(self, method: str) -> str:
        return (
            f"{type(self).__name__} has no `{method}`, so no duality gap. Define `conjugate` and "
            "`feasible` and set `has_conjugate = True`, or rely on the KKT residual."
        )
