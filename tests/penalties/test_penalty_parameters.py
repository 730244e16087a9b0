"""Parameters of penalties: equality, printing, copies, and what is refused with which message."""

import copy
import pickle

import numpy as np
import pytest

import tikhon.penalties as penalties
from tikhon.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    Group,
    Nonnegative,
    NormBall,
    Scaled,
    SparseGroup,
    Sum,
    Weighted,
    hard_threshold,
    soft_threshold,
)
from tikhon.testing import example_penalties

D = 5
every_penalty = pytest.mark.parametrize("penalty", example_penalties(D), ids=repr)


@every_penalty
def test_a_penalty_is_a_key_and_survives_copy_and_pickle(penalty):
    twin = pickle.loads(pickle.dumps(penalty))
    assert {penalty: 1}[twin] == 1
    assert copy.deepcopy(penalty) == penalty
    w = np.linspace(-2, 2, D)
    assert np.array_equal(twin.prox(w, 0.5), penalty.prox(w, 0.5))


def test_penalties_differ_when_a_parameter_does():
    assert Weighted(L1(), [1.0, 2.0]) != Weighted(L1(), [1.0, 3.0])
    assert Weighted(L1(), [1.0, 2.0]) != Weighted(L2(), [1.0, 2.0])
    assert Box(0.0, 1.0) != Box(0.0, 2.0)
    assert Box(-0.0, 1.0) == Box(0.0, 1.0)
    assert Group([0, 1, 1]) == Group([0, 1, 1], [1.0, np.sqrt(2)])
    assert Group([0, 1, 1]) != "group"
    assert SparseGroup([0, 1, 1]) == SparseGroup([0, 1, 1], 0.5, [1.0, np.sqrt(2)])
    assert SparseGroup([0, 1, 1]) != SparseGroup([0, 1, 1], 0.4)


@pytest.mark.parametrize(
    "penalty",
    [L1(), ElasticNet(0.25), NormBall(2.0), Box(-1.0, 2.0), Scaled(Sum(L1(), Nonnegative()), 2.0)],
    ids=repr,
)
def test_a_penalty_prints_as_the_expression_that_makes_it(penalty):
    assert eval(repr(penalty), vars(penalties).copy()) == penalty


def test_long_parameters_are_printed_short():
    assert repr(Weighted(L1(), [0.0, 2.0])) == "Weighted(penalty=L1(), weights=[0., 2.])"
    assert len(repr(Weighted(L1(), np.ones(10_000)))) < 100


def test_parameters_are_copies_that_cannot_be_written():
    weights = np.ones(2)
    penalty = Weighted(L1(), weights)
    weights[0] = 5
    assert penalty.value(np.ones(2)) == 2
    with pytest.raises(ValueError, match="read-only"):
        penalty.weights[0] = 5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ElasticNet(1.5), "`l1_ratio` must be between 0 and 1, got 1.5."),
        (lambda: ElasticNet(np.nan), "`l1_ratio` must be between 0 and 1, got nan."),
        (lambda: NormBall(0.0), "`radius` must be positive and finite, got 0.0."),
        (lambda: Scaled(L1(), 0.0), "`factor` must be positive and finite, got 0.0."),
        (lambda: Weighted(L1(), [1.0, -2.0]), "`weights` must be >= 0 and finite, got -2.0."),
        (lambda: Weighted(L1(), 2.0), "`weights` must be one number per column, got shape ()."),
        (lambda: Box(2.0, 1.0), "`lower` must be <= `upper`, got lower=2.0, upper=1.0."),
        (lambda: Box([0.0, 1.0], [1.0]), "must be equally long, got 2 and 1."),
        (lambda: Box(np.nan, 1.0), "`lower` must be a number or one number per column, none NaN"),
        (lambda: Box(np.inf, np.inf), "`lower` must be <= `upper`, got lower=inf"),
        (lambda: Group([0.5, 1.0]), "`groups` must be one integer per column, got an array"),
        (lambda: Group([0, 1], [1.0]), "`weights` must have one entry per group, shape (2,), got"),
        (lambda: Group([0, 1], [1.0, -1.0]), "`weights` must be >= 0 and finite, got [1.0, -1.0]."),
        (lambda: SparseGroup([0, 1], 1.5), "`l1_ratio` must be between 0 and 1, got 1.5."),
        (lambda: SparseGroup([0, 1], weights=[1.0]), "`weights` must have one entry per group"),
        (lambda: SparseGroup([0, 1]).prox(np.ones(3), 1.0), "`groups` has 2 entries for 3"),
        (lambda: Weighted(L1(), [1.0]).value(np.ones(3)), "`weights` has 1 entries for 3"),
        (lambda: Box([0.0], 1.0).prox(np.ones(3), 1.0), "`lower` has 1 entries for 3"),
        (lambda: Group([0, 1]).value(np.ones(3)), "`groups` has 2 entries for 3"),
        (lambda: soft_threshold(np.ones(2), -1.0), "`t` must be >= 0, got -1.0."),
        (lambda: hard_threshold(np.ones(2), [0.0, np.nan]), "`t` must be >= 0, got nan."),
    ],
)
def test_bad_parameters_are_refused_with_the_value(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert message in str(error.value)
