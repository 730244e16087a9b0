"""The scikit-learn face: thin classes over problems, solvers and studies."""

from tikhon.estimators.adaptive import Adaptive
from tikhon.estimators.boosted import Boosted
from tikhon.estimators.counts import GammaRegressor, PoissonRegressor
from tikhon.estimators.elastic_net import ElasticNet
from tikhon.estimators.feature_maps import Nystroem, RandomFeatures
from tikhon.estimators.generalized_linear import GeneralizedLinear
from tikhon.estimators.hard_svm import HardSVM
from tikhon.estimators.kernel_ridge import KernelRidge
from tikhon.estimators.lasso import Lasso
from tikhon.estimators.linear_regression import LinearRegression
from tikhon.estimators.linear_svm import LinearSVM
from tikhon.estimators.logistic_regression import LogisticRegression
from tikhon.estimators.ridge import Ridge
from tikhon.estimators.ridge_classifier import RidgeClassifier
from tikhon.estimators.robust import HuberRegressor
from tikhon.estimators.svm import SVM
from tikhon.estimators.svr import SVR

__all__ = [
    "SVM",
    "SVR",
    "Adaptive",
    "Boosted",
    "ElasticNet",
    "GammaRegressor",
    "GeneralizedLinear",
    "HardSVM",
    "HuberRegressor",
    "KernelRidge",
    "Lasso",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "Nystroem",
    "PoissonRegressor",
    "RandomFeatures",
    "Ridge",
    "RidgeClassifier",
]
