"""scikit-learn at its tightest tolerances."""

import numpy as np
import sklearn
from peer_case import Case

from tikhon import losses


def sklearn_version():
    return tuple(int(part) for part in sklearn.__version__.split(".")[:2])


def linear(module, kind, **fixed):
    """A fit by an estimator with `coef_` and `intercept_`."""

    def fit(X, y, s, **parameters):
        estimator = getattr(__import__(f"sklearn.{module}", fromlist=[kind]), kind)
        model = estimator(**fixed, **parameters).fit(X, y, sample_weight=s)
        coef, intercept = np.asarray(model.coef_), np.asarray(model.intercept_)
        if len(coef) > 1 and coef.ndim == 2:
            return coef.T, intercept
        return coef.ravel(), float(intercept.ravel()[0])

    return fit


def kernel_ridge(X, y, s, alpha):
    from sklearn.kernel_ridge import KernelRidge

    model = KernelRidge(alpha=alpha).fit(X, y, sample_weight=s)
    return X.T @ model.dual_coef_, 0.0


def lm(kind, **fixed):
    return linear("linear_model", kind, **fixed)


def svm(kind, **fixed):
    return linear("svm", kind, **fixed)


SQUARED, LOGISTIC, HINGE = losses.Squared(), losses.Logistic(), losses.Hinge()
SQUARED_HINGE, TUBE = losses.SquaredHinge(), losses.EpsilonInsensitive(0.1)
COORDINATES = {"tol": 1e-14, "max_iter": 100_000}
NEWTON = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 100}
MIXED = {} if sklearn_version() >= (1, 8) else {"penalty": "elasticnet"}
SAGA = MIXED | {"solver": "saga", "tol": 1e-12, "max_iter": 20_000}
LIBLINEAR = {"tol": 1e-10, "max_iter": 1_000_000, "fit_intercept": False}
KERNEL = {"kernel": "linear", "tol": 1e-10}

CASES = [
    Case("sklearn.Ridge", "", SQUARED, "real", lm("Ridge"), 1e-14),
    Case("sklearn.Ridge", "weighted", SQUARED, "real", lm("Ridge"), 1e-14, weighted=True),
    Case("sklearn.RidgeClassifier", "", SQUARED, "sign", lm("RidgeClassifier"), 1e-14),
    Case("sklearn.KernelRidge", "", SQUARED, "centred", kernel_ridge, 1e-14, intercept=False),
    Case("sklearn.Lasso", "", SQUARED, "real", lm("Lasso", **COORDINATES), 1e-12, l1_ratio=1.0),
    Case(
        "sklearn.Lasso",
        "weighted",
        SQUARED,
        "real",
        lm("Lasso", **COORDINATES),
        1e-12,
        l1_ratio=1.0,
        weighted=True,
    ),
    Case(
        "sklearn.ElasticNet",
        "",
        SQUARED,
        "real",
        lm("ElasticNet", **COORDINATES),
        1e-12,
        l1_ratio=0.4,
    ),
    Case(
        "sklearn.PoissonRegressor",
        "",
        losses.Poisson(),
        "count",
        lm("PoissonRegressor", **NEWTON),
        1e-12,
    ),
    Case(
        "sklearn.PoissonRegressor",
        "weighted",
        losses.Poisson(),
        "count",
        lm("PoissonRegressor", **NEWTON),
        1e-12,
        weighted=True,
    ),
    Case(
        "sklearn.GammaRegressor",
        "",
        losses.Gamma(),
        "positive",
        lm("GammaRegressor", **NEWTON),
        1e-12,
    ),
    Case(
        "sklearn.LogisticRegression",
        "",
        LOGISTIC,
        "sign",
        lm("LogisticRegression", **NEWTON),
        1e-12,
    ),
    Case(
        "sklearn.LogisticRegression",
        "weighted",
        LOGISTIC,
        "sign",
        lm("LogisticRegression", **NEWTON),
        1e-12,
        weighted=True,
    ),
    Case(
        "sklearn.LogisticRegression",
        "elastic net",
        LOGISTIC,
        "sign",
        lm("LogisticRegression", **SAGA),
        1e-10,
        lam=0.05,
        l1_ratio=0.4,
    ),
    Case(
        "sklearn.LogisticRegression",
        "multinomial",
        losses.Multinomial(),
        "code",
        lm("LogisticRegression", **NEWTON),
        1e-12,
    ),
    Case(
        "sklearn.LinearSVC",
        "",
        SQUARED_HINGE,
        "sign",
        svm("LinearSVC", dual=False, **LIBLINEAR),
        1e-12,
        intercept=False,
    ),
    Case(
        "sklearn.LinearSVC",
        "weighted",
        SQUARED_HINGE,
        "sign",
        svm("LinearSVC", dual=False, **LIBLINEAR),
        1e-12,
        intercept=False,
        weighted=True,
    ),
    Case(
        "sklearn.LinearSVC.hinge",
        "",
        HINGE,
        "sign",
        svm("LinearSVC", loss="hinge", dual=True, **LIBLINEAR),
        1e-8,
        intercept=False,
    ),
    Case(
        "sklearn.LinearSVR",
        "",
        TUBE,
        "centred",
        svm("LinearSVR", epsilon=0.1, dual=True, **LIBLINEAR),
        1e-8,
        intercept=False,
    ),
    Case("sklearn.SVC", "", HINGE, "sign", svm("SVC", **KERNEL), 1e-8),
    Case("sklearn.SVC", "weighted", HINGE, "sign", svm("SVC", **KERNEL), 1e-8, weighted=True),
    Case("sklearn.SVR", "", TUBE, "real", svm("SVR", epsilon=0.1, **KERNEL), 1e-8),
]
