"""What theory asks of a fitted model: its loss, its coefficients, and how they were penalised.

Any linear model with `coef_`, `intercept_` and `lam_` will do. Its loss is its own `loss_` or
`loss` where that is a `Loss`, else the one its class is known for; its L2 strength is `lam_`
times the curvature of its penalty: 1 for ridge, ``1 - l1_ratio`` for the elastic net, 0 for the
lasso.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.data.design import Design
from tikhon.errors import UnsupportedError
from tikhon.losses.base import Loss
from tikhon.losses.hinge import Hinge
from tikhon.losses.huber import Huber
from tikhon.losses.logistic import Logistic
from tikhon.losses.squared import Squared
from tikhon.losses.squared_hinge import SquaredHinge
from tikhon.penalties.base import Penalty
from tikhon.typing import Float64Array

__all__ = ["LinearModel", "loss_of", "parameters_of", "signs_of"]


def _machine_loss(model: Any) -> Loss:
    return SquaredHinge() if getattr(model, "loss", "hinge") == "squared_hinge" else Hinge()


def _huber_loss(model: Any) -> Loss:
    return Huber(float(getattr(model, "delta_", getattr(model, "delta", 1.35))))


LOSS_OF_CLASS: Mapping[str, Callable[[Any], Loss]] = {
    "Ridge": lambda _: Squared(),
    "Lasso": lambda _: Squared(),
    "ElasticNet": lambda _: Squared(),
    "LinearRegression": lambda _: Squared(),
    "RidgeClassifier": lambda _: Squared(),
    "GeneralizedLinear": lambda _: Squared(),
    "LogisticRegression": lambda _: Logistic(),
    "LinearSVM": _machine_loss,
    "SVM": _machine_loss,
    "HuberRegressor": _huber_loss,
}
"""Estimators that do not carry their loss as an object."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearModel:
    """A fitted linear model on its training rows, in the coordinates in which it is penalised.

    Attributes
    ----------
    name : str
    loss : Loss
    design : Design
    y : ndarray of shape (n,)
        Targets; classes as -1 and +1. Less their mean, for the squared loss with an intercept.
    w : ndarray of shape (d,)
        Coefficients of ``(x - mean) / scale``.
    z : ndarray of shape (n,)
        Predictions of the training rows.
    mean, scale : ndarray of shape (d,)
    lam : float
    ridge : float
        The L2 part of the strength.
    intercept, standardized, classes, alike, balanced, chosen : bool
        Whether there is an intercept, columns are scaled by the sample, targets are classes, every
        coefficient is penalised alike, classes have weights, and the strength was chosen on these
        rows.
    """

    name: str
    loss: Loss
    design: Design
    y: Float64Array
    w: Float64Array
    z: Float64Array
    mean: Float64Array
    scale: Float64Array
    lam: float
    ridge: float
    intercept: bool
    standardized: bool
    classes: bool
    alike: bool
    balanced: bool
    chosen: bool

    @classmethod
    def of(cls, model: Any, X: Any, y: Any, loss: Loss | None = None) -> LinearModel:
        """Read a fitted model and its training rows."""
        for name in ("coef_", "intercept_", "lam_"):
            if not hasattr(model, name):
                raise UnsupportedError(
                    f"theory needs a fitted linear model with `{name}`, and {type(model).__name__} "
                    "has none. Fit it first, or use tk.Ridge, tk.Lasso or tk.ElasticNet."
                )
        found = loss_of(model) if loss is None else loss
        coef, offset = one_output(model)
        design = as_design(X)
        classes = found.classification or hasattr(model, "classes_")
        target = signs_of(model, y) if classes else np.asarray(y, dtype=np.float64)
        if target.shape != (design.shape[0],):
            raise ValueError(
                f"`y` must have one number per row, shape {(design.shape[0],)}, got {target.shape}."
            )
        parameters = parameters_of(model)
        intercept = bool(parameters.get("fit_intercept", True))
        standardized = parameters.get("standardize", False)
        if standardized is None:
            standardized = parameters.get("norm") is None and parameters.get("prior") is None
        columns = design.stats()
        mean = columns.mean if intercept else np.zeros(design.shape[1])
        scale = columns.scale if standardized else np.ones(design.shape[1])
        lam = float(np.max(model.lam_))
        z = np.asarray(design.predict(coef) + offset)
        return cls(
            name=type(model).__name__,
            loss=found,
            design=design,
            y=target,
            w=coef * scale,
            z=z,
            mean=mean,
            scale=scale,
            lam=lam,
            ridge=lam * _curvature(model, parameters),
            intercept=intercept,
            standardized=bool(standardized),
            classes=classes,
            alike=parameters.get("weights") is None,
            balanced=parameters.get("class_weight") is not None,
            chosen=getattr(model, "study_", None) is not None,
        )

    @property
    def centred_target(self) -> Float64Array:
        """The targets that are left to the coefficients: for the squared loss, less their mean."""
        centre = self.intercept and not self.loss.classification
        return self.y - self.y.mean() if centre else self.y

    def training_losses(self) -> Float64Array:
        """The loss of each training row."""
        return np.asarray(self.loss.value(self.y, self.z), dtype=np.float64)

    def null_loss(self) -> float:
        """The mean loss of the best constant (of 0 without an intercept) on the training rows."""
        constant = self.loss.null_prediction(self.y) if self.intercept else np.zeros(())
        return float(np.mean(self.loss.value(self.y, np.broadcast_to(constant, self.y.shape))))


def parameters_of(model: Any) -> dict[str, Any]:
    """Return the constructor's arguments of an estimator, by scikit-learn's protocol."""
    if not callable(getattr(model, "get_params", None)):
        raise UnsupportedError(
            f"theory needs an estimator with `get_params`, got {type(model).__name__}."
        )
    return dict(model.get_params(deep=False))


def loss_of(model: Any) -> Loss:
    """Return the loss that a model minimises."""
    for name in ("loss_", "loss"):
        found = getattr(model, name, None)
        if isinstance(found, Loss):
            return found
    for kind in type(model).__mro__:
        if kind.__name__ in LOSS_OF_CLASS:
            return LOSS_OF_CLASS[kind.__name__](model)
    raise UnsupportedError(
        f"the loss of {type(model).__name__} is not known: give `loss`, one of tk.losses."
    )


def one_output(model: Any) -> tuple[Float64Array, float]:
    """Return coefficients (d,) and intercept of a model with one output."""
    coef = np.asarray(model.coef_, dtype=np.float64)
    if coef.ndim == 2 and len(coef) == 1:
        coef = coef[0]
    if coef.ndim != 1:
        raise UnsupportedError(
            f"theory's bounds are for one output, and `coef_` has shape {coef.shape}; fit the "
            "targets (or one class against the rest) one by one."
        )
    return coef, float(np.ravel(model.intercept_)[0])


def signs_of(model: Any, y: Any) -> Float64Array:
    """Return classes as -1 and +1, in the order of `classes_`."""
    labels = np.asarray(y)
    classes = getattr(model, "classes_", None)
    if classes is None:
        classes = np.unique(labels)
    if len(classes) != 2:
        raise UnsupportedError(
            f"theory's bounds are for two classes, got {len(classes)}; fit one class against the "
            "rest."
        )
    unknown = ~np.isin(labels, classes)
    if unknown.any():
        raise ValueError(f"`y` holds {labels[unknown][0]!r}, which is none of {list(classes)}.")
    return np.where(labels == classes[1], 1.0, -1.0)


def _curvature(model: Any, parameters: dict[str, Any]) -> float:
    """The share of the strength that is L2."""
    for name in ("penalty_", "penalty"):
        penalty = getattr(model, name, None)
        if isinstance(penalty, Penalty):
            return float(penalty.strong_convexity)
    if any(kind.__name__ == "Lasso" for kind in type(model).__mro__):
        return 0.0
    ratio = getattr(model, "l1_ratio_", parameters.get("l1_ratio", 0.0))
    return 1.0 - float(0.0 if ratio is None else ratio)
