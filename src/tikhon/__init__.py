"""tikhon: regularized learning with one objective, the whole grid at once, and certificates.

    minimise over w, b:   mean_i s_i loss(y_i, x_i . w + b)  +  lam R(w)

Names are imported when they are first used, so ``import tikhon`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tikhon import (
        conventions,
        datasets,
        kernel,
        losses,
        penalties,
        solvers,
        testing,
        theory,
    )
    from tikhon.errors import (
        AccuracyError,
        DataWarning,
        FitWarning,
        InputError,
        InseparableError,
        UnsupportedError,
    )
    from tikhon.estimators import (
        SVM,
        SVR,
        Adaptive,
        Boosted,
        ElasticNet,
        GammaRegressor,
        GeneralizedLinear,
        HardSVM,
        HuberRegressor,
        KernelRidge,
        Lasso,
        LinearRegression,
        LinearSVM,
        LogisticRegression,
        Nystroem,
        PoissonRegressor,
        RandomFeatures,
        Ridge,
        RidgeClassifier,
    )
    from tikhon.paths import Grid, path
    from tikhon.problem import Problem
    from tikhon.report import plots
    from tikhon.results import Certificate, History, Path, Solution, Status
    from tikhon.selection import Score, Study, cross_validate, folds, rules, thresholds
    from tikhon.solvers.cholesky import ridge_cholesky
    from tikhon.solvers.minimum_norm import moore_penrose_residuals, pseudo_inverse
    from tikhon.solvers.solve import solve
    from tikhon.solvers.spectrum import Spectrum
    from tikhon.theory.priors import Laplace, Normal

__version__ = "0.1.0"

__all__ = [  # noqa: RUF022 - plain order, SVM between Ridge and Score
    "AccuracyError",
    "Adaptive",
    "Boosted",
    "Certificate",
    "DataWarning",
    "ElasticNet",
    "FitWarning",
    "GammaRegressor",
    "GeneralizedLinear",
    "Grid",
    "HardSVM",
    "History",
    "HuberRegressor",
    "InputError",
    "InseparableError",
    "KernelRidge",
    "Laplace",
    "Lasso",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "Normal",
    "Nystroem",
    "Path",
    "PoissonRegressor",
    "Problem",
    "RandomFeatures",
    "Ridge",
    "RidgeClassifier",
    "SVM",
    "SVR",
    "Score",
    "Solution",
    "Spectrum",
    "Status",
    "Study",
    "UnsupportedError",
    "conventions",
    "cross_validate",
    "datasets",
    "folds",
    "kernel",
    "losses",
    "moore_penrose_residuals",
    "path",
    "penalties",
    "plots",
    "pseudo_inverse",
    "ridge_cholesky",
    "rules",
    "solve",
    "solvers",
    "testing",
    "theory",
    "thresholds",
]

_HOME = {
    "AccuracyError": "tikhon.errors",
    "Adaptive": "tikhon.estimators",
    "Boosted": "tikhon.estimators",
    "Certificate": "tikhon.results",
    "DataWarning": "tikhon.errors",
    "ElasticNet": "tikhon.estimators",
    "FitWarning": "tikhon.errors",
    "GammaRegressor": "tikhon.estimators",
    "GeneralizedLinear": "tikhon.estimators",
    "Grid": "tikhon.paths",
    "HardSVM": "tikhon.estimators",
    "History": "tikhon.results",
    "HuberRegressor": "tikhon.estimators",
    "InputError": "tikhon.errors",
    "InseparableError": "tikhon.errors",
    "KernelRidge": "tikhon.estimators",
    "Laplace": "tikhon.theory.priors",
    "Lasso": "tikhon.estimators",
    "LinearRegression": "tikhon.estimators",
    "LinearSVM": "tikhon.estimators",
    "LogisticRegression": "tikhon.estimators",
    "Normal": "tikhon.theory.priors",
    "Nystroem": "tikhon.estimators",
    "Path": "tikhon.results",
    "PoissonRegressor": "tikhon.estimators",
    "Problem": "tikhon.problem",
    "RandomFeatures": "tikhon.estimators",
    "Ridge": "tikhon.estimators",
    "RidgeClassifier": "tikhon.estimators",
    "SVM": "tikhon.estimators",
    "SVR": "tikhon.estimators",
    "Score": "tikhon.selection",
    "Solution": "tikhon.results",
    "Spectrum": "tikhon.solvers.spectrum",
    "Status": "tikhon.results",
    "Study": "tikhon.selection",
    "UnsupportedError": "tikhon.errors",
    "conventions": "tikhon",
    "cross_validate": "tikhon.selection",
    "datasets": "tikhon",
    "folds": "tikhon.selection",
    "kernel": "tikhon",
    "losses": "tikhon",
    "moore_penrose_residuals": "tikhon.solvers.minimum_norm",
    "path": "tikhon.paths",
    "penalties": "tikhon",
    "plots": "tikhon.report",
    "pseudo_inverse": "tikhon.solvers.minimum_norm",
    "ridge_cholesky": "tikhon.solvers.cholesky",
    "rules": "tikhon.selection",
    "solve": "tikhon.solvers.solve",
    "solvers": "tikhon",
    "testing": "tikhon",
    "theory": "tikhon",
    "thresholds": "tikhon.selection",
}


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'tikhon' has no attribute {name!r}")
    if home == __name__:
        return importlib.import_module(f"tikhon.{name}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
