"""The weight of each class: none, in inverse proportion to its frequency, or as the user says.

A class weight multiplies the weights of the rows of the class, so class weights are sample weights:
"balanced" gives class k the factor ``W / (K W_k)``, W_k being the sum of its sample weights and W
that of all rows; every class then weighs the same and the total is what it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tikhon.data.labels import Labels, label_text
from tikhon.typing import Float64Array

__all__ = ["class_factors", "weigh_rows"]


def class_factors(
    class_weight: Any, labels: Labels, sample_weight: Float64Array | None
) -> Float64Array:
    """Return the factor of each class, (K,)."""
    count = len(labels.classes)
    if class_weight is None:
        return np.ones(count)
    if isinstance(class_weight, str) and class_weight == "balanced":
        total = np.bincount(labels.index, weights=sample_weight, minlength=count)
        return np.asarray(total.sum() / (count * total))
    if not isinstance(class_weight, Mapping):
        raise ValueError(
            "`class_weight` must be None, 'balanced' or a dict from class to weight, "
            f"got {class_weight!r}."
        )
    return _given(class_weight, labels)


def _given(class_weight: Mapping[Any, Any], labels: Labels) -> Float64Array:
    """Weights by class; classes that are not named keep the weight 1."""
    known = labels.classes.tolist()
    unknown = [key for key in class_weight if key not in known]
    if unknown:
        raise ValueError(
            f"`class_weight` names {label_text(unknown[0])}, which is no class of `y`; the classes "
            f"are {', '.join(label_text(label) for label in known[:10])}."
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in known])
    bad = np.flatnonzero(~((factors > 0) & np.isfinite(factors)))
    if bad.size:
        raise ValueError(
            f"`class_weight` must be positive and finite, got {factors[bad[0]]:g} for class "
            f"{label_text(known[bad[0]])}. Leave the rows of a class out to ignore it."
        )
    return factors


def weigh_rows(
    factors: Float64Array, labels: Labels, sample_weight: Float64Array | None
) -> Float64Array | None:
    """Return row weights times the factor of each row's class; None where all are 1."""
    if np.all(factors == 1.0):
        return sample_weight
    weights = factors[labels.index]
    return weights if sample_weight is None else weights * sample_weight
