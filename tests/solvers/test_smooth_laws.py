"""Laws of smooth losses under every penalty: certified, and true to weights, tables and offsets."""

import numpy as np
import pytest
import scipy.sparse as sp

import tikhon as tk
from tests.smooth_cases import KINDS, LOSSES, PENALTIES, draw

LAMS = [0.3, 0.03, 0.003]
PAIRS = [(loss, penalty) for loss in LOSSES for penalty in PENALTIES]
QUICK = [
    (loss, penalty)
    for loss, penalty in PAIRS
    # several classes in groups go by proximal gradient, which is tried once, below
    if (loss, penalty) != ("multinomial", "groups")
]


def path(loss, penalty, X, y, **options):
    return tk.path(LOSSES[loss], PENALTIES[penalty], X, y, **{"lams": LAMS, **options})


@pytest.mark.parametrize(("loss", "penalty"), PAIRS)
def test_every_strength_is_certified_and_no_worse_than_by_proximal_gradient(rng, loss, penalty):
    X, y = draw(rng, LOSSES[loss])
    s, offset = rng.random(len(y)) + 0.1, rng.standard_normal(len(y))
    found = path(loss, penalty, X, y, sample_weight=s, offset=offset)
    assert found.status == "converged"
    slow = path(
        loss, penalty, X, y, sample_weight=s, offset=offset, solver="proximal_gradient", tol=1e-10
    )
    for ours, theirs in zip(found.certificates, slow.certificates, strict=True):
        assert (ours.gap if np.isfinite(ours.gap) else ours.kkt) <= 1e-8
        scale = abs(theirs.null_objective) + 1.0
        assert ours.objective <= theirs.objective + 1e-7 * scale
        if np.isfinite(ours.gap):  # the gap bounds the distance from any other point
            gain = (ours.objective - theirs.objective) / scale
            assert ours.gap >= gain - 1e-12


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("loss", "penalty"), QUICK)
def test_weights_are_repetitions(rng, loss, penalty, intercept):
    X, y = draw(rng, LOSSES[loss], n=40)
    s = rng.integers(0, 3, len(y))
    s[:3] = 1
    how = {"intercept": intercept, "tol": 1e-11}
    weighted = path(loss, penalty, X, y, sample_weight=s.astype(float), **how)
    repeated = path(loss, penalty, X.repeat(s, axis=0), y.repeat(s), **how)
    for a, b in zip(weighted.certificates, repeated.certificates, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("loss", "penalty"), QUICK)
def test_every_kind_of_table_gives_the_same_path(rng, loss, penalty, kind):
    X, y = draw(rng, LOSSES[loss], n=40)
    expected = path(loss, penalty, X, y, tol=1e-12)
    found = path(loss, penalty, KINDS[kind](X), y, tol=1e-12)
    np.testing.assert_allclose(found.coefs, expected.coefs, atol=3e-5)
    for a, b in zip(found.certificates, expected.certificates, strict=True):
        assert a.objective == pytest.approx(b.objective, rel=1e-9, abs=1e-10)


@pytest.mark.parametrize(("loss", "penalty"), QUICK)
def test_shifting_a_column_changes_only_the_intercept(rng, loss, penalty):
    X, y = draw(rng, LOSSES[loss], n=40)
    before = path(loss, penalty, X, y, tol=1e-12)
    after = path(loss, penalty, X + 1000.0, y, tol=1e-12)
    np.testing.assert_allclose(after.coefs, before.coefs, atol=3e-5)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "multinomial"])
def test_an_offset_along_a_free_column_is_taken_back_by_its_coefficient(rng, loss):
    X, y = draw(rng, LOSSES[loss])
    plain = path(loss, "free", X, y, tol=1e-11)
    moved = path(loss, "free", X, y, offset=0.5 * X[:, 1], tol=1e-11)
    change = np.zeros(5)
    change[1] = 0.5
    np.testing.assert_allclose(
        (moved.coefs - plain.coefs).T.T, _broadcast(-change, plain), atol=1e-4
    )


def _broadcast(change, path):
    shape = (1, 5) + (1,) * (path.coefs.ndim - 2)
    return np.broadcast_to(change.reshape(shape), path.coefs.shape)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_large_strength_gives_the_null_model(rng, loss):
    X, y = draw(rng, LOSSES[loss])
    found = path(loss, "l1", X, y, lams=[1e6])
    assert not found.coefs.any()
    problem = tk.Problem(LOSSES[loss], PENALTIES["l1"], 1.0)
    _, b = problem.null(X, y)
    np.testing.assert_allclose(found.intercepts[0], b, rtol=1e-9, atol=1e-12)
    assert found.certificates[0].objective == pytest.approx(found.certificates[0].null_objective)


@pytest.mark.parametrize("penalty", ["l2", "l1", "groups"])
@pytest.mark.parametrize("loss", ["logistic", "poisson", "huber"])
def test_a_path_is_a_sequence_of_cold_fits(rng, loss, penalty):
    X, y = draw(rng, LOSSES[loss])
    found = path(loss, penalty, X, y, tol=1e-11)
    for k, lam in enumerate(LAMS):
        alone = tk.solve(tk.Problem(LOSSES[loss], PENALTIES[penalty], lam), X, y, tol=1e-11)
        np.testing.assert_allclose(found.coefs[k], alone.coef, atol=3e-5)


@pytest.mark.parametrize("solver", ["tall", "iterative", "working_set", "proximal_gradient"])
@pytest.mark.parametrize("loss", [name for name in LOSSES if name != "multinomial"])
def test_solvers_agree(rng, loss, solver):
    X, y = draw(rng, LOSSES[loss])
    expected = path(loss, "l2", X, y, tol=1e-12)
    found = path(loss, "l2", X, y, tol=1e-12, solver=solver)
    np.testing.assert_allclose(found.coefs, expected.coefs, atol=3e-5)


@pytest.mark.parametrize("solver", ["tall", "iterative", "working_set"])
def test_several_targets_are_solved_side_by_side(rng, solver):
    X, y = draw(rng, LOSSES["logistic"])
    both = np.column_stack([y, -np.roll(y, 3)])
    found = path("logistic", "l2", X, both, solver=solver, tol=1e-11)
    for t in range(2):
        one = path("logistic", "l2", X, both[:, t], tol=1e-11)
        np.testing.assert_allclose(found.coefs[:, :, t], one.coefs, atol=1e-5)


@pytest.mark.parametrize("penalty", ["l1", "elastic", "l2"])
def test_wide_tables_are_certified_dense_and_sparse(rng, penalty):
    X = rng.standard_normal((40, 300)) * (rng.random((40, 300)) < 0.3)
    y = np.where(X[:, :5].sum(axis=1) + 0.3 * rng.standard_normal(40) > 0, 1.0, -1.0)
    penalty = {"l1": tk.penalties.L1(), "elastic": tk.penalties.ElasticNet(0.5),
               "l2": tk.penalties.L2()}[penalty]  # fmt: skip
    dense = tk.path(tk.losses.Logistic(), penalty, X, y, lams=20)
    sparse = tk.path(tk.losses.Logistic(), penalty, sp.csc_array(X), y, lams=20)
    assert dense.status == sparse.status == "converged"
    np.testing.assert_allclose(dense.coefs, sparse.coefs, atol=1e-4)


def test_a_loss_of_ones_own_takes_the_same_way(rng):
    class LogCosh(tk.losses.Loss):
        name = "log-cosh"

        def value(self, y, z):
            with np.errstate(over="ignore"):
                return np.logaddexp(z - y, y - z) - float(np.log(2))

        def derivative(self, y, z):
            return np.tanh(z - y)

    X, y = draw(rng, LOSSES["huber"])
    for penalty in (tk.penalties.L2(), tk.penalties.L1()):
        found = tk.path(LogCosh(), penalty, X, y, lams=LAMS)
        assert found.status == "converged"
        assert "proximal" not in found.solver or "Newton" in found.solver
        assert max(certificate.kkt for certificate in found.certificates) <= 1e-8


@pytest.mark.parametrize("penalty", ["l2", "l1"])
def test_separable_classes_are_named_at_strength_zero_and_solved_above(rng, penalty):
    X, _ = draw(rng, LOSSES["logistic"])
    y = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, -1.0)
    X[:, 0] += y
    problem = tk.Problem(tk.losses.Logistic(), PENALTIES[penalty], 0.0)
    assert tk.solve(problem, X, y).status == "separable"
    problem = tk.Problem(tk.losses.Logistic(), PENALTIES[penalty], 1e-3)
    assert tk.solve(problem, X, y).status == "converged"


@pytest.mark.parametrize("penalty", ["l2", "l1"])
@pytest.mark.parametrize("scale", [1.0, 1e6])
def test_large_counts_and_offsets_are_solved(rng, penalty, scale):
    X = rng.standard_normal((60, 3))
    exposure = np.full(60, np.log(scale) + 1000.0)
    y = rng.poisson(scale * np.exp(0.3 * X[:, 0])).astype(float)
    found = tk.path(
        tk.losses.Poisson(), PENALTIES[penalty], X, y, lams=[0.1, 0.01], offset=exposure
    ) if penalty == "l2" else tk.path(
        tk.losses.Poisson(), PENALTIES[penalty], X, y, lams=3, offset=exposure
    )  # fmt: skip
    assert found.status == "converged"
    assert np.isfinite(found.coefs).all()


@pytest.mark.parametrize("solver", ["tall", "working_set", "iterative", "proximal_gradient"])
def test_a_clock_that_has_run_out_returns_what_there_is(rng, solver):
    X, y = rng.standard_normal((3000, 60)), rng.choice([-1.0, 1.0], 3000)
    solution = tk.solve(
        tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 1e-6),
        X,
        y,
        solver=solver,
        max_seconds=1e-9,
        tol=1e-14,
    )
    assert solution.status in ("max_seconds", "interrupted")
    assert np.isfinite(solution.certificate.objective)


def test_a_regime_that_does_not_take_the_penalty_names_those_that_do(rng):
    X, y = draw(rng, LOSSES["logistic"])
    with pytest.raises(tk.UnsupportedError, match="'working_set', 'proximal_gradient'"):
        path("logistic", "l1", X, y, solver="tall")


def test_degrees_of_freedom_count_columns_and_fall_with_the_strength(rng):
    X, y = draw(rng, LOSSES["logistic"])
    lasso = path("logistic", "l1", X, y)
    np.testing.assert_array_equal(lasso.df, np.count_nonzero(lasso.coefs, axis=1))
    ridge = path("logistic", "l2", X, y, lams=[1e3, 0.1, 1e-3, 0.0])
    assert ridge.df[0] < 0.1
    assert ridge.df[-1] == pytest.approx(5.0)
    assert np.all(np.diff(ridge.df) > 0)
