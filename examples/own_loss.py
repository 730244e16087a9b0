"""A loss of one's own: two methods, tried against the laws, solved and certified."""

import numpy as np

import tikhon as tk


class LogCosh(tk.losses.Loss):
    """``log cosh(z - y)``: quadratic near the target, linear far from it."""

    name = "log-cosh"

    def value(self, y, z):
        """Return the loss."""
        residual = np.subtract(z, y)
        with np.errstate(over="ignore"):
            return np.logaddexp(residual, -residual) - float(np.log(2))

    def derivative(self, y, z):
        """Return its derivative in z."""
        return np.tanh(np.subtract(z, y))


tk.testing.check_loss(LogCosh())
print("every law holds")

X, y = tk.datasets.diabetes()
X, y = (X - X.mean(axis=0)) / X.std(axis=0), (y - y.mean()) / y.std()
names = np.array(tk.datasets.DIABETES_FEATURES)
for lam in (0.2, 0.1, 0.05, 0.01):
    solution = tk.solve(tk.Problem(LogCosh(), tk.penalties.L1(), lam), X, y)
    kept = ", ".join(names[solution.coef != 0])
    print(f"lam {lam:<5} {solution.status}, residual {solution.certificate.kkt:.0e}: {kept}")
