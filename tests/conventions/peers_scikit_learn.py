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


SQUARED, POISSON, GAMMA = losses.Squared(), losses.Poisson(), losses.Gamma()
LOGISTIC, MULTINOMIAL, HINGE = losses.Logistic(), losses.Multinomial(), losses.Hinge()
SQUARED_HINGE, TUBE = losses.SquaredHinge(), losses.EpsilonInsensitive(0.1)
MIXED = {} if sklearn_version() >= (1, 8) else {"penalty": "elasticnet"}

LASSO = lm("Lasso", tol=1e-14, max_iter=100_000)
ELASTIC_NET = lm("ElasticNet", tol=1e-14, max_iter=100_000)
NEWTON = {"solver": "newton-cholesky", "tol": 1e-12, "max_iter": 100}
COUNTS = lm("PoissonRegressor", **NEWTON)
LOGIT = lm("LogisticRegression", **NEWTON)
SAGA = lm("LogisticRegression", **MIXED, solver="saga", tol=1e-12, max_iter=20_000)
LIBLINEAR = {"tol": 1e-10, "max_iter": 1_000_000, "fit_intercept": False}
SVC_SQUARED = svm("LinearSVC", dual=False, **LIBLINEAR)
SVC_HINGE = svm("LinearSVC", loss="hinge", dual=True, **LIBLINEAR)
SVR_LINEAR = svm("LinearSVR", epsilon=0.1, dual=True, **LIBLINEAR)
SVC = svm("SVC", kernel="linear", tol=1e-10)
SVR = svm("SVR", epsilon=0.1, kernel="linear", tol=1e-10)

SVM = "sklearn.LinearSVC"
CASES = [
    Case("sklearn.Ridge", SQUARED, lm("Ridge"), 1e-14),
    Case("sklearn.Ridge", SQUARED, lm("Ridge"), 1e-14, "weighted", weighted=True),
    Case("sklearn.RidgeClassifier", SQUARED, lm("RidgeClassifier"), 1e-14, target="sign"),
    Case("sklearn.KernelRidge", SQUARED, kernel_ridge, 1e-14, intercept=False),
    Case("sklearn.Lasso", SQUARED, LASSO, 1e-12, l1_ratio=1.0),
    Case("sklearn.Lasso", SQUARED, LASSO, 1e-12, "weighted", l1_ratio=1.0, weighted=True),
    Case("sklearn.ElasticNet", SQUARED, ELASTIC_NET, 1e-12, l1_ratio=0.4),
    Case("sklearn.PoissonRegressor", POISSON, COUNTS, 1e-12),
    Case("sklearn.PoissonRegressor", POISSON, COUNTS, 1e-12, "weighted", weighted=True),
    Case("sklearn.GammaRegressor", GAMMA, lm("GammaRegressor", **NEWTON), 1e-12),
    Case("sklearn.LogisticRegression", LOGISTIC, LOGIT, 1e-12),
    Case("sklearn.LogisticRegression", LOGISTIC, LOGIT, 1e-12, "weighted", weighted=True),
    Case("sklearn.LogisticRegression", LOGISTIC, SAGA, 1e-10, "elastic net", l1_ratio=0.4),
    Case("sklearn.LogisticRegression", MULTINOMIAL, LOGIT, 1e-12, "multinomial"),
    Case(SVM, SQUARED_HINGE, SVC_SQUARED, 1e-12, intercept=False),
    Case(SVM, SQUARED_HINGE, SVC_SQUARED, 1e-12, "weighted", intercept=False, weighted=True),
    Case("sklearn.LinearSVC.hinge", HINGE, SVC_HINGE, 1e-9, lam=0.3, intercept=False),
    Case("sklearn.LinearSVR", TUBE, SVR_LINEAR, 1e-9, target="centred", lam=0.3, intercept=False),
    Case("sklearn.SVC", HINGE, SVC, 1e-8),
    Case("sklearn.SVC", HINGE, SVC, 1e-8, "weighted", weighted=True),
    Case("sklearn.SVR", TUBE, SVR, 1e-8),
]
