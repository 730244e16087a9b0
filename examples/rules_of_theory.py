"""What each rule chooses, and how it does on rows it has not seen: cross-validation beside theory.

Uses diabetes, and with TIKHON_DATA set also prostate, South African heart disease and spam.
"""

import os
from pathlib import Path

import numpy as np

import tikhon as tk

RULES = ("min", "1se", "aic", "bic", "ebic", "srm", "mdl")


def tables():
    yield "diabetes", *tk.datasets.diabetes(), tk.losses.Squared()
    folder = os.environ.get("TIKHON_DATA")
    if folder is None:
        return
    for name, target in (("prostate", "lpsa"), ("SAheart", "chd"), ("spam", "spam")):
        X, y = read(Path(folder) / f"{name}.csv", target)
        classes = len(np.unique(y)) == 2
        loss = tk.losses.Logistic() if classes else tk.losses.Squared()
        yield name, X, np.where(y == y.max(), 1.0, -1.0) if classes else y, loss


def read(path, target):
    """Read a table: categories become codes, and what names rows or splits is left out."""
    import pandas as pd

    table = pd.read_csv(path).drop(columns=["train", "row.names", "testid"], errors="ignore")
    table = table.loc[:, ~table.columns.str.startswith("Unnamed")]
    for name in table:
        if not pd.api.types.is_numeric_dtype(table[name]):
            table[name] = table[name].astype("category").cat.codes
    y = table.pop(target)
    return table.to_numpy(dtype=float), y.to_numpy(dtype=float)


def main():
    for name, X, y, loss in tables():
        order = np.random.default_rng(0).permutation(len(y))
        train, test = order[: 2 * len(y) // 3], order[2 * len(y) // 3 :]
        study = tk.cross_validate(
            loss, tk.penalties.L1(), X[train], y[train],
            lams=tk.Grid(40, 1e-3), standardize=True, tol=1e-5,
        )  # fmt: skip
        what = "error rate" if loss.classification else "squared error"
        print(f"{name}: {len(train)} rows, {X.shape[1]} columns; {what} on {len(test)} new rows")
        for choice in study.criteria(RULES):
            solution = study.path[choice.index]
            z = solution.predict(X[test])
            wrong = y[test] * z <= 0 if loss.classification else (y[test] - z) ** 2
            error = np.mean(wrong)
            columns = np.count_nonzero(solution.coef)
            print(f"  {choice.rule:<5} lam {choice.lam:8.4f}  {columns:>3} columns  {error:10.4g}")
        for rule in (tk.rules.SRM(), tk.rules.MDL()):
            table = rule.table(study.evidence)
            least = float(table.bound.min())
            says = "vacuous" if table.vacuous else "informative"
            print(
                f"  {type(rule).__name__} guarantees {least:.4g} of at most {table.c:.4g}: {says}"
            )


if __name__ == "__main__":
    main()
