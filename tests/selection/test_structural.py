"""SRM and MDL as rules: their formulas by hand, their guarantee by simulation, their limits."""

import math
import pickle

import numpy as np
import pytest
from scipy.special import comb

import tikhon as tk
from tikhon.theory import bounds

SRM, MDL = tk.rules.SRM, tk.rules.MDL


def lasso_study(rng, m=300, d=8, **options):
    X = rng.standard_normal((m, d)) * 10.0 ** rng.integers(-2, 3, d)
    scale = X.std(axis=0)
    y = X[:, 0] / scale[0] - X[:, 1] / scale[1] + 0.3 * rng.standard_normal(m)
    grid = tk.Grid(30, 1e-3)
    return X, y, tk.Lasso(lam=grid, folds=3, **options).fit(X, y).study_


def test_support_classes_are_their_formula(rng):
    X, y, study = lasso_study(rng)
    table = SRM("support", delta=0.1).table(study.evidence)
    c = (y.max() - y.min()) ** 2 / 2
    for at in (0, 10, 29):
        w, b = study.path.coefs[at], study.path.intercepts[at]
        k = np.count_nonzero(w)
        share = 6 / (math.pi * (k + 1)) ** 2 * 0.1 / comb(8, k)
        growth = 2 * (k + 1) * math.log(2 * math.e * 300 / (k + 1))
        assert table.level[at] == k
        risk = np.mean(np.minimum((y - X @ w - b) ** 2 / 2, c))
        assert table.risk[at] == pytest.approx(risk, rel=1e-9)
        eps = c * math.sqrt(8 / 300 * (growth + math.log(4 / share)))
        assert table.deviation[at] == pytest.approx(eps)
    assert table.c == pytest.approx(c)


def test_norm_classes_are_their_formula(rng):
    data = tk.datasets.linear(200, 5)
    study = tk.Ridge().fit(data.X, data.y).study_
    table = SRM(clip=8.0).table(study.evidence)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    radius = np.linalg.norm(Z, axis=1).max()
    unit = 8.0 / (4.0 * radius)  # the clipped squared loss has slope sqrt(2 * 8)
    for at in (0, 50, 99):
        norm = np.linalg.norm(study.path.coefs[at] * data.X.std(axis=0))
        level = max(0, math.ceil(math.log2(norm / unit)))
        eps = bounds.norm_ball(
            4 * radius, unit * 2**level, 200, 0.05 * bounds.class_weight(level), 8.0
        )
        assert table.level[at] == level
        assert table.deviation[at] == pytest.approx(eps.value)
    assert study.index(SRM(clip=8.0)) == np.argmin(table.bound)


def test_classes_of_ones_own_and_their_weights(rng):
    _, _, study = lasso_study(rng)
    own = tk.theory.NestedClasses(
        level=lambda coef: int(np.count_nonzero(coef) > 2),
        deviation_of=lambda d, m, delta: math.sqrt((d + math.log(1 / delta)) / m),
    )
    weights = [0.75, 0.25]
    table = SRM(own, weight=lambda d: weights[d], clip=3.0, delta=0.2).table(study.evidence)
    for level in (0, 1):
        expected = 3.0 * math.sqrt((level + math.log(1 / (0.2 * weights[level]))) / 300)
        np.testing.assert_allclose(table.deviation[table.level == level], expected)
    with pytest.raises(ValueError, match="`weight` must be in"):
        study.index(SRM(own, weight=lambda d: 2.0))
    with pytest.raises(ValueError, match="`level` must return"):
        study.index(SRM(tk.theory.NestedClasses(lambda coef: -1)))


@pytest.mark.parametrize("tight", [False, True])
def test_description_length_is_its_formula(rng, tight):
    X, y, study = lasso_study(rng)
    rule = MDL(delta=0.1, tight=tight, clip=2.0)
    table = rule.table(study.evidence)
    at = study.index(rule)
    code = rule.code(study.evidence)
    assert len(code) == table.bits[at]
    risk = np.mean(np.minimum((y - code.predict(X)) ** 2 / 2, 2.0))
    assert table.risk[at] == pytest.approx(risk, rel=1e-9)
    price = len(code) * (math.log(2) if tight else 1.0)
    eps = 2.0 * math.sqrt((price + math.log(20)) / 600)
    assert table.bound[at] == pytest.approx(risk + eps)
    assert table.bound[at] == table.bound.min()
    again = tk.theory.decode(code.bits, X.shape[1])
    np.testing.assert_array_equal(again.predict(X), code.predict(X))
    for precision in rule.precisions:
        other = tk.theory.encode(study.path[at], precision=precision)
        price = len(other) * (math.log(2) if tight else 1.0)
        loss = np.mean(np.minimum((y - other.predict(X)) ** 2 / 2, 2.0))
        assert loss + 2.0 * math.sqrt((price + math.log(20)) / 600) >= table.bound[at] - 1e-12


@pytest.mark.parametrize("rule", [SRM("support", clip=2.0), SRM("norm", clip=2.0), MDL(clip=2.0)])
def test_the_least_bound_covers_the_risk_of_what_is_chosen(rng, rule):
    """Pure noise, so that choosing among forty strengths on the same rows is a temptation."""
    misses = 0
    for _ in range(25):
        X, y = rng.standard_normal((80, 10)), rng.standard_normal(80)
        study = tk.cross_validate(
            tk.losses.Squared(), tk.penalties.L1(), X, y, lams=tk.Grid(40, 1e-3), folds=2
        )
        table = rule.table(study.evidence)
        at = study.index(rule)
        fresh = rng.standard_normal((4000, 10))
        solution = rule.code(study.evidence) if isinstance(rule, MDL) else study.choose(rule)
        z = solution.predict(fresh)
        risk = np.minimum((rng.standard_normal(4000) - z) ** 2 / 2, 2.0).mean()
        misses += risk > table.bound[at]
    assert misses <= 25 * 0.05


def test_more_rows_allow_richer_models(rng):
    """Four strong signals of two digits: found once the rows pay for their description."""
    sizes = []
    for m in (30, 20_000):
        X = rng.standard_normal((m, 6))
        y = X[:, :4] @ [1.0, -1.0, 1.0, 1.0] + 0.1 * rng.standard_normal(m)
        study = tk.cross_validate(
            tk.losses.Squared(), tk.penalties.L1(), X, y, lams=tk.Grid(20, 1e-3), folds=2
        )
        sizes.append(
            [np.count_nonzero(study.choose(r).coef) for r in (SRM(clip=8.0), MDL(clip=8.0))]
        )
    assert sizes[0] == [0, 0]
    assert sizes[1] == [4, 4]


def test_classes_are_judged_by_their_errors(rng):
    X = rng.standard_normal((400, 5))
    y = np.where(X[:, 0] - X[:, 1] > 0.2 * rng.standard_normal(400), 1.0, -1.0)
    study = tk.cross_validate(
        tk.losses.Logistic(), tk.penalties.L1(), X, y, lams=8, folds=2, tol=1e-5
    )
    for rule, c in ((SRM("support"), 1.0), (MDL(), 1.0), (SRM("norm"), math.log(2))):
        table = rule.table(study.evidence)
        assert table.c == pytest.approx(c)
    table = SRM("support").table(study.evidence)
    z = X @ study.path.coefs.T + study.path.intercepts
    np.testing.assert_allclose(table.risk, np.mean(y[:, None] * z <= 0, axis=0), atol=1e-12)
    k = np.count_nonzero(study.path.coefs[-1])
    share = 0.05 * bounds.class_weight(k) / comb(5, k)
    assert table.deviation[-1] == pytest.approx(bounds.vc(k + 1, 400, share).value)


def test_weights_are_repetitions_and_units_do_not_matter(rng):
    X, y = rng.standard_normal((60, 4)), rng.standard_normal(60)
    y += X[:, 0]
    s = rng.integers(0, 4, 60)
    weighted = tk.Ridge(folds=4).fit(X, y, sample_weight=s).study_
    repeated = tk.Ridge(folds=4).fit(X.repeat(s, axis=0), y.repeat(s)).study_
    scaled = tk.Ridge(folds=4).fit(1000 * X, y, sample_weight=s).study_
    for rule in (SRM(clip=2.0), MDL(clip=2.0)):
        one, other = rule.values(weighted.evidence), rule.values(repeated.evidence)
        np.testing.assert_allclose(one, other, rtol=1e-7)
    np.testing.assert_allclose(
        SRM(clip=2.0).values(weighted.evidence), SRM(clip=2.0).values(scaled.evidence), rtol=1e-7
    )


def test_both_stand_beside_the_other_rules(rng):
    X, y, study = lasso_study(rng)
    rules = ("min", "1se", "aic", "bic", "ebic", "srm", "mdl")
    chosen = study.criteria(rules)
    assert [choice.rule for choice in chosen] == list(rules)
    model = tk.Lasso(lam=tk.Grid(30, 1e-3), folds=3, rule="mdl").fit(X, y)
    assert model.lam_ == study.lam("mdl")
    assert chosen[0].lam <= study.lam("srm")


def test_a_pickled_study_forgets_the_rows_and_says_so(rng):
    _, _, study = lasso_study(rng)
    twin = pickle.loads(pickle.dumps(study))
    assert twin.lam("bic") == study.lam("bic")
    for rule in ("srm", "mdl"):
        with pytest.raises(tk.UnsupportedError, match="a pickled study forgets"):
            twin.choose(rule)


def test_several_targets_and_nonsense_are_refused(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    study = tk.Ridge(folds=3).fit(X, y).study_
    for rule in ("srm", "mdl"):
        with pytest.raises(tk.UnsupportedError, match=f"rule='{rule}' is for one target"):
            study.choose(rule)
    for made, message in (
        (lambda: SRM("ball"), "`classes` must be 'auto'"),
        (lambda: SRM(delta=0.0), "`delta`"),
        (lambda: MDL(delta=1.0), "`delta`"),
    ):
        with pytest.raises(ValueError, match=message):
            made()
