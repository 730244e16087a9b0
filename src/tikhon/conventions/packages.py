"""The conventions of other packages, as their documentation or source states them.

An alias has the same objective with another loss, so that one row serves all of them.
"""

from __future__ import annotations

from tikhon.conventions.convention import Convention
from tikhon.conventions.rules import (
    L1_ONLY,
    L2_ONLY,
    Cost,
    LabelScaled,
    Mixture,
    Scaled,
    Separate,
)

__all__ = ["GLMNET", "OTHERS", "PYTHON", "SCIKIT_LEARN", "SVM"]

_MIXED = "l1_ratio ||w||_1 + (1 - l1_ratio) ||w||^2 / 2"
_CONSTANT = "A constant column is penalised unless `alpha` is a vector with a 0 there."
_AUGMENTED = "An intercept fitted there is penalised with w: fit without."
_BIAS = "A bias (-B 1) is penalised with w, unless -R is given to -s 0, 2, 5 or 6."
_STANDARDIZED = "The penalty is on the coefficients of columns standardised with 1/n."

SCIKIT_LEARN = (
    Convention(
        "sklearn.Ridge",
        "sum (y - z)^2 + alpha ||w||^2",
        Scaled("alpha", L2_ONLY, over_n=True),
        aliases=("sklearn.RidgeClassifier", "sklearn.KernelRidge"),
        note="KernelRidge has no intercept.",
    ),
    Convention(
        "sklearn.Lasso",
        "mean (y - z)^2 / 2 + alpha ||w||_1",
        Scaled("alpha", L1_ONLY),
    ),
    Convention(
        "sklearn.ElasticNet",
        f"mean (y - z)^2 / 2 + alpha ({_MIXED})",
        Scaled("alpha", Mixture("l1_ratio", 0.5)),
    ),
    Convention(
        "sklearn.PoissonRegressor",
        "mean deviance / 2 + alpha ||w||^2 / 2",
        Scaled("alpha", L2_ONLY),
        aliases=("sklearn.GammaRegressor",),
    ),
    Convention(
        "sklearn.LogisticRegression",
        f"C sum log(1 + exp(-y z)) + {_MIXED}",
        Cost("C", Mixture("l1_ratio", 0.0)),
        note="The same with the multinomial loss. The solver 'liblinear' penalises the intercept. "
        "Before version 1.8 a mixture needs penalty='elasticnet' as well.",
    ),
    Convention(
        "sklearn.LinearSVC",
        "C sum max(0, 1 - y z)^2 + ||w||^2 / 2",
        Cost("C", L2_ONLY, factor=0.5),
        note=f"The default loss, 'squared_hinge', not halved there. {_AUGMENTED}",
    ),
    Convention(
        "sklearn.LinearSVC.hinge",
        "C sum max(0, 1 - y z) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
        aliases=("sklearn.LinearSVR",),
        note=f"With loss='hinge'; LinearSVR with its default loss. {_AUGMENTED}",
    ),
    Convention(
        "sklearn.SVC",
        "C sum max(0, 1 - y z) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
        aliases=("sklearn.SVR",),
    ),
)

SVM = (
    Convention(
        "liblinear.logistic",
        "C sum log(1 + exp(-y z)) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
        note=f"-s 0 and 7. {_BIAS}",
    ),
    Convention(
        "liblinear.hinge",
        "C sum max(0, 1 - y z) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
        aliases=("liblinear.epsilon_insensitive",),
        note=f"-s 3; regression -s 13. {_BIAS}",
    ),
    Convention(
        "liblinear.squared_hinge",
        "C sum max(0, 1 - y z)^2 + ||w||^2 / 2",
        Cost("C", L2_ONLY, factor=0.5),
        note=f"-s 1 and 2: the square is not halved there. {_BIAS}",
    ),
    Convention(
        "liblinear.l1_logistic",
        "C sum log(1 + exp(-y z)) + ||w||_1",
        Cost("C", L1_ONLY),
        note=f"-s 6. {_BIAS}",
    ),
    Convention(
        "liblinear.l1_squared_hinge",
        "C sum max(0, 1 - y z)^2 + ||w||_1",
        Cost("C", L1_ONLY, factor=0.5),
        note=f"-s 5: the square is not halved there. {_BIAS}",
    ),
    Convention(
        "libsvm",
        "C sum max(0, 1 - y z) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
        note="-s 0 (classes) and -s 3 (regression) with the linear kernel.",
    ),
)

PYTHON = (
    Convention(
        "celer.Lasso",
        "mean (y - z)^2 / 2 + alpha ||w||_1",
        Scaled("alpha", L1_ONLY),
        aliases=("skglm.Lasso",),
    ),
    Convention(
        "celer.ElasticNet",
        f"mean (y - z)^2 / 2 + alpha ({_MIXED})",
        Scaled("alpha", Mixture("l1_ratio", 1.0)),
    ),
    Convention(
        "skglm.ElasticNet",
        f"mean (y - z)^2 / 2 + alpha ({_MIXED})",
        Scaled("alpha", Mixture("l1_ratio", 0.5)),
    ),
    Convention(
        "celer.LogisticRegression",
        "sum log(1 + exp(-y z)) + ||w||_1 / C",
        Cost("C", L1_ONLY),
    ),
    Convention(
        "skglm.SparseLogisticRegression",
        f"mean log(1 + exp(-y z)) + alpha ({_MIXED})",
        Scaled("alpha", Mixture("l1_ratio", 1.0)),
    ),
    Convention(
        "skglm.LinearSVC",
        "C sum max(0, 1 - y z) + ||w||^2 / 2",
        Cost("C", L2_ONLY),
    ),
    Convention(
        "adelie.grpnet",
        "mean loss + lmda (alpha ||w||_1 + (1 - alpha) ||w||^2 / 2)",
        Scaled("lmda", Mixture("alpha", 1.0)),
        note="Groups of one column. The gaussian loss is halved; y is not rescaled.",
    ),
    Convention(
        "glum.GeneralizedLinearRegressor",
        f"mean deviance / 2 + alpha ({_MIXED})",
        Scaled("alpha", Mixture("l1_ratio", 0.0)),
    ),
    Convention(
        "statsmodels.OLS",
        "mean (y - z)^2 / 2 + alpha (L1_wt ||w||_1 + (1 - L1_wt) ||w||^2 / 2)",
        Scaled("alpha", Mixture("L1_wt", 1.0)),
        aliases=("statsmodels.WLS",),
        note=f"fit_regularized, whose sweeps never return to a coefficient that was 0 once and can "
        f"stop short of the optimum. {_CONSTANT}",
    ),
    Convention(
        "statsmodels.GLM",
        "mean of minus the log-likelihood + alpha (L1_wt ||w||_1 + (1 - L1_wt) ||w||^2 / 2)",
        Scaled("alpha", Mixture("L1_wt", 1.0)),
        note="fit_regularized, at scale 1. With L1_wt = 0 it estimates the scale: there the row "
        f"holds for families without one, Binomial and Poisson. {_CONSTANT}",
    ),
    Convention(
        "statsmodels.Logit",
        "sum of minus the log-likelihood + alpha ||w||_1",
        Scaled("alpha", L1_ONLY, over_n=True),
        aliases=("statsmodels.Poisson",),
        note="fit_regularized of the discrete models: a sum, where GLM takes the mean. "
        f"{_CONSTANT}",
    ),
)

GLMNET = (
    Convention(
        "glmnet.gaussian",
        "mean ((y - z) / y_sd)^2 / 2 + (lambda_ / y_sd) (alpha ||u||_1 + (1 - alpha) ||u||^2 / 2), "
        "u = w / y_sd",
        LabelScaled("lambda_", Mixture("alpha", 1.0)),
        note=f"y_sd with 1/n. {_STANDARDIZED}",
    ),
    Convention(
        "glmnet.binomial",
        "mean loss + lambda_ (alpha ||w||_1 + (1 - alpha) ||w||^2 / 2)",
        Scaled("lambda_", Mixture("alpha", 1.0)),
        aliases=("glmnet.poisson", "glmnet.multinomial"),
        note=_STANDARDIZED,
    ),
)

_ELASTIC = "elasticNetParam ||u||_1 + (1 - elasticNetParam) ||u||^2 / 2"

OTHERS = (
    Convention(
        "spark.LinearRegression",
        f"mean ((y - z) / y_sd)^2 / 2 + (regParam / y_sd) ({_ELASTIC}), u = w / y_sd",
        LabelScaled("regParam", Mixture("elasticNetParam", 0.0)),
        note="With loss='squaredError'. Standard deviations are taken with 1/n by the solver "
        "'normal' (and 'auto' up to 4096 columns), with 1/(n - 1) by 'l-bfgs'. With "
        "standardization=True, the default, the penalty is on the coefficients of standardised "
        "columns, else on those of the columns as they are; y_sd divides in both cases.",
    ),
    Convention(
        "spark.LogisticRegression",
        "mean loss + regParam (elasticNetParam ||w||_1 + (1 - elasticNetParam) ||w||^2 / 2)",
        Scaled("regParam", Mixture("elasticNetParam", 0.0)),
        note="With standardization=True, the default, the penalty is on the coefficients of "
        "columns divided by their standard deviation with 1/(n - 1).",
    ),
    Convention(
        "spark.LinearSVC",
        "mean max(0, 1 - y z) + regParam ||w||^2 / 2",
        Scaled("regParam", L2_ONLY),
        note="Columns as for spark.LogisticRegression.",
    ),
    Convention(
        "vw.sgd.squared",
        "sum [(y - z)^2 + l1 ||w||_1 + l2 ||w||^2 / 2]",
        Separate("l1", "l2", l1_factor=0.5, l2_factor=0.5),
        note="Online learning adds the penalty once per example, constant included unless "
        "--no_bias_regularization, and clips predictions to the range of the targets. The "
        "adaptive, normalised steps that are its default only approach this optimum.",
    ),
    Convention(
        "vw.sgd.logistic",
        "sum [log(1 + exp(-y z)) + l1 ||w||_1 + l2 ||w||^2 / 2]",
        Separate("l1", "l2"),
        note="As vw.sgd.squared. Not so with the hinge loss: there w shrinks only after an example "
        "with a loss.",
    ),
    Convention(
        "vw.bfgs.squared",
        "sum (y - z)^2 + l2 ||w||^2 / 2",
        Scaled("l2", L2_ONLY, factor=0.5, over_n=True),
        note="--bfgs adds the penalty once, not once per example, constant included unless "
        "--no_bias_regularization. The square is not halved. --l1 has no effect.",
    ),
    Convention(
        "vw.bfgs.logistic",
        "sum log(1 + exp(-y z)) + l2 ||w||^2 / 2",
        Scaled("l2", L2_ONLY, over_n=True),
        note="As vw.bfgs.squared.",
    ),
)
