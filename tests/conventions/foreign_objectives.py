"""What each convention minimises, written down from its own documentation.

An objective is a function of the total loss (of the loss as it is defined there, not halved where
it is not halved there), of the sum of weights n, of the coefficients and of the parameters there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon import losses


@dataclass(frozen=True)
class Foreign:
    """A loss as it is defined there, its twin here, and how the objective is put together."""

    loss: Callable
    twin: Any
    value: Callable


def square(y, z):
    return (y - z) ** 2


def hinge(y, z):
    return np.maximum(0, 1 - y * z)


def squared_hinge(y, z):
    return np.maximum(0, 1 - y * z) ** 2


def logistic(y, z):
    return np.log1p(np.exp(-y * z))


def count(y, z):
    return np.exp(z) - y * z


def norm1(w):
    return np.sum(np.abs(w))


def norm2(w):
    return np.sum(w * w)


def mixed(w, mix):
    return mix * norm1(w) + (1 - mix) * norm2(w) / 2


def scaled_labels(strength, mix):
    """The elastic net on targets and coefficients over y_sd."""

    def value(total, n, w, p, y_sd):
        u = w / y_sd
        return total / y_sd**2 / (2 * n) + p[strength] / y_sd * mixed(u, p[mix])

    return value


def mean_mixed(strength, mix, half=1.0):
    return lambda total, n, w, p, _: total / (half * n) + p[strength] * mixed(w, p[mix])


def of(loss, value):
    twins = {
        square: losses.Squared(),
        hinge: losses.Hinge(),
        squared_hinge: losses.SquaredHinge(),
        logistic: losses.Logistic(),
        count: losses.Poisson(),
    }
    return Foreign(loss, twins[loss], value)


def cost_l2(total, n, w, p, y_sd):
    return p["C"] * total + norm2(w) / 2


def cost_l1(total, n, w, p, y_sd):
    return p["C"] * total + norm1(w)


def mean_plus_square(total, n, w, p, y_sd):
    return total / n + p["lambda_"] * norm2(w)


FOREIGN = {
    "sklearn.Ridge": of(square, lambda t, n, w, p, _: t + p["alpha"] * norm2(w)),
    "sklearn.Lasso": of(square, lambda t, n, w, p, _: t / (2 * n) + p["alpha"] * norm1(w)),
    "sklearn.ElasticNet": of(square, mean_mixed("alpha", "l1_ratio", 2)),
    "sklearn.PoissonRegressor": of(count, lambda t, n, w, p, _: t / n + p["alpha"] / 2 * norm2(w)),
    "sklearn.LogisticRegression": of(
        logistic, lambda t, n, w, p, _: p["C"] * t + mixed(w, p["l1_ratio"])
    ),
    "sklearn.LinearSVC": of(squared_hinge, cost_l2),
    "sklearn.LinearSVC.hinge": of(hinge, cost_l2),
    "sklearn.SVC": of(hinge, cost_l2),
    "liblinear.logistic": of(logistic, cost_l2),
    "liblinear.hinge": of(hinge, cost_l2),
    "liblinear.squared_hinge": of(squared_hinge, cost_l2),
    "liblinear.l1_logistic": of(logistic, cost_l1),
    "liblinear.l1_squared_hinge": of(squared_hinge, cost_l1),
    "libsvm": of(hinge, cost_l2),
    "celer.Lasso": of(square, lambda t, n, w, p, _: t / (2 * n) + p["alpha"] * norm1(w)),
    "celer.ElasticNet": of(square, mean_mixed("alpha", "l1_ratio", 2)),
    "skglm.ElasticNet": of(square, mean_mixed("alpha", "l1_ratio", 2)),
    "celer.LogisticRegression": of(logistic, lambda t, n, w, p, _: t + norm1(w) / p["C"]),
    "skglm.SparseLogisticRegression": of(logistic, mean_mixed("alpha", "l1_ratio")),
    "skglm.LinearSVC": of(hinge, cost_l2),
    "adelie.grpnet": of(logistic, mean_mixed("lmda", "alpha")),
    "glum.GeneralizedLinearRegressor": of(count, mean_mixed("alpha", "l1_ratio")),
    "statsmodels.OLS": of(square, mean_mixed("alpha", "L1_wt", 2)),
    "statsmodels.GLM": of(count, mean_mixed("alpha", "L1_wt")),
    "statsmodels.Logit": of(logistic, lambda t, n, w, p, _: t + p["alpha"] * norm1(w)),
    "glmnet.gaussian": of(square, scaled_labels("lambda_", "alpha")),
    "glmnet.binomial": of(logistic, mean_mixed("lambda_", "alpha")),
    "spark.LinearRegression": of(square, scaled_labels("regParam", "elasticNetParam")),
    "spark.LogisticRegression": of(logistic, mean_mixed("regParam", "elasticNetParam")),
    "spark.LinearSVC": of(hinge, lambda t, n, w, p, _: t / n + p["regParam"] / 2 * norm2(w)),
    "vw.sgd.squared": of(
        square, lambda t, n, w, p, _: t + n * (p["l1"] * norm1(w) + p["l2"] / 2 * norm2(w))
    ),
    "vw.sgd.logistic": of(
        logistic, lambda t, n, w, p, _: t + n * (p["l1"] * norm1(w) + p["l2"] / 2 * norm2(w))
    ),
    "vw.bfgs.squared": of(square, lambda t, n, w, p, _: t + p["l2"] / 2 * norm2(w)),
    "vw.bfgs.logistic": of(logistic, lambda t, n, w, p, _: t + p["l2"] / 2 * norm2(w)),
    "lecture000.least_squares": of(square, mean_plus_square),
    "lecture000.logistic": of(logistic, mean_plus_square),
    "lecture000.hinge": of(hinge, mean_plus_square),
    "lecture000.svm": of(hinge, lambda t, n, w, p, _: norm2(w) + p["C"] * t),
    "lecture001.ridge": of(square, lambda t, n, w, p, _: t / (2 * n) + p["lambda_"] * norm2(w)),
    "lecture001.sgd": of(hinge, lambda t, n, w, p, _: t / n + p["lambda_"] / 2 * norm2(w)),
    "lecture002.ridge": of(square, lambda t, n, w, p, _: t + p["lambda_"] * norm2(w)),
    "lecture002.lasso": of(square, lambda t, n, w, p, _: t / 2 + p["lambda_"] * norm1(w)),
    "lecture003.l2": of(square, mean_plus_square),
    "lecture003.l1": of(square, lambda t, n, w, p, _: t / n + p["lambda_"] * norm1(w)),
    "lecture004.elastic_net": of(
        square,
        lambda t, n, w, p, _: t / n + p["lambda_1"] * norm1(w) + p["lambda_2"] * norm2(w),
    ),
}
"""By name of the row; `lecture000.hinge`, an alias, has its own loss."""
