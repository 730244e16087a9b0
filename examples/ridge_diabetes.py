"""Ridge regression with its strength chosen by cross-validation, on a real table.

Ten measurements of 442 patients, their squares and products: 64 columns, more than least squares
can use without overfitting.
"""

from itertools import combinations_with_replacement

import numpy as np

import tikhon as tk
from tikhon.datasets import DIABETES_FEATURES
from tikhon.report.summary import summary

measured, progression = tk.datasets.diabetes()
pairs = [
    (i, j)
    for i, j in combinations_with_replacement(range(10), 2)
    if (i, j) != (1, 1)  # sex has two values: its square says nothing new
]
X = np.column_stack([measured, *(measured[:, i] * measured[:, j] for i, j in pairs)])
names = DIABETES_FEATURES + tuple(
    f"{DIABETES_FEATURES[i]}*{DIABETES_FEATURES[j]}" for i, j in pairs
)

model = tk.Ridge().fit(X, progression)
print(summary(model, "Ridge: diabetes, 442 patients, 64 columns", names, X.std(axis=0)))
