"""Everything that is wrong with a table, in one error: as text, and as JSON for a program."""

import json

import numpy as np
import pandas as pd

import tikhon as tk

X, y = tk.datasets.diabetes()
table = pd.DataFrame(X, columns=tk.datasets.DIABETES_FEATURES)
table["sex"] = pd.Categorical(np.where(X[:, 1] == 1, "f", "m"))
table.loc[3, "bmi"] = np.nan
target = y.copy()
target[7] = np.inf
weights = np.ones(len(y))
weights[[10, 11]] = -1.0

try:
    tk.Ridge().fit(table, target, sample_weight=weights)
except tk.InputError as error:
    print(error)
    print()
    for problem in json.loads(error.to_json()):
        print(problem["code"], problem["column"], problem["row"], problem["count"])
