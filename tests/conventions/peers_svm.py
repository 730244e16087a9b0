"""LIBLINEAR and LIBSVM through their own Python interfaces."""

import numpy as np
import pytest
from peer_case import Case

from tikhon import losses

TUBE = 0.1


def liblinear(options, *, bias=False):
    """A fit by LIBLINEAR; a bias is appended as a column and, with -R, left out of the penalty."""

    def fit(X, y, s, C):
        util = pytest.importorskip("liblinear.liblinearutil")
        assert s is None
        extra = "-B 1 -R" if bias else "-B -1"
        model = util.train(y, X, f"{options} -c {C!r} {extra} -q")
        w, b = model.get_decfun()
        sign = 1.0 if model.is_regression_model() else model.get_labels()[0]
        return sign * np.array(w), sign * b

    return fit


def libsvm(options):
    """A fit by LIBSVM with the linear kernel."""

    def fit(X, y, s, C):
        util = pytest.importorskip("libsvm.svmutil")
        assert s is None
        model = util.svm_train(y, X, f"{options} -t 0 -c {C!r} -e 1e-10 -q")
        w = np.zeros(X.shape[1])
        for vector, (weight,) in zip(model.get_SV(), model.get_sv_coef(), strict=True):
            for place, value in vector.items():
                w[place - 1] += weight * value
        sign = 1.0 if "-s 3" in options else model.get_labels()[0]
        return sign * w, -sign * model.rho[0]

    return fit


LOGISTIC, HINGE, SQUARED_HINGE = losses.Logistic(), losses.Hinge(), losses.SquaredHinge()
EPSILON = losses.EpsilonInsensitive(TUBE)


def without(name, options, loss, tol, **named):
    """A comparison without a bias."""
    fit = liblinear(f"-s {options} -p {TUBE} -e 1e-10")
    return Case(f"liblinear.{name}", loss, fit, tol, options, intercept=False, **named)


def with_bias(solver):
    return liblinear(f"-s {solver} -e 1e-10", bias=True)


FREE = "-R, the bias not penalised"
CASES = [
    without("logistic", "0", LOGISTIC, 1e-12),
    without("logistic", "7", LOGISTIC, 1e-12),
    # Weaker penalties take -s 3 and 13 more than the 1000 sweeps that they make at most.
    without("hinge", "3", HINGE, 1e-9, lam=0.3),
    without("epsilon_insensitive", "13", EPSILON, 1e-9, target="centred", lam=0.3),
    without("squared_hinge", "1", SQUARED_HINGE, 1e-12),
    without("squared_hinge", "2", SQUARED_HINGE, 1e-12),
    without("l1_logistic", "6", LOGISTIC, 1e-9, l1_ratio=1.0),
    without("l1_squared_hinge", "5", SQUARED_HINGE, 1e-9, l1_ratio=1.0),
    Case("liblinear.logistic", LOGISTIC, with_bias("0"), 1e-12, FREE),
    Case("liblinear.squared_hinge", SQUARED_HINGE, with_bias("2"), 1e-12, FREE),
    Case("libsvm", HINGE, libsvm("-s 0"), 1e-8, "classes"),
    Case("libsvm", EPSILON, libsvm(f"-s 3 -p {TUBE}"), 1e-8, "regression"),
]
