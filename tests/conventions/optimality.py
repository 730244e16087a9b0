"""How far a foreign solution is from the optimum of a problem of the library.

The duality gap at a dual point of one's own choice: any feasible point proves a bound, and only
the optimal one makes it vanish at the optimum. Here the point is made in two cases where minus
the derivative, shrunk for the intercept, is not it.
"""

import numpy as np
from scipy.optimize import lsq_linear

WIDTHS = np.logspace(-10, -3, 8)


def relative_gap(problem, X, y, w, b=0.0, s=None):
    """The duality gap over the objective of the null model."""
    certified = problem.certificate(X, y, w, b, s)
    p = np.full(len(y), 1 / len(y)) if s is None else s / s.sum()
    if problem.loss.name in ("hinge", "epsilon_insensitive"):
        points = [dual_at_kinks(problem, X, y, w, b, p, width) for width in WIDTHS]
    elif problem.loss.per_class and problem.intercept:
        points = [dual_of_classes(problem, X, y, w, b, p)]
    else:
        points = []
    primal = problem.value(X, y, w, b, s)
    bounds = [primal - dual_value(problem, X, y, v, p) for v in points]
    relative = [max(gap, 0.0) / certified.null_objective for gap in bounds]
    return np.nanmin([certified.gap, *relative])


def dual_value(problem, X, y, v, p):
    """``-mean loss*(v) - lam R*(-X' diag(p) v / lam)``, v scaled until R* is finite."""
    correlation = -X.T @ (v.T * p).T / problem.lam
    t = problem.penalty.dual_scale(correlation)
    conjugate = p @ problem.loss.conjugate(y, t * v)
    return -conjugate - problem.lam * problem.penalty.conjugate(t * correlation)


def dual_at_kinks(problem, X, y, w, b, p, width):
    """Return the derivatives within `width` of each z that fit the coefficients best; L2 only.

    At a kink the derivative is an interval, and at the optimum of a support vector machine
    ``X' diag(p) v = -lam w`` has its solution inside: bounded least squares finds it.
    """
    loss, z = problem.loss, X @ w + b
    low, high = loss.derivative(y, z - width), loss.derivative(y, z + width)
    v, free = loss.derivative(y, z), high > low
    wanted = -problem.lam * w
    rows = X
    if problem.intercept:
        rows, wanted = np.column_stack([X, np.ones(len(y))]), np.append(wanted, 0.0)
    if free.any():
        scale = p.max()  # the bounded solver stops at an absolute size
        rest = wanted - rows[~free].T @ (p[~free] * v[~free])
        fitted = lsq_linear(
            rows[free].T * (p[free] / scale),
            rest / scale,
            (low[free], high[free]),
            method="bvls",
            tol=1e-15,
        )
        v[free] = fitted.x
    v = loss.feasible(y, v)
    if problem.intercept:
        up, down = p @ np.maximum(v, 0), p @ np.maximum(-v, 0)
        v = np.where(v > 0, v * min(1, down / up), v * min(1, up / down))
    return v


def dual_of_classes(problem, X, y, w, b, p):
    """Class probabilities with the mean that the intercept asks for, the frequencies.

    All rows are mixed with one distribution: rows keep the sum 1, and nothing changes where the
    means are right already.
    """
    hot = np.eye(w.shape[1])[y.astype(int)]
    q = problem.loss.derivative(y, X @ w + b) + hot
    mean, frequency = p @ q, p @ hot
    kept = min(1.0, np.min(frequency / mean))
    q = kept * q + (frequency - kept * mean)
    return problem.loss.feasible(y, q - hot)
