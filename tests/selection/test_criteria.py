"""Information criteria: their formulas by hand, supports they find, and where they are silent."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import comb

import tikhon as tk
from tests.reference import ridge
from tests.selection.test_cross_validation import LAMS, WEIGHTS, data_of, study_of
from tikhon.selection.evidence import Evidence, Sample

AIC, BIC, EBIC = tk.rules.AIC, tk.rules.BIC, tk.rules.EBIC


def evidence(losses, df, n, *, loss=None, d=50, targets=1, intercept=True):
    losses = np.asarray(losses, dtype=float)
    sample = Sample(loss or tk.losses.Squared(), n, d, targets, intercept)
    flat = np.zeros_like(losses)
    path = SimpleNamespace(df=np.asarray(df, dtype=float), losses=losses)
    return Evidence(flat, flat, path, sample)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("solver", ["tall", "wide"])
def test_ridge_criteria_are_their_formulas(rng, solver, weights, intercept):
    X, y = data_of(rng, "tall")
    s = WEIGHTS[weights](rng, len(y))
    study = study_of(X, y, solver=solver, weights=s, intercept=intercept, standardize=True)
    s = np.ones(len(y)) if s is None else s
    n, p, d = s.sum(), s / s.sum(), X.shape[1]
    Z = X - p @ X if intercept else X
    Z = Z / np.sqrt(p @ Z**2)
    for i, lam in enumerate(LAMS):
        coef, b = ridge(X, y, lam, weights=s, standardize=True, intercept=intercept)
        rss = s @ (y - X @ coef - b) ** 2
        M = Z.T @ (Z * p[:, None])
        k = np.trace(np.linalg.solve(M + lam * np.eye(d), M)) + intercept
        fit = n * np.log(rss / n)
        assert AIC().values(study.evidence)[i] == pytest.approx(fit + 2 * k, rel=1e-10)
        assert BIC().values(study.evidence)[i] == pytest.approx(fit + np.log(n) * k, rel=1e-10)


def test_several_targets_share_one_variance(rng):
    X, y = data_of(rng, "tall", targets=3)
    study = study_of(X, y)
    n = len(y)
    for i, lam in enumerate(LAMS):
        coef, b = ridge(X, y, lam)
        rss = np.sum((y - X @ coef - b) ** 2)
        k = 3 * (study.path.df[i] + 1)
        expected = 3 * n * np.log(rss / (3 * n)) + np.log(n) * k
        assert BIC().values(study.evidence)[i] == pytest.approx(expected, rel=1e-10)


def test_lasso_criteria_count_columns(rng):
    X = rng.standard_normal((80, 12))
    y = 2.0 * X[:, 0] + rng.standard_normal(80)
    study = tk.cross_validate(tk.losses.Squared(), tk.penalties.L1(), X, y, lams=20, folds=3)
    residual = y[:, None] - X @ study.path.coefs.T - study.path.intercepts
    size = np.count_nonzero(study.path.coefs, axis=1)
    bic = 80 * np.log(np.mean(residual**2, axis=0)) + np.log(80) * (size + 1)
    np.testing.assert_allclose(BIC().values(study.evidence), bic, rtol=1e-9)
    ebic = bic + 2 * 0.7 * np.log(comb(12, size))
    np.testing.assert_allclose(EBIC(0.7).values(study.evidence), ebic, rtol=1e-9)
    np.testing.assert_allclose(EBIC(0.0).values(study.evidence), bic, rtol=1e-9)


def test_other_likelihoods_are_twice_the_loss(rng):
    X = rng.standard_normal((120, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(120) > 0, 1.0, -1.0)
    study = tk.cross_validate(tk.losses.Logistic(), tk.penalties.L1(), X, y, lams=8, folds=3)
    z = X @ study.path.coefs.T + study.path.intercepts
    minus_log_likelihood = np.log1p(np.exp(-y[:, None] * z)).sum(axis=0)
    size = np.count_nonzero(study.path.coefs, axis=1)
    aic = 2 * minus_log_likelihood + 2 * (size + 1)
    np.testing.assert_allclose(AIC().values(study.evidence), aic, rtol=1e-9)
    assert study.choose("aic").lam == study.lams[aic.argmin()]


def test_weights_are_repetitions_for_criteria(rng):
    X, y = data_of(rng, "tall")
    s = rng.integers(0, 4, len(y))
    weighted = study_of(X, y, weights=s.astype(float), folds=5)
    repeated = study_of(X.repeat(s, axis=0), y.repeat(s), folds=5)
    for rule in (AIC(), BIC(), EBIC()):
        np.testing.assert_allclose(
            rule.values(weighted.evidence), rule.values(repeated.evidence), rtol=1e-9
        )


def test_choices_do_not_depend_on_the_units_of_the_target(rng):
    X = rng.standard_normal((60, 7))
    y = X.sum(axis=1) + rng.standard_normal(60)
    one, other = tk.Ridge().fit(X, y).study_, tk.Ridge().fit(X, 1e6 * y).study_
    for rule in ("aic", "bic", "ebic"):
        assert one.index(rule) == other.index(rule)
        assert 0 < one.index(rule) < len(one.lams) - 1


@pytest.mark.parametrize("adaptive", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_the_true_support_is_found_by_construction(seed, adaptive):
    """Orthogonal columns, strong signals, and noise of which each idle column has its fair share.

    The noise e has variance 1 and covariance 1 / sqrt(n) with every idle column, in size: taking it
    in lowers ``n log(RSS)`` by about 1, which no criterion pays for.
    """
    rng = np.random.default_rng(seed)
    n, d, support = 200, 40, np.array([3, 11, 29])
    table = np.column_stack([np.ones(n), rng.standard_normal((n, d + 1))])
    Q = np.sqrt(n) * np.linalg.qr(table)[0]
    X, rest = Q[:, 1 : d + 1], Q[:, d + 1]
    share = rng.choice([-1.0, 1.0], d) / np.sqrt(n)
    share[support] = 0.0
    noise = X @ share + np.sqrt(1 - share @ share) * rest
    y = X[:, support] @ [3.0, -2.0, 2.0] + noise
    assert np.mean(noise**2) == pytest.approx(1.0)
    first = X.T @ y / n
    weights = tk.penalties.adaptive_weights(first) if adaptive else np.ones(d)
    penalty = tk.penalties.Weighted(tk.penalties.L1(), weights)
    lams = tk.Grid(60, 1e-4)
    study = tk.cross_validate(tk.losses.Squared(), penalty, X, y, lams=lams, folds=3, tol=1e-7)
    assert np.count_nonzero(study.path.coefs[-1]) == d
    for rule in ("aic", "bic", "ebic"):
        np.testing.assert_array_equal(np.flatnonzero(study.choose(rule).coef), support)


def test_the_extended_criterion_withstands_many_columns_of_noise(rng):
    """Orthogonal columns of noise, the best of 400 first: each lowers RSS by a squared normal.

    The largest of 400 is about 2 log 400 = 12, more than the log 1000 = 7 that BIC charges.
    """
    n, d = 1000, 400
    gains = np.sort(rng.standard_normal((40, d)) ** 2)[:, ::-1]
    taken = {"bic": 0, "ebic": 0}
    for gain in gains:
        rss = n - np.concatenate([[0.0], np.cumsum(gain[:50])])
        own = evidence(rss / (2 * n), np.arange(51), n, d=d)
        for name, rule in (("bic", BIC()), ("ebic", EBIC(1.0))):
            taken[name] += rule.choose(own)
    assert taken["bic"] > 40
    assert taken["ebic"] < 4


def test_beyond_where_noise_would_be_rewarded_no_strength_is_eligible():
    """With RSS falling as for pure noise, log(1 - k / n) per parameter, the null model must win."""
    n = 100
    df = np.arange(0.0, 99.0)
    losses = 0.5 * (1 - (df + 1) / n)
    own = evidence(losses, df, n)
    for rule, limit in ((AIC(), n / 2), (BIC(), n * (1 - 1 / np.log(n)))):
        values = rule.values(own)
        np.testing.assert_array_equal(np.isfinite(values), df + 1 <= limit)
        assert rule.choose(own) == 0
    plain = n * np.log(2 * losses) + 2 * (df + 1)
    assert plain.argmin() == len(df) - 1


def test_a_fit_that_is_exact_to_rounding_is_not_eligible(rng):
    losses = [1.0, 1e-3, 1e-6, 1e-13, 0.0]
    own = evidence(losses, [0, 1, 2, 3, 4], 50)
    assert np.isfinite(AIC().values(own)).tolist() == [True, True, True, False, False]
    assert AIC().choose(own) == 2
    X = rng.standard_normal((20, 60))
    study = tk.Ridge(folds=5).fit(X, rng.standard_normal(20)).study_
    chosen = study.choose("aic")
    assert study.path.df[study.index("aic")] + 1 <= 10
    assert chosen.lam > study.lams[-1]


def test_a_constant_target_asks_for_the_null_model():
    for losses in ([0.0, 0.0, 0.0], [1e-34, 1e-34, 1e-34]):
        assert AIC().choose(evidence(losses, [0.1, 1.0, 2.0], 50)) == 0
    X = np.random.default_rng(0).standard_normal((30, 3))
    model = tk.Ridge(rule="bic").fit(X, np.full(30, 0.1))
    np.testing.assert_allclose(model.predict(X), 0.1)
    assert model.lam_ == model.study_.lams[0]


def test_ties_go_to_the_stronger_strength():
    own = evidence([1.0, 0.5, 0.5, 0.5 * (1 + 1e-15)], [0, 2, 2, 2], 80)
    for rule in (AIC(), BIC(), EBIC()):
        assert rule.choose(own) == 1


def test_degrees_of_freedom_between_whole_numbers_lie_between_in_the_extension():
    own = evidence(np.ones(3), [2.0, 2.5, 3.0], 1e4, d=20)
    extra = EBIC(1.0).values(own) - BIC().values(own)
    np.testing.assert_allclose(extra[[0, 2]], 2 * np.log(comb(20, [2, 3])), rtol=1e-10)
    assert extra[0] < extra[1] < extra[2]
    full = evidence(np.ones(1), [20.0], 1e4, d=20)
    assert EBIC(1.0).values(full) == pytest.approx(BIC().values(full))


def test_ridge_fits_by_a_criterion(rng):
    X, y = data_of(rng, "tall")
    model = tk.Ridge(rule="bic").fit(X, y)
    assert model.lam_ == model.study_.lam("bic") == tk.Ridge(rule=BIC()).fit(X, y).lam_
    assert model.lam_ != model.study_.lam("min")
    np.testing.assert_allclose(model.coef_, model.study_.choose("bic").coef, rtol=1e-9)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: evidence([1.0], [1.0], 50, loss=tk.losses.SquaredHinge()), "SquaredHinge is not"),
        (lambda: evidence([1.0], [1.0], 50, loss=tk.losses.Hinge()), "rule='min' or '1se', or the"),
        (lambda: evidence([1.0], [1.0], 50, loss=tk.losses.Huber()), "needs a likelihood"),
        (lambda: evidence([1.0], [np.nan], 50), "needs degrees of freedom.*other than 'iterative'"),
        (lambda: evidence([1.0], [48.0], 50), "can judge no strength.*stronger strengths"),
        (lambda: evidence([1.0], [60.0], 50, loss=tk.losses.Logistic()), "more than 50 parameters"),
    ],
)
@pytest.mark.parametrize("rule", ["aic", "bic", "ebic"])
def test_what_a_criterion_cannot_judge_it_refuses_and_names_what_works(rule, made, message):
    with pytest.raises(tk.UnsupportedError, match=message) as error:
        tk.rules.as_rule(rule).choose(made())
    assert f"rule={rule!r}" in str(error.value)


def test_studies_without_degrees_of_freedom_or_likelihood_say_so(rng):
    X, y = data_of(rng, "tall")
    with pytest.raises(tk.UnsupportedError, match="degrees of freedom"):
        study_of(X, y, solver="iterative").choose("bic")
    sign = np.where(y > y.mean(), 1.0, -1.0)
    study = tk.cross_validate(
        tk.losses.SquaredHinge(), tk.penalties.L1(), X, sign, lams=3, folds=3, tol=1e-4
    )
    with pytest.raises(tk.UnsupportedError, match="likelihood"):
        study.choose("aic")
    with pytest.raises(ValueError, match="`gamma` must be >= 0 and finite, got -1"):
        EBIC(-1)
