"""The degree of a polynomial by cross-validation on the same folds, and a test set opened once."""

import numpy as np

import tikhon as tk

rng = np.random.default_rng(0)
x = rng.uniform(-1, 1, 60)
y = np.exp(x) * np.sin(4 * x) + 0.2 * rng.standard_normal(60)
x, locked_x, y, locked_y = x[:45], x[45:], y[:45], y[45:]
folds = rng.permutation(45) % 10


def powers(x, k):
    """Return the columns ``x, x^2, ..., x^k``."""
    return np.column_stack([x**p for p in range(1, k + 1)])


held_out = {}
for k in range(1, 13):
    study = tk.cross_validate(
        tk.losses.Squared(), tk.penalties.L2(), powers(x, k), y, lams=[0.0], folds=folds
    )
    held_out[k] = study.mean[0]
    bar = "#" * int(50 * study.mean[0])
    print(f"degree {k:>2}  {study.mean[0]:.4f} +- {study.se[0]:.4f}  {bar}")

best = min(held_out, key=held_out.get)
for name, model, k in (
    (f"least squares, degree {best}", tk.LinearRegression(), best),
    ("ridge, degree 12", tk.Ridge(), 12),
):
    model.fit(powers(x, k), y)
    error = np.mean((model.predict(powers(locked_x, k)) - locked_y) ** 2)
    print(f"{name:<26} test error {error:.4f}")
