"""Other packages fit real data, and their solutions are optimal here, at the translated strength.

Each comparison says how exactly (`tol`); a strength wrong by 5 percent (twofold for one solver
that stops early) fails it.
"""

import inspect
import operator
import warnings

import peers_cluster
import peers_python
import peers_scikit_learn
import peers_svm
import pytest

import tikhon as tk

CASES = peers_scikit_learn.CASES + peers_svm.CASES + peers_python.CASES + peers_cluster.CASES
SLOW = {str(case) for case in peers_cluster.SPARK}
REFERENCES_ONLY = {"glmnet.gaussian", "glmnet.binomial", "glmnet.poisson", "glmnet.multinomial"}

pytestmark = [
    pytest.mark.peer,
    pytest.mark.filterwarnings("ignore"),  # of other packages: what they do is not judged here
]


def marked(case):
    marks = [pytest.mark.slow] if str(case) in SLOW else []
    return pytest.param(case, id=str(case), marks=marks)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_a_foreign_solution_is_optimal_at_the_translated_strength_and_at_no_other(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gap, stronger, weaker = case.gaps()
    assert gap < case.tol
    assert min(stronger, weaker) > 2 * case.tol


def test_every_package_is_compared():
    compared = {case.name for case in CASES} | REFERENCES_ONLY
    named = {name for row in tk.conventions.table() for name in row.names}
    assert {name for name in named if not name.startswith("lecture")} == compared


@pytest.mark.parametrize(
    ("name", "module", "path"),
    [
        ("sklearn.ElasticNet", "sklearn.linear_model", "ElasticNet"),
        ("sklearn.LogisticRegression", "sklearn.linear_model", "LogisticRegression"),
        ("celer.ElasticNet", "celer", "ElasticNet"),
        ("skglm.ElasticNet", "skglm", "ElasticNet"),
        ("skglm.SparseLogisticRegression", "skglm", "SparseLogisticRegression"),
        ("glum.GeneralizedLinearRegressor", "glum", "GeneralizedLinearRegressor"),
        ("statsmodels.OLS", "statsmodels.api", "OLS.fit_regularized"),
    ],
)
def test_a_default_mixture_is_that_of_the_package(name, module, path):
    called = operator.attrgetter(path)(pytest.importorskip(module))
    mixture = tk.conventions.find(name).rule.mixture
    default = inspect.signature(called).parameters[mixture.name].default
    assert mixture.value == (0.0 if default is None else default)
