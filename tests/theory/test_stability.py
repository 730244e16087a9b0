"""Replace-one stability measured, against its bound and the lecture's identity."""

import numpy as np
import pytest
from scipy import sparse

import tikhon as tk
from tikhon.theory.refit import Refit

SQUARED, LOGISTIC, HUBER = tk.losses.Squared(), tk.losses.Logistic(), tk.losses.Huber(1.0)
L2 = tk.penalties.L2()


def normal(rng, n):
    X = rng.standard_normal((n, 3))
    return X, X @ [1.0, -1.0, 0.5] + rng.standard_normal(n)


def uniform(rng, n):
    X = rng.uniform(-1, 1, (n, 3))
    return X, X[:, 0] ** 2 + 0.5 * rng.uniform(-1, 1, n)


def heavy(rng, n):
    X = rng.standard_t(5, (n, 3))
    return X, X[:, 1] + rng.standard_t(4, n)


def classes(draw):
    def drawn(rng, n):
        X, y = draw(rng, n)
        return X, np.where(y > 0.1, 1.0, -1.0)

    return drawn


@pytest.mark.parametrize("draw", [normal, uniform, heavy])
@pytest.mark.parametrize("loss", [SQUARED, LOGISTIC, HUBER], ids=lambda loss: loss.name)
def test_measured_stability_is_below_its_bound_and_every_move_below_its_own(rng, loss, draw):
    draw = classes(draw) if loss.classification else draw
    problem = tk.Problem(loss, L2, 0.3, intercept=False)
    X, y = draw(rng, 60)
    new_X, new_y = draw(rng, 40)
    found = tk.theory.stability(problem, X, y, new_X, new_y, replacements=40)
    assert found.mean - 2 * found.se <= found.bound.value
    assert found.distances.max() <= found.distance_bound.value
    assert found.distances.max() > 0
    assert found.m == 60


@pytest.mark.parametrize("draw", [normal, uniform, heavy])
@pytest.mark.parametrize("loss", [SQUARED, LOGISTIC, HUBER], ids=lambda loss: loss.name)
def test_the_generalization_gap_is_the_replace_one_stability(loss, draw):
    draw = classes(draw) if loss.classification else draw
    problem = tk.Problem(loss, L2, 0.2)
    samples = 150 if loss is SQUARED else 40
    sides = tk.theory.stability_identity(problem, draw, 15, samples=samples, seed=3)
    assert abs(sides.difference) < 4 * sides.difference_se
    assert sides.stability > 2 * sides.stability_se
    assert sides.gap_se > 0
    assert f"{samples} samples" in str(sides)


def test_the_identity_would_not_hold_for_rows_that_were_trained_on():
    """Rows of the sample in place of fresh ones: no gap is seen, and the identity must fail."""

    def memory(rng, n):
        X, y = normal(rng, n)
        again = np.arange(n - 20) % 15
        X[20:], y[20:] = X[again], y[again]
        return X, y

    problem = tk.Problem(SQUARED, L2, 0.01)
    sides = tk.theory.stability_identity(problem, memory, 15, samples=150, seed=0)
    assert abs(sides.difference) > 4 * sides.difference_se


def test_ridge_moves_as_its_closed_form_says(rng):
    X, y = normal(rng, 30)
    new_X, new_y = normal(rng, 1)
    lam = 0.2
    problem = tk.Problem(SQUARED, L2, lam, intercept=False)
    found = tk.theory.stability(problem, X, y, new_X, new_y, replacements=5, seed=1)
    draws = np.random.default_rng(1)
    w = np.linalg.solve(X.T @ X / 30 + lam * np.eye(3), X.T @ y / 30)
    for k in range(5):
        i, _ = int(draws.integers(30)), draws.integers(1)
        Z, t = X.copy(), y.copy()
        Z[i], t[i] = new_X[0], new_y[0]
        v = np.linalg.solve(Z.T @ Z / 30 + lam * np.eye(3), Z.T @ t / 30)
        expected = ((y[i] - X[i] @ v) ** 2 - (y[i] - X[i] @ w) ** 2) / 2
        assert found.differences[k] == pytest.approx(expected, rel=1e-8, abs=1e-12)
        assert found.distances[k] == pytest.approx(np.linalg.norm(v - w), rel=1e-8)


def test_estimators_keep_the_strength_they_chose(rng):
    X, y = normal(rng, 80)
    for model in (tk.Ridge(), tk.ElasticNet(l1_ratio=0.5, folds=3), tk.Lasso(folds=3)):
        model.fit(X, y)
        again = Refit.of(model)
        assert again.what.lam == model.lam_
        np.testing.assert_allclose(again.fit(X, y).coef_, model.coef_, atol=1e-6)
        found = tk.theory.stability(model, X, y, replacements=10)
        assert found.m == 64
        if isinstance(model, tk.Lasso):
            assert found.bound is None
            assert "bound none" in str(found)
        else:
            assert found.mean < found.bound.value
            assert found.distances.max() < found.distance_bound.value
    assert list(found.to_frame().columns) == ["difference", "distance"]


def test_sparse_tables_and_frames_are_measured_alike(rng):
    import pandas as pd

    X, y = normal(rng, 50)
    X[X < 0] = 0.0
    model = tk.Ridge(lam=0.1, standardize=False)
    results = [
        tk.theory.stability(model.fit(table, y), table, y, replacements=10)
        for table in (X, sparse.csc_array(X), pd.DataFrame(X))
    ]
    for other in results[1:]:
        np.testing.assert_allclose(other.differences, results[0].differences, rtol=1e-6, atol=1e-12)
        assert other.bound.value == pytest.approx(results[0].bound.value, rel=1e-9)


def test_what_cannot_be_measured_is_refused(rng):
    X, y = normal(rng, 20)
    model = tk.Ridge(lam=0.1).fit(X, y)
    with pytest.raises(ValueError, match="`replacements` must be >= 2"):
        tk.theory.stability(model, X, y, replacements=1)
    with pytest.raises(ValueError, match="`X_new` and `y_new` together"):
        tk.theory.stability(model, X, y, X_new=X)
    with pytest.raises(ValueError, match="no fresh rows"):
        tk.theory.stability(model, X[:4], y[:4])
