"""What lasso and elastic net choose: rules, ties, mixtures, and the honest score of the choice."""

import numpy as np
import pytest

import tikhon as tk
from tikhon.data.coerce import as_data
from tikhon.selection.folds import as_folds
from tikhon.selection.split import Rows

RATIOS = [0.2, 0.6, 1.0]


def data_of(rng, n=60, d=8):
    X = rng.standard_normal((n, d))
    return X, X[:, 0] - X[:, 1] + rng.standard_normal(n)


@pytest.mark.parametrize("shape", [(60, 8), (30, 50)], ids=["tall", "wide"])
def test_the_mixture_with_the_best_mean_score_is_chosen(shape, rng):
    X, y = data_of(rng, *shape)
    net = tk.ElasticNet(l1_ratio=RATIOS).fit(X, y)
    costs = {ratio: tk.ElasticNet(l1_ratio=ratio).fit(X, y).study_.best_cost for ratio in RATIOS}
    assert net.l1_ratio_ == min(costs, key=costs.get)
    for ratio in RATIOS:
        assert net.studies_[ratio].best_cost == pytest.approx(costs[ratio], rel=1e-9)


def test_of_equal_mixtures_the_sparser_is_chosen(rng):
    """A constant target has the null model under every mixture."""
    X, _ = data_of(rng)
    assert tk.ElasticNet(l1_ratio=RATIOS).fit(X, np.ones(60)).l1_ratio_ == 1.0


def test_of_equal_strengths_the_strongest_is_chosen(rng):
    X, _ = data_of(rng)
    model = tk.Lasso(tk.Grid(values=[5.0, 7.0, 9.0])).fit(X, np.zeros(60))
    assert model.lam_ == 9.0
    assert len(model.support_) == 0


@pytest.mark.parametrize("rule", ["1se", "2se", "aic", "bic", "ebic"])
@pytest.mark.parametrize(
    "model",
    [
        tk.Lasso(),
        tk.ElasticNet(l1_ratio=0.5),
        tk.GeneralizedLinear(penalty=tk.penalties.Group(np.arange(8) // 2)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_rules_are_applied_to_the_path_as_they_are_defined(model, rule, rng):
    X, y = data_of(rng)
    study = model.fit(X, y).study_
    at = study.index(rule)
    if rule.endswith("se"):
        best = study.index("min")
        limit = study.mean[best] + float(rule[0]) * study.se[best]
        assert study.mean[at] <= limit * (1 + 1e-12)
        assert at == 0 or study.mean[at - 1] > limit
        return
    path = study.path
    rss = np.array(
        [np.sum((y - X @ w - b) ** 2) for w, b in zip(path.coefs, path.intercepts, strict=True)]
    )
    price = 2.0 if rule == "aic" else np.log(60)
    values = 60 * np.log(rss / 60) + price * path.df
    if rule == "ebic":
        from scipy.special import gammaln

        values += gammaln(9) - gammaln(path.df + 1) - gammaln(9 - path.df)
    assert values[at] == pytest.approx(values.min(), rel=1e-9)


@pytest.mark.filterwarnings("ignore::tikhon.errors.DataWarning")
@pytest.mark.parametrize(
    "model",
    [
        tk.Lasso(tk.Grid(8, 0.05), folds=3),
        tk.ElasticNet(tk.Grid(8, 0.05), l1_ratio=RATIOS, folds=3),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_honest_score_repeats_the_whole_choice_on_each_outer_part(model, rng):
    from sklearn.base import clone

    X, y = data_of(rng)
    nested = clone(model).set_params(nested=4).fit(X, y).study_.nested
    data = as_data(X, y)
    split = as_folds(4).split(Rows(data.design, data.y, data.used, None))
    for k in range(4):
        train, test = split.cells.where(split.train[k]), split.cells.where(split.test[k])
        chosen = clone(model).fit(X[train], y[train])
        assert nested.lams[k] == pytest.approx(chosen.lam_, rel=1e-12)
        error = np.mean((y[test] - chosen.predict(X[test])) ** 2)
        assert nested.scores[k] == pytest.approx(error, rel=1e-9)
        np.testing.assert_array_equal(np.flatnonzero(nested.supports[k]), chosen.support_)
    assert nested.mean == pytest.approx(np.average(nested.scores, weights=nested.fold_weight))
    assert nested.spread == (nested.lams.min(), nested.lams.max())
    assert nested.frequency[0] == 1.0
