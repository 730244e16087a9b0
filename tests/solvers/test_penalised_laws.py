"""Laws of penalised least squares, for every penalty in every regime that takes it."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.solvers.penalised_cases import (
    COORDINATES,
    PENALTIES,
    SHAPES,
    SQUARED,
    TABLES,
    cases,
    data_of,
    path_of,
    shapes,
)

CLOSE = {"tall": 1e-7, "working_set": 1e-7, "columns": 1e-5}
"""Of coefficients about 1, solved to a gap of 1e-13: on moments they come out nearly exact."""


def certificates_again(path, penalty, X, y, s=None):
    """Certificates by the definition, on the rows: those of any loss, not of the squared one."""
    return [
        tk.Problem(SQUARED, penalty, float(lam)).certificate(X, y, w, b, s)
        for lam, w, b in zip(path.lams, path.coefs, path.intercepts, strict=True)
    ]


@shapes
@cases
def test_every_point_is_certified_and_the_certificate_is_right(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    path = path_of(penalty, X, y, regime)
    assert path.status == "converged"
    again = certificates_again(path, penalty, X, y)
    for one, other in zip(path.certificates, again, strict=True):
        assert one.gap <= 1e-8
        assert other.gap <= 1e-8
        assert one.objective == pytest.approx(other.objective, rel=1e-12)
        assert max(one.kkt, other.kkt) <= 1e-4  # of the order of the gap's root


@shapes
@cases
def test_proximal_gradient_finds_no_smaller_objective(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    path = path_of(penalty, X, y, regime, lams=tk.Grid(3, 0.1))
    for lam, certificate in zip(path.lams, path.certificates, strict=True):
        slow = tk.solve(
            tk.Problem(SQUARED, penalty, lam), X, y, solver="proximal_gradient", tol=1e-9
        )
        assert certificate.objective <= slow.objective * (1 + 1e-9)


@shapes
@cases
def test_weights_are_repetitions(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    times = rng.integers(0, 4, len(y))
    lams = path_of(penalty, X, y, regime).lams
    how = {"lams": lams, "tol": 1e-13}
    weighted = path_of(penalty, X, y, regime, sample_weight=times.astype(float), **how)
    repeated = path_of(penalty, np.repeat(X, times, axis=0), np.repeat(y, times), regime, **how)
    np.testing.assert_allclose(weighted.coefs, repeated.coefs, atol=CLOSE[regime])
    np.testing.assert_allclose(weighted.intercepts, repeated.intercepts, atol=CLOSE[regime])
    np.testing.assert_allclose(weighted.losses, repeated.losses, rtol=1e-7)


@cases
def test_a_row_of_weight_0_is_no_row(name, regime, rng):
    X, y = data_of(rng, "long")
    penalty = PENALTIES[name](X.shape[1])
    s = np.ones(len(y))
    s[::5] = 0.0
    wild, y_wild = X.copy(), y.copy()
    wild[::5], y_wild[::5] = 30.0, -100.0
    lams = path_of(penalty, X, y, regime).lams
    how = {"lams": lams, "tol": 1e-12}
    removed = path_of(penalty, X[s > 0], y[s > 0], regime, **how)
    weighted = path_of(penalty, wild, y_wild, regime, sample_weight=s, **how)
    np.testing.assert_allclose(weighted.coefs, removed.coefs, atol=1e-5)


@shapes
@cases
def test_the_order_of_rows_and_columns_does_not_matter(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    rows, columns = rng.permutation(len(y)), rng.permutation(X.shape[1])
    path = path_of(penalty, X, y, regime, tol=1e-13)
    moved = path_of(
        penalty.restrict(columns), X[rows][:, columns], y[rows], regime, lams=path.lams, tol=1e-13
    )
    np.testing.assert_allclose(moved.coefs, path.coefs[:, columns], atol=CLOSE[regime])


@shapes
@cases
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "none"])
def test_every_kind_of_table_gives_the_same_path(name, regime, shape, intercept, rng):
    X, y = data_of(rng, shape)
    X = X.astype(np.float32).astype(np.float64)  # which float32 holds exactly
    penalty = PENALTIES[name](X.shape[1])
    how = {"intercept": intercept, "tol": 1e-13, "sample_weight": rng.random(len(y)) + 0.1}
    path = path_of(penalty, X, y, regime, **how)
    for kind in ("Fortran order", "strided", "float32", "CSR", "CSC", "CSR, 64-bit"):
        other = path_of(penalty, TABLES[kind](X), y, regime, lams=path.lams, **how)
        np.testing.assert_allclose(other.coefs, path.coefs, atol=CLOSE[regime], err_msg=kind)
        np.testing.assert_allclose(other.intercepts, path.intercepts, atol=10 * CLOSE[regime])
        assert max(c.gap for c in other.certificates) <= 1e-8
        assert other.coefs.dtype == np.float64
    if not intercept:
        assert not path.intercepts.any()


@shapes
@cases
def test_the_strength_of_the_null_model_is_exact(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    top = path_of(penalty, X, y, regime, lams=2).lams[0]
    if name == "weighted L2":
        assert not penalty.unpenalised(X.shape[1]).any()
        assert path_of(penalty, X, y, regime, lams=[top]).coefs.any()
        return
    at, below = path_of(penalty, X, y, regime, lams=[top * (1 + 1e-9), top * (1 - 1e-6)]).coefs
    penalised = ~penalty.unpenalised(X.shape[1])
    assert not at[penalised].any()
    assert below[penalised].any()
    assert not path_of(penalty, X, y, regime, lams=[1e6 * top]).coefs[0, penalised].any()


@shapes
@cases
def test_a_path_in_any_order_is_a_sequence_of_cold_fits(name, regime, shape, rng):
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    lams = path_of(penalty, X, y, regime).lams
    path = path_of(penalty, X, y, regime, lams=rng.permutation(lams), tol=1e-13)
    np.testing.assert_array_equal(path.lams, lams)
    for lam, w, b in zip(lams, path.coefs, path.intercepts, strict=True):
        cold = tk.solve(tk.Problem(SQUARED, penalty, lam), X, y, solver=regime, tol=1e-13)
        np.testing.assert_allclose(w, cold.coef, atol=CLOSE[regime])
        assert b == pytest.approx(cold.intercept, abs=10 * CLOSE[regime])


@cases
def test_shifting_a_column_changes_the_intercept_alone(name, regime, rng):
    X, y = data_of(rng, "long")
    penalty = PENALTIES[name](X.shape[1])
    shift = np.zeros(X.shape[1])
    shift[[0, 4]] = [1000.0, -50.0]
    for kind in ("C order", "CSC"):
        how = {"tol": 1e-12}
        path = path_of(penalty, TABLES[kind](X), y, regime, **how)
        moved = path_of(penalty, TABLES[kind](X + shift), y, regime, lams=path.lams, **how)
        np.testing.assert_allclose(moved.coefs, path.coefs, atol=10 * CLOSE[regime])
        np.testing.assert_allclose(
            moved.intercepts, path.intercepts - moved.coefs @ shift, atol=1e3 * CLOSE[regime]
        )


@pytest.mark.parametrize("name", COORDINATES)
@shapes
def test_scaling_a_column_by_a_power_of_two_is_exact(name, shape, rng):
    X, y = data_of(rng, shape)
    factor = np.ones(X.shape[1])
    factor[:4] = [2.0**20, 2.0**-12, 0.5, 4.0]
    penalty = PENALTIES[name](X.shape[1])
    if name == "box":
        return check_the_box_follows_its_units(X, y, factor)
    one, other = (
        tk.GeneralizedLinear(penalty=penalty, lam=tk.Grid(10, 0.05), folds=4).fit(table, y)
        for table in (X, X * factor)
    )
    assert one.lam_ == other.lam_
    np.testing.assert_allclose(other.coef_ * factor, one.coef_, atol=1e-10)
    np.testing.assert_allclose(other.study_.scores, one.study_.scores, rtol=1e-8)
    return None


def check_the_box_follows_its_units(X, y, factor):
    """Bounds are bounds of the coefficients as they are returned."""
    one, other = (
        tk.GeneralizedLinear(
            penalty=tk.penalties.Sum(tk.penalties.L1(), tk.penalties.Box(-0.2 / f, 0.3 / f)),
            lam=0.05,
        ).fit(X * f, y)
        for f in (np.ones(X.shape[1]), factor)
    )
    np.testing.assert_allclose(other.coef_ * factor, one.coef_, atol=1e-10)


@pytest.mark.parametrize("name", PENALTIES)
@shapes
def test_standardizing_is_done_within_each_fold(name, shape, rng):
    """Against one proximal-gradient path per fold, on columns scaled by that fold's rows."""
    X, y = data_of(rng, shape)
    penalty = PENALTIES[name](X.shape[1])
    s = rng.integers(0, 3, len(y)).astype(float)
    how = {"lams": tk.Grid(4, 0.1), "folds": 3, "standardize": True, "sample_weight": s}
    fast = tk.cross_validate(SQUARED, penalty, X, y, **how)
    slow = tk.cross_validate(SQUARED, penalty, X, y, solver="proximal_gradient", tol=1e-10, **how)
    np.testing.assert_allclose(fast.lams, slow.lams, rtol=1e-9)
    np.testing.assert_array_equal(fast.fold, slow.fold)
    np.testing.assert_allclose(fast.scores, slow.scores, rtol=2e-4)


@cases
def test_cross_validation_is_a_loop_over_folds(name, regime, rng):
    X, y = data_of(rng, "wide")
    penalty = PENALTIES[name](X.shape[1])
    how = {"lams": tk.Grid(4, 0.1), "tol": 1e-12}
    study = tk.cross_validate(SQUARED, penalty, X, y, folds=3, solver=regime, **how)
    for k in range(3):
        train, test = study.fold != k, study.fold == k
        for i, lam in enumerate(study.lams):
            alone = tk.solve(tk.Problem(SQUARED, penalty, lam), X[train], y[train], tol=1e-12)
            error = np.mean((y[test] - X[test] @ alone.coef - alone.intercept) ** 2)
            assert study.scores[i, k] == pytest.approx(error, rel=1e-5)


@cases
def test_the_same_run_twice_is_bitwise_equal(name, regime, rng, monkeypatch):
    X, y = data_of(rng, "wide")
    penalty = PENALTIES[name](X.shape[1])
    found = []
    for threads in ("1", "2", "2"):
        monkeypatch.setenv("TIKHON_NUM_THREADS", threads)
        study = tk.cross_validate(
            SQUARED, penalty, X, y, lams=tk.Grid(5, 0.1), folds=3, solver=regime
        )
        found.append((study.scores, study.path.coefs, study.path.intercepts))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("regime", ["tall", "working_set", "columns"])
@shapes
def test_several_targets_are_solved_as_one_each(regime, shape, rng):
    X, y = data_of(rng, shape)
    Y = np.column_stack([y, X[:, 2] + rng.standard_normal(len(y))])
    lams = [0.3, 0.05]
    together = path_of(tk.penalties.L1(), X, Y, regime, lams=lams, tol=1e-13)
    for t in range(2):
        alone = path_of(tk.penalties.L1(), X, Y[:, t], regime, lams=lams, tol=1e-13)
        np.testing.assert_allclose(together.coefs[:, :, t], alone.coefs, atol=CLOSE[regime])


@pytest.mark.parametrize("kind", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_the_plan_follows_the_shape(kind, rng):
    from tikhon.data import as_design
    from tikhon.solvers.choose import plan_penalised

    for n, d in SHAPES.values():
        plan = plan_penalised(as_design(kind(rng.random((n, d)))), tk.penalties.L1())
        assert plan.regime == ("tall" if n >= d else "working_set")
        assert f"n = {n}" in str(plan)
