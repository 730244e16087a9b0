"""The conventions of the five lectures, numbered as in the table of the documentation.

They write the strength as a lambda; here it is `lambda_`, so that it is never taken for `lam`.
"""

from __future__ import annotations

from tikhon.conventions.convention import Convention
from tikhon.conventions.rules import L1_ONLY, L2_ONLY, Cost, Scaled, Separate

__all__ = ["LECTURES"]

LECTURES = (
    Convention(
        "lecture000.least_squares",
        "mean (y - z)^2 + lambda_ ||w||^2",
        Scaled("lambda_", L2_ONLY),
        note="Its linear system (X'X + lambda_ n I) w = X'y is the library's.",
    ),
    Convention(
        "lecture000.logistic",
        "mean loss + lambda_ ||w||^2",
        Scaled("lambda_", L2_ONLY, factor=2.0),
        aliases=("lecture000.hinge", "lecture001.soft_svm"),
        note="Logistic regression and the support vector machine; the gradient step there divides "
        "2 lambda_ w by n once too often.",
    ),
    Convention(
        "lecture000.svm",
        "||w||^2 + C sum xi, xi = max(0, 1 - y z)",
        Cost("C", L2_ONLY, factor=2.0),
        aliases=("lecture001.soft_svm_C",),
        note="C = 1 / (lambda_ n), for the soft machine of lecture 001 as well. Read ||w||^2 "
        "where it prints ||w||^D. Other packages halve the norm: their C is half of this one.",
    ),
    Convention(
        "lecture001.ridge",
        "mean (y - z)^2 / 2 + lambda_ ||w||^2",
        Scaled("lambda_", L2_ONLY, factor=2.0),
        note="(X'X + 2 lambda_ n I) w = X'y.",
    ),
    Convention(
        "lecture001.sgd",
        "mean max(0, 1 - y z) + lambda_ ||w||^2 / 2",
        Scaled("lambda_", L2_ONLY),
        note="The algorithm for the soft support vector machine: half the strength that the same "
        "lecture means by lambda_ elsewhere.",
    ),
    Convention(
        "lecture002.ridge",
        "sum (y - z)^2 + lambda_ ||w||^2",
        Scaled("lambda_", L2_ONLY, over_n=True),
    ),
    Convention(
        "lecture002.lasso",
        "sum (y - z)^2 / 2 + lambda_ ||w||_1",
        Scaled("lambda_", L1_ONLY, over_n=True),
    ),
    Convention(
        "lecture003.l2",
        "mean (y - z)^2 + lambda_ ||w||^2",
        Scaled("lambda_", L2_ONLY),
        aliases=("lecture004.l2",),
        note="The closed form printed in lecture 003 belongs to the sum: use lecture002.ridge.",
    ),
    Convention(
        "lecture003.l1",
        "mean (y - z)^2 + lambda_ ||w||_1",
        Scaled("lambda_", L1_ONLY, factor=0.5),
        aliases=("lecture004.l1",),
    ),
    Convention(
        "lecture004.elastic_net",
        "mean (y - z)^2 + lambda_1 ||w||_1 + lambda_2 ||w||^2",
        Separate("lambda_1", "lambda_2", l1_factor=0.5),
    ),
)
