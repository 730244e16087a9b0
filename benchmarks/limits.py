"""The physical limits of a problem: what the arithmetic and the memory of the machine allow.

Ridge over K folds and all strengths needs at least the products of the data with themselves
(one SYRK) and one eigendecomposition per fold plus one for all rows. Both are timed at the shape
of the problem, with the thread count of the run; so are the rate of GEMM and the bandwidth of
memory, which bound everything else. Tall problems use X'X (d x d), wide ones XX' (n x n).
Paths of sparse solutions on wide tables cannot avoid one product that shows all columns.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg as la
from scipy import sparse

from benchmarks.problems import Problem
from benchmarks.records import Limit, Limits
from benchmarks.worker import pin

if TYPE_CHECKING:
    from collections.abc import Callable


def fastest(work: Callable[[], object], repeat: int, settle: float = 0.5) -> float:
    """Least of at least `repeat` times, over at least `settle` seconds.

    A limit is what the machine can do when nothing disturbs it; the first calls still wake
    threads and touch fresh pages.
    """
    times: list[float] = []
    while len(times) < repeat or sum(times) < settle:
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def gemm_rate(repeat: int, size: int = 2048) -> float:
    """Floating-point operations per second of a large float64 product."""
    A = np.random.default_rng(0).standard_normal((size, size))
    out = np.empty_like(A)
    return 2 * size**3 / fastest(lambda: np.matmul(A, A, out=out), repeat)


def bandwidth(repeat: int, size: int = 2**26) -> float:
    """Bytes per second read from memory by BLAS's dot, on arrays far larger than any cache."""
    a, b = np.ones(size), np.ones(size)
    return 2 * a.nbytes / fastest(lambda: a @ b, repeat)


def syrk(X: np.ndarray, repeat: int) -> float:
    """Seconds for the smaller of X'X and XX', one triangle or both, whichever call is faster."""
    n, d = X.shape
    A = X.T  # rows in C order are columns in Fortran order: BLAS takes them without a copy
    return min(
        fastest(lambda: la.blas.dsyrk(1.0, A, trans=int(n < d)), repeat),
        fastest(lambda: X.T @ X if n >= d else X @ X.T, repeat),
    )


def eigh(size: int, repeat: int) -> float:
    """Seconds for one symmetric eigendecomposition with vectors, by the faster driver."""
    Z = np.random.default_rng(0).standard_normal((2 * size, size))
    A = np.asfortranarray(Z.T @ Z)
    return min(fastest(partial(la.eigh, A, driver=name), repeat) for name in ("evd", "evr"))


def ridge_parts(problem: Problem, repeat: int) -> tuple[Limit, ...]:
    """One SYRK, and an eigendecomposition per fold and for all rows."""
    count, side = problem.n_folds + 1, min(problem.X.shape)
    product, decompositions = syrk(problem.X, repeat), count * eigh(side, repeat)
    return (
        Limit("SYRK + decompositions", product + decompositions, "what the method cannot avoid"),
        Limit("SYRK of X", product, f"{side} x {side} result"),
        Limit(f"{count} eigendecompositions", decompositions, f"{side} x {side} each"),
    )


def lasso_parts(problem: Problem, repeat: int) -> tuple[Limit, ...]:
    """Second moments where rows outnumber columns; else X'R for the residuals of the whole path."""
    n, d = problem.X.shape
    if n >= d:
        return (Limit("SYRK of X", syrk(problem.X, repeat), f"{d} x {d} result"),)
    R = np.random.default_rng(0).standard_normal((n, len(problem.lams)))
    checks = fastest(lambda: problem.X.T @ R, repeat)
    title = "X'R of the whole path"
    return (Limit(title, checks, "one product shows all columns to all strengths"),)


PARTS = {
    "ridge_cv": ridge_parts,
    "lasso_cv": lasso_parts,
    "lasso_path": lasso_parts,
    "group_path": lasso_parts,
}


def limits(problem: Problem, repeat: int) -> Limits:
    """All limits of a problem."""
    rate = bandwidth(repeat)
    size = input_bytes(problem.X)
    read = Limit("read X once", size / rate, "at the bandwidth of memory")
    parts = PARTS[problem.task](problem, repeat)
    return Limits(gemm_rate(repeat), rate, (*parts, read))


def input_bytes(X: np.ndarray | sparse.csc_array) -> int:
    """Bytes of a table, indices included."""
    if sparse.issparse(X):
        return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)
    return int(X.nbytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problem", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    pin(arguments.threads)
    found = limits(Problem.load(Path(arguments.problem)), arguments.repeat)
    Path(arguments.out, "record.json").write_text(json.dumps(asdict(found), indent=1))


if __name__ == "__main__":
    main()
