"""One study, several rules; and what happens when rows of a group are dealt apart."""

import numpy as np

import tikhon as tk

X, y = tk.datasets.diabetes()
i, j = np.triu_indices(10, k=1)
products = np.hstack([X, X[:, i] * X[:, j]])

study = tk.Ridge().fit(products, y).study_
print(f"{'rule':<8}{'lam':>10}{'degrees of freedom':>22}{'squared error':>16}")
for rule in ("min", "0.5se", "1se", "2se"):
    at = study.index(rule)
    print(f"{rule:<8}{study.lams[at]:>10.4f}{study.path.df[at]:>22.1f}{study.mean[at]:>16.1f}")

rng = np.random.default_rng(0)
patient = np.repeat(np.arange(40), 10)
features = rng.standard_normal((40, 60))[patient] + 0.1 * rng.standard_normal((400, 60))
level = rng.standard_normal(40)[patient] + 0.1 * rng.standard_normal(400)
print("\nten rows for each of forty patients, columns that only tell patients apart:")
for name, groups in (("rows dealt one by one", None), ("patients held out", patient)):
    scores = tk.Ridge().fit(features, level, groups=groups).study_.mean
    print(f"  {name:<24} squared error {scores.min():.3f}")
print(f"  {'variance of the target':<24} {'':<13} {level.var():.3f}")
