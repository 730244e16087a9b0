"""Spark, in one local session, and Vowpal Wabbit."""

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest
from peer_case import Case

from tikhon import losses

SQUARED, LOGISTIC, HINGE = losses.Squared(), losses.Logistic(), losses.Hinge()


@functools.cache
def spark_session():
    """One local Spark for all cases; it ends with the process."""
    sql = pytest.importorskip("pyspark.sql")
    options = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1",
        "spark.driver.memory": "1g",
        "spark.log.level": "OFF",
    }
    builder = sql.SparkSession.builder.master("local[1]")
    for key, value in options.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def spark(module, kind, *, standardized=False, **fixed):
    """A fit by Spark."""

    def fit(X, y, s, **parameters):
        session = spark_session()
        package = pytest.importorskip(f"pyspark.ml.{module}")
        vectors = pytest.importorskip("pyspark.ml.linalg").Vectors
        assert s is None
        label = (y + 1) / 2 if module == "classification" else y
        rows = zip(X, label, strict=True)
        frame = session.createDataFrame(
            [(vectors.dense(x), float(v)) for x, v in rows], ["features", "label"]
        ).cache()
        options = {"tol": 1e-14, "standardization": standardized}
        model = getattr(package, kind)(**options, **fixed, **parameters).fit(frame)
        return model.coefficients.toArray(), model.intercept

    return fit


def vowpal_wabbit(loss, options):
    """A fit by Vowpal Wabbit, without its constant, which it would penalise."""

    def fit(X, y, s, **strengths):
        wabbit = pytest.importorskip("vowpalwabbit")
        assert s is None
        lines = [
            f"{float(v)!r} | " + " ".join(f"{j}:{float(a)!r}" for j, a in enumerate(x))
            for x, v in zip(X, y, strict=True)
        ]
        given = " ".join(f"--{name} {value!r}" for name, value in strengths.items())
        with tempfile.TemporaryDirectory() as folder:
            data = Path(folder) / "data.txt"
            data.write_text("\n".join(lines) + "\n")
            model = wabbit.Workspace(
                f"-d {data} --cache_file {folder}/cache -k --holdout_off --noconstant --quiet "
                f"-b 6 --predict_only_model --loss_function {loss} {options} {given}"
            )
            w = np.array([model.get_weight(j) for j in range(X.shape[1])])
            model.finish()
        return w, 0.0

    return fit


def steps(first):
    """Plain stochastic gradient steps ``first 500 / t``, without the adaptive defaults."""
    return f"--sgd --power_t 1 --initial_t 500 -l {first} --passes 2000"


LINEAR = functools.partial(spark, "regression", "LinearRegression", maxIter=2000)
LOGIT = functools.partial(spark, "classification", "LogisticRegression", maxIter=2000)
BATCH = "--bfgs --passes 100 --termination 1e-12"

SPARK = [
    Case(
        "spark.LinearRegression",
        f"{solver}, {'standardized' if standardized else 'as they are'}",
        SQUARED,
        "real",
        LINEAR(solver=solver, standardized=standardized),
        1e-12,
        l1_ratio=0.4,
        standardized=standardized,
        ddof=ddof,
    )
    for solver, standardized, ddof in (
        ("normal", True, 0),
        ("normal", False, 0),
        ("l-bfgs", True, 1),
        ("l-bfgs", False, 1),
    )
] + [
    Case(
        "spark.LogisticRegression",
        "standardized",
        LOGISTIC,
        "sign",
        LOGIT(standardized=True),
        1e-12,
        lam=0.05,
        l1_ratio=0.4,
        standardized=True,
        ddof=1,
    ),
    Case("spark.LogisticRegression", "as they are", LOGISTIC, "sign", LOGIT(), 1e-12),
    Case(
        "spark.LinearSVC",
        "",
        HINGE,
        "sign",
        spark("classification", "LinearSVC", maxIter=100),
        1e-3,  # a quasi-Newton method on a loss with a kink stops early
        missed=2.0,
    ),
]

VOWPAL_WABBIT = [
    Case(
        f"vw.bfgs.{name}",
        "",
        loss,
        target,
        vowpal_wabbit(name, BATCH),
        1e-7,
        intercept=False,
    )
    for name, loss, target in (("squared", SQUARED, "centred"), ("logistic", LOGISTIC, "sign"))
] + [
    Case(
        f"vw.sgd.{name}",
        label,
        loss,
        target,
        vowpal_wabbit(name, steps(first)),
        2e-5,
        intercept=False,
        l1_ratio=l1_ratio,
    )
    for name, loss, target, first in (
        ("squared", SQUARED, "centred", 0.02),
        ("logistic", LOGISTIC, "sign", 0.05),
    )
    for label, l1_ratio in (("L2", 0.0), ("elastic net", 0.2))
]

CASES = SPARK + VOWPAL_WABBIT
