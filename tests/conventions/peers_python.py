"""celer, skglm, adelie, glum and statsmodels."""

import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from peer_case import Case

from tikhon import losses

ROOT = Path(__file__).resolve().parents[2]
SQUARED, LOGISTIC, POISSON = losses.Squared(), losses.Logistic(), losses.Poisson()
GAMMA, HINGE = losses.Gamma(), losses.Hinge()


def estimator(module, kind, **fixed):
    """A fit by an estimator of scikit-learn's kind."""

    def fit(X, y, s, **parameters):
        package = pytest.importorskip(module)
        model = getattr(package, kind)(**fixed, **parameters)
        model = model.fit(X, y) if s is None else model.fit(X, y, sample_weight=s)
        return np.ravel(model.coef_), float(np.ravel(model.intercept_)[0])

    return fit


def adelie(family):
    """A fit by adelie, in an interpreter of its own."""

    def fit(X, y, s, lmda, alpha):
        python = Path(os.environ.get("TIKHON_ADELIE_PYTHON", ROOT / ".venvs/adelie/bin/python"))
        if not python.exists():
            pytest.skip("adelie needs an interpreter with NumPy 1: name it in TIKHON_ADELIE_PYTHON")
        assert s is None
        with tempfile.TemporaryDirectory() as folder:
            asked, answered = Path(folder) / "asked.npz", Path(folder) / "answered.npz"
            given = (y + 1) / 2 if family == "binomial" else y
            np.savez(asked, X=X, y=given, lmda=lmda, alpha=alpha, family=family)
            script = Path(__file__).with_name("adelie_fit.py")
            subprocess.run([python, script, asked, answered], check=True, capture_output=True)
            with np.load(answered) as found:
                return found["w"], float(found["b"])

    return fit


SLSQP = {"method": "l1_slsqp", "acc": 1e-14, "trim_mode": "off"}
# Coordinates that pass through 0 in a sweep stay there: columns for which none does.
APART = (1, 2, 3, 6, 8)
SWEEPS = {"maxiter": 2000, "cnvrg_tol": 1e-13, "zero_tol": 1e-12}


def with_constant(X, alpha):
    """A constant column in front, and a vector of strengths that leaves it alone."""
    return np.column_stack([np.ones(len(X)), X]), np.append(0.0, np.full(X.shape[1], alpha))


def statsmodels_linear(X, y, s, alpha, L1_wt):
    api = pytest.importorskip("statsmodels.api")
    columns, strengths = with_constant(X, alpha)
    model = api.OLS(y, columns) if s is None else api.WLS(y, columns, weights=s)
    options = {} if L1_wt == 0 else SWEEPS
    found = model.fit_regularized(alpha=strengths, L1_wt=L1_wt, **options).params
    return found[1:], found[0]


def statsmodels_glm(family, link=None):
    def fit(X, y, s, alpha, L1_wt):
        api = pytest.importorskip("statsmodels.api")
        assert s is None
        columns, strengths = with_constant(X, alpha)
        options = {} if link is None else {"link": getattr(api.families.links, link)()}
        made = getattr(api.families, family)(**options)
        given = (y + 1) / 2 if family == "Binomial" else y
        model = api.GLM(given, columns, family=made)
        options = SLSQP if L1_wt == 1 else SWEEPS
        found = model.fit_regularized(alpha=strengths, L1_wt=L1_wt, **options).params
        return found[1:], found[0]

    return fit


def statsmodels_discrete(kind):
    def fit(X, y, s, alpha):
        api = pytest.importorskip("statsmodels.api")
        assert s is None
        columns, strengths = with_constant(X, alpha)
        given = (y + 1) / 2 if kind == "Logit" else y
        model = getattr(api, kind)(given, columns)
        options = {"acc": 1e-14, "maxiter": 1000, "disp": 0, "trim_mode": "off"}
        found = model.fit_regularized(alpha=strengths, **options).params
        return found[1:], found[0]

    return fit


def celer(kind):
    return estimator("celer", kind, tol=1e-14, max_iter=1000, max_epochs=100_000)


def skglm(kind, **fixed):
    return estimator("skglm", kind, tol=1e-12, max_iter=1000, **fixed)


def glum(family):
    options = {"family": family, "gradient_tol": 1e-11, "max_iter": 1000}
    return estimator("glum", "GeneralizedLinearRegressor", **options)


OLS = statsmodels_linear
GLUM = "glum.GeneralizedLinearRegressor"
SPARSE = "skglm.SparseLogisticRegression"
CELER_LOGISTIC = estimator("celer", "LogisticRegression", fit_intercept=False, tol=1e-12)
SPARSE_LOGISTIC = skglm("SparseLogisticRegression")
BINOMIAL, GAUSSIAN = statsmodels_glm("Binomial"), statsmodels_glm("Gaussian")
COUNTS, POSITIVE = statsmodels_glm("Poisson"), statsmodels_glm("Gamma", "Log")
LOGIT, DISCRETE = statsmodels_discrete("Logit"), statsmodels_discrete("Poisson")
SVC = skglm("LinearSVC", max_epochs=100_000)
MIX = 0.4

CASES = [
    Case("celer.Lasso", SQUARED, celer("Lasso"), 1e-12, l1_ratio=1.0),
    Case("celer.ElasticNet", SQUARED, celer("ElasticNet"), 1e-12, l1_ratio=MIX),
    Case(
        "celer.LogisticRegression", LOGISTIC, CELER_LOGISTIC, 1e-10, l1_ratio=1.0, intercept=False
    ),
    Case("skglm.Lasso", SQUARED, skglm("Lasso"), 1e-11, l1_ratio=1.0),
    Case("skglm.ElasticNet", SQUARED, skglm("ElasticNet"), 1e-11, l1_ratio=MIX),
    Case(SPARSE, LOGISTIC, SPARSE_LOGISTIC, 1e-11, l1_ratio=1.0),
    Case(SPARSE, LOGISTIC, SPARSE_LOGISTIC, 1e-11, "elastic net", l1_ratio=MIX),
    Case("skglm.LinearSVC", HINGE, SVC, 1e-9, lam=0.3, intercept=False),
    Case("adelie.grpnet", SQUARED, adelie("gaussian"), 1e-12, "gaussian", l1_ratio=MIX),
    Case("adelie.grpnet", LOGISTIC, adelie("binomial"), 1e-12, "binomial", l1_ratio=MIX),
    Case("adelie.grpnet", POISSON, adelie("poisson"), 1e-12, "poisson", l1_ratio=MIX),
    Case(GLUM, SQUARED, glum("normal"), 1e-12, "weighted", l1_ratio=MIX, weighted=True),
    Case(GLUM, POISSON, glum("poisson"), 1e-12, "poisson", l1_ratio=MIX),
    Case(GLUM, GAMMA, glum("gamma"), 1e-12, "gamma"),
    Case("statsmodels.OLS", SQUARED, OLS, 1e-12, "L2"),
    Case("statsmodels.OLS", SQUARED, OLS, 1e-10, "mixed", l1_ratio=MIX, columns=APART),
    Case("statsmodels.WLS", SQUARED, OLS, 1e-10, l1_ratio=MIX, columns=APART, weighted=True),
    Case("statsmodels.GLM", SQUARED, GAUSSIAN, 1e-10, "Gaussian", l1_ratio=MIX, columns=APART),
    Case("statsmodels.GLM", SQUARED, GAUSSIAN, 1e-6, "Gaussian, L1", l1_ratio=1.0),
    Case("statsmodels.GLM", LOGISTIC, BINOMIAL, 1e-10, "Binomial", l1_ratio=MIX, columns=APART),
    Case("statsmodels.GLM", POISSON, COUNTS, 1e-10, "Poisson", l1_ratio=MIX, columns=APART),
    Case("statsmodels.GLM", POISSON, COUNTS, 1e-8, "Poisson, L2"),
    Case("statsmodels.GLM", GAMMA, POSITIVE, 1e-10, "Gamma", l1_ratio=MIX, columns=APART),
    Case("statsmodels.Logit", LOGISTIC, LOGIT, 1e-7, l1_ratio=1.0),
    Case("statsmodels.Poisson", POISSON, DISCRETE, 1e-7, l1_ratio=1.0),
]
