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


def statsmodels_glm(family, **link):
    def fit(X, y, s, alpha, L1_wt):
        api = pytest.importorskip("statsmodels.api")
        assert s is None
        columns, strengths = with_constant(X, alpha)
        made = getattr(api.families, family)(**{k: v(api) for k, v in link.items()})
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


CELER = {"tol": 1e-14, "max_iter": 1000, "max_epochs": 100_000}
SKGLM = {"tol": 1e-12, "max_iter": 1000}
GLUM = {"gradient_tol": 1e-11, "max_iter": 1000}


def glum(family, **kwargs):
    return estimator("glum", "GeneralizedLinearRegressor", family=family, **GLUM, **kwargs)


CASES = [
    Case(
        "celer.Lasso",
        "",
        SQUARED,
        "real",
        estimator("celer", "Lasso", **CELER),
        1e-12,
        l1_ratio=1.0,
    ),
    Case(
        "skglm.Lasso",
        "",
        SQUARED,
        "real",
        estimator("skglm", "Lasso", **SKGLM),
        1e-10,
        l1_ratio=1.0,
    ),
    Case(
        "celer.ElasticNet",
        "",
        SQUARED,
        "real",
        estimator("celer", "ElasticNet", **CELER),
        1e-12,
        l1_ratio=0.4,
    ),
    Case(
        "skglm.ElasticNet",
        "",
        SQUARED,
        "real",
        estimator("skglm", "ElasticNet", **SKGLM),
        1e-10,
        l1_ratio=0.4,
    ),
    Case(
        "celer.LogisticRegression",
        "",
        LOGISTIC,
        "sign",
        estimator("celer", "LogisticRegression", fit_intercept=False, tol=1e-12, max_iter=1000),
        1e-10,
        l1_ratio=1.0,
        intercept=False,
    ),
    Case(
        "skglm.SparseLogisticRegression",
        "",
        LOGISTIC,
        "sign",
        estimator("skglm", "SparseLogisticRegression", **SKGLM),
        1e-10,
        l1_ratio=1.0,
    ),
    Case(
        "skglm.SparseLogisticRegression",
        "elastic net",
        LOGISTIC,
        "sign",
        estimator("skglm", "SparseLogisticRegression", **SKGLM),
        1e-10,
        l1_ratio=0.4,
    ),
    Case(
        "skglm.LinearSVC",
        "",
        HINGE,
        "sign",
        estimator("skglm", "LinearSVC", **SKGLM, max_epochs=100_000),
        1e-8,
        intercept=False,
    ),
    Case("adelie.grpnet", "gaussian", SQUARED, "real", adelie("gaussian"), 1e-10, l1_ratio=0.4),
    Case("adelie.grpnet", "binomial", LOGISTIC, "sign", adelie("binomial"), 1e-10, l1_ratio=0.4),
    Case("adelie.grpnet", "poisson", POISSON, "count", adelie("poisson"), 1e-10, l1_ratio=0.4),
    Case(
        "glum.GeneralizedLinearRegressor",
        "normal",
        SQUARED,
        "real",
        glum("normal"),
        1e-10,
        l1_ratio=0.4,
        weighted=True,
    ),
    Case(
        "glum.GeneralizedLinearRegressor",
        "poisson",
        POISSON,
        "count",
        glum("poisson"),
        1e-10,
        l1_ratio=0.4,
    ),
    Case("glum.GeneralizedLinearRegressor", "gamma", GAMMA, "positive", glum("gamma"), 1e-10),
    Case("statsmodels.OLS", "L2", SQUARED, "real", statsmodels_linear, 1e-12),
    Case(
        "statsmodels.OLS",
        "",
        SQUARED,
        "real",
        statsmodels_linear,
        1e-9,
        l1_ratio=0.4,
        columns=APART,
    ),
    Case(
        "statsmodels.WLS",
        "",
        SQUARED,
        "real",
        statsmodels_linear,
        1e-9,
        l1_ratio=0.4,
        columns=APART,
        weighted=True,
    ),
    Case(
        "statsmodels.GLM",
        "Gaussian",
        SQUARED,
        "real",
        statsmodels_glm("Gaussian"),
        1e-8,
        l1_ratio=0.4,
        columns=APART,
    ),
    Case(
        "statsmodels.GLM",
        "Binomial",
        LOGISTIC,
        "sign",
        statsmodels_glm("Binomial"),
        1e-8,
        l1_ratio=0.4,
        columns=APART,
    ),
    Case(
        "statsmodels.GLM",
        "Poisson",
        POISSON,
        "count",
        statsmodels_glm("Poisson"),
        1e-8,
        l1_ratio=0.4,
        columns=APART,
    ),
    Case(
        "statsmodels.GLM",
        "Gamma",
        GAMMA,
        "positive",
        statsmodels_glm("Gamma", link=lambda api: api.families.links.Log()),
        1e-8,
        l1_ratio=0.4,
        columns=APART,
    ),
    Case(
        "statsmodels.GLM",
        "Gaussian, L1",
        SQUARED,
        "real",
        statsmodels_glm("Gaussian"),
        1e-6,
        l1_ratio=1.0,
    ),
    Case("statsmodels.GLM", "Poisson, L2", POISSON, "count", statsmodels_glm("Poisson"), 1e-8),
    Case(
        "statsmodels.Logit", "", LOGISTIC, "sign", statsmodels_discrete("Logit"), 1e-7, l1_ratio=1.0
    ),
    Case(
        "statsmodels.Poisson",
        "",
        POISSON,
        "count",
        statsmodels_discrete("Poisson"),
        1e-7,
        l1_ratio=1.0,
    ),
]
