"""The scikit-learn face: thin classes over problems, solvers and studies."""

from tikhon.estimators.linear_regression import LinearRegression
from tikhon.estimators.ridge import Ridge

__all__ = ["LinearRegression", "Ridge"]
