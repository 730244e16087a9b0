"""Ridge regression with its strength chosen by cross-validation, on a real table."""

import tikhon as tk
from tikhon.datasets import DIABETES_FEATURES
from tikhon.report.summary import summary

X, y = tk.datasets.diabetes()
model = tk.Ridge().fit(X, y)
print(summary(model, "Ridge: progression of diabetes, 442 patients", DIABETES_FEATURES))
