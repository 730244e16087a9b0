"""Translations are each other's inverse, say what they lack, and are shown as they are computed."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tikhon as tk
from tikhon.errors import UnsupportedError

ROWS = tk.conventions.table()
PAGE = Path(__file__).resolve().parents[2] / "docs" / "conventions.md"

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
positive = st.floats(1e-12, 1e12)
moderate = st.floats(1e-3, 1e3)
fractions = st.floats(0.0, 1.0)


def fixed_ratio(row):
    """The mixture of a row that has one penalty only, else None."""
    mixture = row.rule.mixture
    return mixture.value if mixture is not None and mixture.name is None else None


def close(a, b, scale):
    """Equal but for what is lost where L1 and L2 are shares of one number of that size."""
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-11 * scale)


@every_row
@given(lam=positive | st.just(0.0), l1_ratio=fractions, n=positive, y_sd=moderate)
def test_there_and_back_is_the_same_strength(row, lam, l1_ratio, n, y_sd):
    ratio = l1_ratio if fixed_ratio(row) is None else fixed_ratio(row)
    there = tk.conventions.from_lam(row.name, lam, ratio, n=n, y_sd=y_sd)
    back = tk.conventions.to_lam(row.name, n=n, y_sd=y_sd, **there)
    assert tuple(there) == row.parameters
    assert close(back.lam, lam, lam)
    assert close(back.l1, lam * ratio, lam)
    assert close(back.l2, lam * (1 - ratio), lam)
    if lam > 0 or len(row.rule.strengths) == 1:
        assert close(back.l1_ratio, ratio, 1.0)


@every_row
@given(data=st.data(), n=positive, y_sd=moderate)
def test_here_and_back_is_the_same_parameter(row, data, n, y_sd):
    there = {name: data.draw(positive) for name in row.rule.strengths}
    for name in set(row.parameters) - set(row.rule.strengths):
        there[name] = data.draw(fractions)
    strength = tk.conventions.to_lam(row.name, n=n, y_sd=y_sd, **there)
    ratio = strength.l1_ratio if fixed_ratio(row) is None else None
    back = tk.conventions.from_lam(row.name, strength.lam, ratio, n=n, y_sd=y_sd)
    largest = max(there[name] for name in row.rule.strengths)
    for name in row.rule.strengths:
        assert close(back[name], there[name], largest)


@every_row
@given(values=st.lists(positive, min_size=4, max_size=4), mix=fractions)
def test_the_formulas_shown_are_those_computed(row, values, mix):
    known = {"n": values[0], "y_sd": values[1]}
    there = dict(zip(row.rule.strengths, values[2:], strict=False))
    names = known | there
    if row.parameters != row.rule.strengths:
        there[row.parameters[-1]] = names[row.parameters[-1]] = mix
    strength = tk.conventions.to_lam(row.name, **known, **there)
    lam = evaluate(row.lam, names)
    assert math.isclose(strength.lam, lam, rel_tol=1e-12)
    ratio = evaluate(row.l1_ratio, names | {"lam": lam})
    assert math.isclose(strength.l1_ratio, ratio, rel_tol=1e-9, abs_tol=1e-15)


def evaluate(formula, names):
    """The value of a formula in which a space between names is a product."""
    words = formula.replace("(", " ( ").replace(")", " ) ").split()
    product = []
    for word in words:
        starts = word not in ("/", "+", "-", ")")
        ended = product and product[-1] not in ("/", "+", "-", "(")
        product += ["*", word] if starts and ended else [word]
    code = compile(ast.parse(" ".join(product), mode="eval"), formula, "eval")
    return eval(code, {"__builtins__": {}}, dict(names))


@every_row
def test_what_is_needed_of_the_data_is_asked_for(row):
    for name in row.needs:
        given = {"n": 10.0, "y_sd": 2.0, name: None}
        with pytest.raises(TypeError, match=f"`{name}` is needed for {row.name}"):
            tk.conventions.from_lam(row.name, 0.1, fixed_ratio(row) or 0.0, **given)
        with pytest.raises(ValueError, match=f"`{name}` must be finite and > 0, got 0"):
            tk.conventions.from_lam(row.name, 0.1, fixed_ratio(row) or 0.0, **given | {name: 0})


@every_row
def test_strengths_are_asked_for_and_checked(row):
    known = {"n": 10.0, "y_sd": 2.0}
    there = dict.fromkeys(row.rule.strengths, 1.0)
    first = row.rule.strengths[0]
    with pytest.raises(TypeError, match=f"`{first}` is missing"):
        tk.conventions.to_lam(row.name, **known, **{k: 1.0 for k in there if k != first})
    with pytest.raises(TypeError, match=f"`gamma` is not a parameter of {row.name}"):
        tk.conventions.to_lam(row.name, **known, **there, gamma=1.0)
    for wrong in (-1.0, np.nan):
        with pytest.raises(ValueError, match=f"`{first}` must be .*, got {wrong}"):
            tk.conventions.to_lam(row.name, **known, **there | {first: wrong})
    if row.parameters != row.rule.strengths:
        mixture = row.parameters[-1]
        with pytest.raises(ValueError, match=rf"`{mixture}` must be between 0 and 1, got 1\.5"):
            tk.conventions.to_lam(row.name, **known, **there, **{mixture: 1.5})


@every_row
def test_the_mixture_is_asked_for_or_refused(row):
    known = {"n": 10.0, "y_sd": 2.0}
    if fixed_ratio(row) is None:
        with pytest.raises(TypeError, match="`l1_ratio` is needed"):
            tk.conventions.from_lam(row.name, 0.1, **known)
    else:
        with pytest.raises(UnsupportedError, match=r"only, got 0\.5"):
            tk.conventions.from_lam(row.name, 0.1, 0.5, **known)


@every_row
def test_a_default_mixture_is_used_where_none_is_given(row):
    mixture = row.rule.mixture
    if mixture is None:
        assert len(row.rule.strengths) == 2
        return
    known = dict.fromkeys(row.rule.strengths, 1.0) | {"n": 10.0, "y_sd": 1.0}
    assert tk.conventions.to_lam(row.name, **known).l1_ratio == mixture.value


def test_names_are_unique_and_aliases_lead_to_their_row():
    names = [name for row in ROWS for name in row.names]
    assert len(names) == len(set(names))
    assert all(tk.conventions.find(name) is row for row in ROWS for name in row.names)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match="'Ridge' is not known") as caught:
        tk.conventions.to_lam("Ridge", alpha=1.0)
    assert all(name in str(caught.value) for row in ROWS for name in row.names)
    with pytest.raises(ValueError, match=r"Did you mean 'sklearn\.Ridge'"):
        tk.conventions.find("sklearn.ridge")


def test_no_penalty_is_an_infinite_cost_and_back():
    assert tk.conventions.from_lam("sklearn.SVC", 0.0, n=10) == {"C": math.inf}
    assert tk.conventions.to_lam("sklearn.SVC", C=math.inf, n=10).lam == 0.0


@pytest.mark.parametrize(
    ("l1_ratio", "penalty"),
    [
        (0.0, tk.penalties.L2()),
        (1.0, tk.penalties.L1()),
        (0.3, tk.penalties.ElasticNet(0.3)),
    ],
)
def test_a_strength_names_its_penalty(l1_ratio, penalty):
    assert tk.conventions.Strength(0.1, l1_ratio).penalty == penalty


@pytest.mark.parametrize(
    ("lam", "l1_ratio"), [(-1, 0), (np.inf, 0), (np.nan, 0), (1, -0.1), (1, 2)]
)
def test_a_strength_is_checked(lam, l1_ratio):
    with pytest.raises(ValueError, match="`lam`|`l1_ratio`"):
        tk.conventions.Strength(lam, l1_ratio)


def test_the_page_is_the_table():
    assert PAGE.read_text("utf-8") == tk.conventions.page(), (
        "run `python -m tikhon.conventions > docs/conventions.md`"
    )


@pytest.mark.parametrize(
    ("name", "system"),
    [
        ("lecture000.least_squares", lambda n, strength: strength * n),
        ("lecture001.ridge", lambda n, strength: 2 * strength * n),
        ("lecture002.ridge", lambda n, strength: strength),
    ],
)
def test_linear_systems_of_the_lectures_have_our_solution(name, system):
    X, y = tk.datasets.diabetes()
    X, y, n = X - X.mean(axis=0), y - y.mean(), len(y)
    strength = tk.conventions.to_lam(name, lambda_=3.0, n=n)
    w = np.linalg.solve(X.T @ X + system(n, 3.0) * np.eye(X.shape[1]), X.T @ y)
    problem = tk.Problem(tk.losses.Squared(), strength.penalty, strength.lam, intercept=False)
    assert problem.certificate(X, y, w).gap < 1e-14
