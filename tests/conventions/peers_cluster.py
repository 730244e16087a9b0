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
SVC = spark("classification", "LinearSVC", maxIter=100)
BATCH = "--bfgs --passes 100 --termination 1e-12"


def spark_linear(solver, ddof, *, standardized):
    label = f"{solver}, columns {'standardized' if standardized else 'as they are'}"
    fit = LINEAR(solver=solver, standardized=standardized)
    named = {"label": label, "standardized": standardized, "ddof": ddof, "l1_ratio": 0.4}
    return Case("spark.LinearRegression", SQUARED, fit, 1e-12, **named)


def spark_logistic(*, standardized, l1_ratio):
    label = "standardized" if standardized else "as they are"
    named = {"label": label, "standardized": standardized, "ddof": 1, "l1_ratio": l1_ratio}
    fit = LOGIT(standardized=standardized)
    return Case("spark.LogisticRegression", LOGISTIC, fit, 1e-12, **named)


SPARK = [
    spark_linear("normal", 0, standardized=True),
    spark_linear("normal", 0, standardized=False),
    spark_linear("l-bfgs", 1, standardized=True),
    spark_linear("l-bfgs", 1, standardized=False),
    spark_logistic(standardized=True, l1_ratio=0.4),
    spark_logistic(standardized=False, l1_ratio=0.0),
    # Its quasi-Newton method, made for smooth losses, stops early at the kinks.
    Case("spark.LinearSVC", HINGE, SVC, 1e-3, missed=2.0),
]


def wabbit(name, loss, options, tol, label="", l1_ratio=0.0):
    fit = vowpal_wabbit(loss.name, options)
    # It clips predictions to the range of the targets: they should not need an intercept.
    target = "centred" if loss is SQUARED else "sign"
    return Case(f"vw.{name}", loss, fit, tol, label, target, l1_ratio=l1_ratio, intercept=False)


VOWPAL_WABBIT = [
    wabbit("bfgs.squared", SQUARED, BATCH, 1e-7),
    wabbit("bfgs.logistic", LOGISTIC, BATCH, 1e-7),
    wabbit("sgd.squared", SQUARED, steps(0.02), 2e-5, "L2"),
    wabbit("sgd.squared", SQUARED, steps(0.02), 2e-5, "elastic net", 0.2),
    wabbit("sgd.logistic", LOGISTIC, steps(0.05), 1e-6, "L2"),
    wabbit("sgd.logistic", LOGISTIC, steps(0.05), 1e-6, "elastic net", 0.2),
]

CASES = SPARK + VOWPAL_WABBIT
