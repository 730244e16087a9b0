"""The lasso and the elastic net beside scikit-learn and R's glmnet, on real data.

Coefficients and supports at tight tolerances; the objective is never worse by more than 1e-9.
"""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.conventions.glmnet_paths import DATA, arrays, folder, reference

pytestmark = pytest.mark.peer
SQUARED = tk.losses.Squared()
NO_WORSE = 1e-9


def objective(X, y, coef, intercept, lam, ratio):
    r = y - X @ coef - intercept
    return (r @ r) / (2 * len(y)) + lam * (
        ratio * np.abs(coef).sum() + (1 - ratio) * (coef @ coef) / 2
    )


def text(name):
    with np.load(folder() / f"{name}.npz", allow_pickle=False) as z:
        parts = (z["X_data"], z["X_indices"], z["X_indptr"])
        return sp.csr_array(parts, shape=tuple(z["X_shape"])), z["y"].astype(float)


TABLES = {
    "diabetes": lambda: tk.datasets.diabetes(),
    "golub": lambda: arrays("golub"),
    "reuters": lambda: text("reuters_moneyfx_lasvm"),
    "reuters, dense part": lambda: (
        text("reuters_moneyfx_lasvm")[0][:300, :800].toarray(),
        text("reuters_moneyfx_lasvm")[1][:300],
    ),
}


@pytest.mark.parametrize("ratio", [1.0, 0.5])
@pytest.mark.parametrize("name", TABLES)
def test_scikit_learn_agrees(name, ratio):
    from sklearn.linear_model import ElasticNet

    X, y = TABLES[name]()
    penalty = tk.penalties.ElasticNet(ratio)
    path = tk.path(SQUARED, penalty, X, y, lams=tk.Grid(4, 0.2))
    for k in (1, 3):
        lam = float(path.lams[k])
        theirs = ElasticNet(alpha=lam, l1_ratio=ratio, tol=1e-10, max_iter=20_000)
        theirs.fit(sp.csc_matrix(X) if sp.issparse(X) else X, y)
        ours = path[k]
        mine, other = (
            objective(X, y, coef, b, lam, ratio)
            for coef, b in ((ours.coef, ours.intercept), (theirs.coef_, theirs.intercept_))
        )
        assert mine <= other * (1 + NO_WORSE)
        np.testing.assert_allclose(ours.coef, theirs.coef_, atol=1e-4 * np.abs(ours.coef).max())
        assert ours.certificate.gap <= 1e-8


@pytest.mark.parametrize(
    "name",
    [
        "prostate_train_a1",
        "prostate_train_a0.5",
        "quickstart_gaussian_a1",
        "quickstart_gaussian_a0.5",
        "sparseexample_a1",
        "riboflavin_a1",
    ],
)
def test_glmnet_agrees(name):
    path, (X, y) = reference(name), DATA[name]()
    strengths = [
        tk.conventions.to_lam(
            "glmnet.gaussian", lambda_=float(one), alpha=path.alpha, y_sd=float(y.std())
        )
        for one in path.lambdas
    ]
    for k in range(1, len(strengths), max(1, len(strengths) // 8)):
        strength = strengths[k]
        ours = tk.GeneralizedLinear(penalty=strength.penalty, lam=strength.lam).fit(X, y)
        sd = X.std(axis=0)
        theirs, ratio = path.coefs[k], getattr(strength.penalty, "l1_ratio", 1.0)
        mine, other = (
            objective(X / sd, y, coef * sd, b, strength.lam, ratio)
            for coef, b in ((ours.coef_, ours.intercept_), (theirs, path.intercepts[k]))
        )
        assert mine <= other * (1 + NO_WORSE)
        size = np.abs(ours.coef_ * sd).max()
        np.testing.assert_allclose(ours.coef_ * sd, theirs * sd, atol=2e-3 * size)
        large = np.abs(theirs * sd) > 1e-3 * size
        assert np.all(ours.coef_[large] != 0)


def test_supports_are_those_of_scikit_learn_at_a_tight_tolerance():
    from sklearn.linear_model import Lasso

    X, y = arrays("golub")
    path = tk.path(SQUARED, tk.penalties.L1(), X, y, lams=tk.Grid(3, 0.3), tol=1e-11)
    theirs = Lasso(alpha=float(path.lams[1]), tol=1e-13, max_iter=200_000).fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(path.coefs[1]), np.flatnonzero(theirs.coef_))
