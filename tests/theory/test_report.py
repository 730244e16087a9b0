"""The report: constants of a loss on a table, bounds of a fitted model, assumptions checked."""

import json
import math

import numpy as np
import pytest
from scipy import sparse

import tikhon as tk
from tikhon.theory.clipped import clip_for

X = np.array([[3.0, 4.0], [0.0, 1.0], [1.0, 0.0]])
SIGNS = np.array([1.0, -1.0, 1.0])


@pytest.mark.parametrize(
    ("loss", "y", "lam", "rho", "beta", "at_zero"),
    [
        # slope 1 and curvature 1/4 in z, sup ||x|| = 5; log(1 + e^0)
        (tk.losses.Logistic(), SIGNS, None, 5.0, 25 / 4, math.log(2)),
        (tk.losses.Hinge(), SIGNS, None, 5.0, math.inf, 1.0),
        # delta = 2; targets up to 3: 2 (3 - 1)
        (tk.losses.Huber(2.0), np.array([3.0, -1.0, 0.0]), None, 10.0, 25.0, 4.0),
        # C = 3^2 / 2, ball sqrt(2 * 4.5 / 4) = 1.5, slope 5 * 1.5 + 3 = 10.5
        (tk.losses.Squared(), np.array([3.0, -1.0, 0.0]), 4.0, 52.5, 25.0, 4.5),
        # C = 1/2, ball sqrt(1 / 4) = 0.5, slope 1 + 2.5
        (tk.losses.SquaredHinge(), SIGNS, 4.0, 17.5, 25.0, 0.5),
        (tk.losses.Squared(), np.array([3.0, -1.0, 0.0]), None, math.inf, 25.0, 4.5),
    ],
    ids=lambda p: getattr(p, "name", None),
)
def test_constants_are_those_worked_out_by_hand(loss, y, lam, rho, beta, at_zero):
    found = tk.theory.constants(loss, X, y, lam)
    assert found.rho == pytest.approx(rho)
    assert found.beta == pytest.approx(beta)
    assert found.at_zero == pytest.approx(at_zero)
    assert tk.theory.constants(loss, sparse.csr_array(X), y, lam).rho == pytest.approx(rho)


def test_a_lipschitz_bound_for_the_squared_loss_says_what_is_missing():
    found = tk.theory.constants(tk.losses.Squared(), X, SIGNS)
    (lipschitz,) = [a for a in found.assumptions if "Lipschitz" in a.what]
    assert lipschitz.status == "not met"
    assert "without an L2 part of `lam` > 0 nothing bounds ||w||" in lipschitz.on
    poisson = tk.theory.constants(tk.losses.Poisson(), X, np.array([0.0, 1.0, 2.0]), 1.0)
    assert math.isinf(poisson.rho)
    assert math.isinf(poisson.beta)


def test_bounds_known_in_advance_are_checked_on_the_rows():
    for radius, status in ((6.0, "met"), (4.0, "not met"), (None, "cannot be checked")):
        found = tk.theory.constants(tk.losses.Hinge(), X, SIGNS, radius=radius)
        (reach,) = [a for a in found.assumptions if "||x|| <= R" in a.what]
        assert reach.status == status
        assert found.radius == (5.0 if radius is None else radius)


def test_the_ball_of_all_minimisers_holds_them(rng):
    for _ in range(20):
        A = rng.standard_normal((30, 3))
        y = 5 * rng.standard_normal(30)
        lam = 10 ** rng.uniform(-3, 2)
        found = tk.theory.constants(tk.losses.Squared(), A, y, lam)
        w = tk.solve(tk.Problem(tk.losses.Squared(), tk.penalties.L2(), lam, False), A, y).coef
        ball = math.sqrt(2 * found.at_zero / lam)
        assert np.linalg.norm(w) <= ball
        assert np.abs(A @ w - y).max() <= found.lipschitz


def statuses(bound):
    return {assumption.what: assumption.status.value for assumption in bound.assumptions}


def test_a_strength_chosen_on_the_same_data_is_said_not_to_be_fixed(rng):
    data = tk.datasets.linear(120, 4)
    chosen = tk.theory.report(tk.Ridge().fit(data.X, data.y), data.X, data.y)
    given = tk.theory.report(tk.Ridge(lam=0.5).fit(data.X, data.y), data.X, data.y)
    fixed = "lam was fixed before the data were seen"
    assert statuses(chosen["stability"])[fixed] == "not met"
    assert statuses(given["stability"])[fixed] == "cannot be checked"
    assert {f.name for f in chosen.figures} >= {"cross-validated score", "training loss"}


def test_a_model_by_the_book_leaves_only_what_no_table_can_settle(rng):
    A = rng.uniform(-1, 1, (4000, 3)) / math.sqrt(3)
    y = np.clip(A @ [0.5, -0.5, 0.2] + 0.1 * rng.standard_normal(4000), -1, 1)
    model = tk.Ridge(lam=1.0, standardize=False, fit_intercept=False).fit(A, y)
    found = tk.theory.report(model, A, y, radius=1.0, target=1.0, clip=2.0)
    for bound in found:
        assert "not met" not in statuses(bound).values(), str(bound)
    # rho = (1 * sqrt(2 * 0.5 / 1) + 1) * 1 = 2: 2 * 4 / (0.5 * 4000)
    assert found["stability"].value == pytest.approx(8 / 2000)
    assert found["stability"].lam == 1.0
    assert not found["stability"].vacuous
    assert not found["risk in norm balls"].vacuous


def test_the_lasso_has_no_stability_bound_and_says_why(rng):
    data = tk.datasets.linear(60, 4)
    model = tk.Lasso(lam=0.1).fit(data.X, data.y)
    bound = tk.theory.report(model, data.X, data.y)["stability"]
    assert bound.vacuous
    assert statuses(bound)["the penalty is strongly convex"] == "not met"
    mixed = tk.ElasticNet(lam=0.1, l1_ratio=0.75).fit(data.X, data.y)
    found = tk.theory.report(mixed, data.X, data.y)["stability"]
    assert found.lam == pytest.approx(0.025)
    assert "known" in str(bound)


def test_the_held_out_certificate_covers_and_is_not_vacuous(rng):
    """The mean of a million fresh rows stands for the risk."""
    misses = 0
    for seed in range(40):
        data = tk.datasets.linear(1600, 3, seed=seed)
        train, test = slice(0, 100), slice(100, 1600)
        model = tk.Ridge(lam=0.1).fit(data.X[train], data.y[train])
        found = tk.theory.report(
            model, data.X[train], data.y[train], data.X[test], data.y[test], clip=20 * data.noise**2
        )["held-out risk"]
        z = data.X @ (model.coef_ - data.coef)
        risk = (np.mean((z + model.intercept_ - data.intercept) ** 2) + data.noise**2) / 2
        misses += risk > found.value
        assert not found.vacuous
        assert found.value < 1.6 * risk
    assert misses <= 6


class Classifier:
    """A linear classifier of two named classes, as an estimator shows itself."""

    def __init__(self, coef, lam, loss, intercept=0.0):
        self.coef_, self.intercept_, self.lam_ = np.atleast_2d(coef), np.array([intercept]), lam
        self.loss_, self.classes_ = loss, np.array(["no", "yes"])

    def get_params(self, deep=True):
        return {"fit_intercept": False, "standardize": False}


def test_classifiers_get_margins_and_error_rates(rng):
    A = rng.uniform(-1, 1, (500, 2))
    A[:, 0] += np.sign(A[:, 0]) * 0.5
    y = np.where(A[:, 0] > 0, "yes", "no")
    model = Classifier([4.0, 0.0], 0.1, tk.losses.Hinge())
    found = tk.theory.report(model, A[:400], y[:400], A[400:], y[400:])
    margin = np.abs(A[:400, 0]).min()
    radius = np.linalg.norm(A[:400], axis=1).max()
    expected = tk.theory.bounds.hard_margin(radius, margin, 400, 0.05).value
    assert found["hard margin"].value == pytest.approx(expected)
    assert found["soft margin"].lam_s == pytest.approx(0.05)
    assert found["held-out error rate"].value == pytest.approx(1 - 0.05 ** (1 / 100))
    wrong = tk.theory.report(model, A, np.where(A[:, 1] > 0, "yes", "no"))
    assert "hard margin" not in {bound.name for bound in wrong}
    with pytest.raises(ValueError, match="none of"):
        tk.theory.report(model, A, np.where(A[:, 0] > 0, "yes", "maybe"))


def test_logistic_models_get_a_smooth_bound_and_a_suggestion(rng):
    A = rng.standard_normal((300, 2))
    y = np.where(A[:, 0] + rng.standard_normal(300) > 0, "yes", "no")
    problem = tk.Problem(tk.losses.Logistic(), tk.penalties.L2(), 0.2, intercept=False)
    w = tk.solve(problem, A, np.where(y == "yes", 1.0, -1.0)).coef
    found = tk.theory.report(Classifier(w, 0.2, tk.losses.Logistic()), A, y)
    names = {bound.name for bound in found}
    assert {"smooth stability", "suggested strength", "oracle excess", "sample size"} <= names
    size, radius = np.linalg.norm(w), np.linalg.norm(A, axis=1).max()
    suggested = tk.theory.bounds.suggested_strength(radius, size, 300)
    assert found["suggested strength"].lam == pytest.approx(suggested.lam)


def test_the_description_bound_is_that_of_a_word_which_decodes(rng):
    data = tk.datasets.linear(400, 4, seed=3)
    model = tk.Ridge(lam=0.1).fit(data.X, data.y)
    bound = tk.theory.report(model, data.X, data.y, clip=5.0)["risk by description"]
    found = []
    for precision in (1, 2, 3, 4, 6, 8, 12):
        word = tk.theory.encode(model, precision=precision)
        z = tk.theory.decode(word.bits, 4).predict(data.X)
        eps = 5.0 * tk.theory.bounds.mdl(len(word), 400, 0.05, tight=True).value
        found.append(np.minimum((data.y - z) ** 2 / 2, 5.0).mean() + eps)
    assert bound.value == pytest.approx(min(found))
    assert statuses(bound)["c was fixed before the data were seen"] == "cannot be checked"


def test_least_squares_classifiers_are_certified_by_their_errors(rng):
    A = rng.standard_normal((400, 3))
    y = np.where(A[:, 0] + 0.3 * rng.standard_normal(400) > 0, "b", "a")
    model = tk.RidgeClassifier(lam=0.1, class_weight="balanced").fit(A[:300], y[:300])
    found = tk.theory.report(model, A[:300], y[:300], A[300:], y[300:])
    errors = int((model.predict(A[300:]) != y[300:]).sum())
    expected = tk.theory.bounds.clopper_pearson(errors, 100, 0.05).value
    assert found["held-out error rate"].value == expected
    assert statuses(found["stability"])["every row counts alike"] == "not met"
    measured = tk.theory.stability(model, A, y, replacements=10)
    assert measured.mean < measured.bound.value


def test_generalized_models_carry_their_loss_and_penalty(rng):
    data = tk.datasets.linear(200, 3)
    penalty = tk.penalties.ElasticNet(0.25)
    model = tk.GeneralizedLinear(tk.losses.Huber(0.7), penalty, lam=0.2).fit(data.X, data.y)
    found = tk.theory.report(model, data.X, data.y)
    assert found.loss == "huber"
    assert found["stability"].lam == pytest.approx(0.15)
    radius = np.linalg.norm((data.X - data.X.mean(0)) / data.X.std(0), axis=1).max()
    expected = 2 * (0.7 * radius) ** 2 / (0.075 * 200)
    assert found["stability"].value == pytest.approx(expected)


def test_the_report_is_text_a_frame_and_plain_data():
    A, y = tk.datasets.diabetes()
    model = tk.Ridge(lam=1.0).fit(A, y)
    found = tk.theory.report(model, A[:300], y[:300], A[300:], y[300:])
    text = str(found)
    assert "lam = 1 (the lecture's lambda = 0.5)" in text
    assert "vacuous" in text
    table = found.to_frame()
    assert len(table) == len(found.bounds) == len(found.to_dict()["bounds"])
    assert set(table["assumptions"]) <= {"met", "not met", "cannot be checked"}
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["bounds"][0]["assumptions"][0]["status"] in table["assumptions"].to_list()
    with pytest.raises(KeyError, match="there are stability"):
        found["margin"]


def test_what_has_no_bound_is_refused_with_a_way_out(rng):
    A, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    with pytest.raises(tk.UnsupportedError, match="one output"):
        tk.theory.report(tk.Ridge(lam=0.1).fit(A, y), A, y)
    with pytest.raises(tk.UnsupportedError, match="fitted linear model with `coef_`"):
        tk.theory.report(tk.Ridge(), A, y[:, 0])
    model = tk.Ridge(lam=0.1).fit(A, y[:, 0])
    with pytest.raises(ValueError, match="`X_test` and `y_test` together"):
        tk.theory.report(model, A, y[:, 0], X_test=A)
    with pytest.raises(tk.UnsupportedError, match="one per class"):
        clip_for(tk.losses.Multinomial(), np.array([0.0, 1.0, 2.0]))
    with pytest.raises(tk.UnsupportedError, match="give a number"):
        clip_for(tk.losses.Squared(), np.ones(3))
