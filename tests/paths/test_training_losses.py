"""A path knows the training loss of every strength: that of its coefficients on the rows."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.paths.ridge_path import LatePath

LAMS = [10.0, 0.3, 0.01, 0.0]
WEIGHTS = {"equal": lambda rng, n: None, "real": lambda rng, n: np.r_[0.0, rng.random(n - 1) + 0.1]}


def on_the_rows(path, loss, X, y, s):
    """Mean loss of each strength's predictions, summed over targets."""
    return [
        np.sum(np.average(loss.value(y, X @ w + b), axis=0, weights=s))
        for w, b in zip(path.coefs, path.intercepts, strict=True)
    ]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("targets", [None, 3])
@pytest.mark.parametrize("solver", ["tall", "wide", "iterative"])
@pytest.mark.parametrize("shape", [(60, 7), (24, 50)])
def test_ridge_losses_are_those_of_the_rows(rng, shape, solver, targets, weights):
    n, d = shape
    X = rng.standard_normal((n, d)) * np.exp(rng.standard_normal(d)) + 2.0
    y = (X[:, 0] + rng.standard_normal(n if targets is None else (targets, n))).T
    s = WEIGHTS[weights](rng, n)
    loss = tk.losses.Squared()
    path = tk.path(loss, tk.penalties.L2(), X, y, lams=LAMS, sample_weight=s, solver=solver)
    expected = on_the_rows(path, loss, X, y, s)
    np.testing.assert_allclose(path.losses, expected, rtol=1e-9, atol=1e-13)
    assert np.all(np.diff(path.losses) < 0)


def test_a_late_path_has_them_from_the_spectrum_without_its_solutions(rng, monkeypatch):
    monkeypatch.setattr("tikhon.paths.ridge_path.CERTIFY_AT_ONCE", 0)
    X = rng.standard_normal((200, 5))
    y = X @ np.ones((5, 2)) + rng.standard_normal((200, 2))
    path = tk.path(tk.losses.Squared(), tk.penalties.L2(), X, y, lams=LAMS[:3])
    assert isinstance(path, LatePath)
    found = path.losses
    assert "_solutions" not in path.__dict__
    expected = on_the_rows(path, tk.losses.Squared(), X, y, None)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("loss", "penalty"),
    [
        (tk.losses.Huber(), tk.penalties.L1()),
        (tk.losses.Squared(), tk.penalties.Sum(tk.penalties.L1(), tk.penalties.Nonnegative())),
        (tk.losses.Logistic(), tk.penalties.SparseGroup([0, 0, 1, 1])),
        (tk.losses.Squared(), tk.penalties.Box(-0.1, 0.1)),
    ],
    ids=lambda part: type(part).__name__,
)
def test_generic_losses_are_those_of_the_rows(rng, loss, penalty):
    X, s = rng.standard_normal((50, 4)), rng.random(50)
    y = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(50)
    y = np.where(y > 0, 1.0, -1.0) if loss.classification else y
    path = tk.path(loss, penalty, X, y, lams=[0.3, 0.03], sample_weight=s)
    np.testing.assert_allclose(path.losses, on_the_rows(path, loss, X, y, s), rtol=1e-11)


def test_degrees_of_freedom_of_the_lasso_are_its_nonzeros_per_target(rng):
    X = rng.standard_normal((50, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + 0.5 * rng.standard_normal(50)
    L1, Weighted, Scaled = tk.penalties.L1(), tk.penalties.Weighted, tk.penalties.Scaled
    for penalty in (L1, Weighted(L1, [1.0, 2.0, 0.5, 1.0]), Scaled(L1, 2.0)):
        path = tk.path(tk.losses.Squared(), penalty, X, y, lams=5)
        np.testing.assert_array_equal(path.df, np.count_nonzero(path.coefs, axis=1))
    two = tk.path(tk.losses.Squared(), L1, X, np.column_stack([y, X[:, 0]]), lams=5)
    np.testing.assert_allclose(two.df, np.count_nonzero(two.coefs, axis=(1, 2)) / 2)


def test_degrees_of_freedom_of_groups_lie_between_groups_and_columns(rng):
    X = rng.standard_normal((60, 6))
    y = X @ [2.0, -1.0, 0.5, 0.0, 0.0, 0.0] + 0.5 * rng.standard_normal(60)
    groups = np.array([0, 0, 1, 1, 2, 2])
    penalty = tk.penalties.Scaled(tk.penalties.Group(groups), 2.0)
    path = tk.path(tk.losses.Squared(), penalty, X, y, lams=6)
    for df, coef in zip(path.df, path.coefs, strict=True):
        held = np.count_nonzero(coef)
        assert len(set(groups[coef != 0])) * (held > 0) - 1e-9 <= df <= held + 1e-9
    assert path.df[0] == 0.0
