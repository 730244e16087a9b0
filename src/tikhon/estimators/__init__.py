"""The scikit-learn face: thin classes over problems, solvers and studies."""

from tikhon.estimators.elastic_net import ElasticNet
from tikhon.estimators.generalized_linear import GeneralizedLinear
from tikhon.estimators.lasso import Lasso
from tikhon.estimators.linear_regression import LinearRegression
from tikhon.estimators.ridge import Ridge
from tikhon.estimators.ridge_classifier import RidgeClassifier

__all__ = [
    "ElasticNet",
    "GeneralizedLinear",
    "Lasso",
    "LinearRegression",
    "Ridge",
    "RidgeClassifier",
]
