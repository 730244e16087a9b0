"""Parameters, targets and weights of losses: equality, printing, what is refused and how."""

import copy
import pickle

import numpy as np
import pytest

import tikhon.losses as losses
from tikhon.losses import (
    EpsilonInsensitive,
    Gamma,
    Hinge,
    Huber,
    Logistic,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    SquaredHinge,
)
from tikhon.testing import example_losses

every_loss = pytest.mark.parametrize("loss", example_losses(), ids=repr)


@every_loss
def test_a_loss_prints_as_the_expression_that_makes_it(loss):
    assert eval(repr(loss), vars(losses).copy()) == loss


@every_loss
def test_a_loss_is_a_key_and_survives_copy_and_pickle(loss):
    twin = pickle.loads(pickle.dumps(loss))
    assert {loss: 1}[twin] == 1
    assert copy.deepcopy(loss) == loss


@pytest.mark.parametrize(
    ("loss", "y", "sentence"),
    [
        (Logistic(), [1.0, 0.0], "logistic loss must be -1 or +1, got 0.0 at row 1. Encode"),
        (Hinge(), [2.0], "hinge loss must be -1 or \\+1, got 2.0 at row 0"),
        (SquaredHinge(), [[1.0, -1.0], [1.0, 3.0]], "got 3.0 at row 1"),
        (Poisson(), [1.0, -2.0], "Poisson loss must be >= 0, got -2.0 at row 1. Use"),
        (Gamma(), [1.0, 0.0], "Gamma loss must be > 0, got 0.0 at row 1. Use"),
        (Multinomial(), [0.0, 0.5], "class codes 0, 1, 2, ..., got 0.5 at row 1"),
        (Multinomial(), [0, 1, 3], "got no 2 below 3. Number the classes without gaps"),
        (Multinomial(), [1, 2], "got no 0 below 2"),
        (Squared(), [1.0, np.nan], "must be finite, got nan at row 1. Remove"),
        (Squared(), ["a"], "must be numbers, got an array of type"),
        (Logistic(), np.array([True, "x"], dtype=object), "must be numbers"),
    ],
)
def test_bad_targets_are_named_with_row_and_remedy(loss, y, sentence):
    assert sentence.replace("\\", "") in str(loss.check_targets(np.asarray(y)))


def test_integer_and_boolean_codes_are_targets():
    assert Multinomial().check_targets(np.array([1, 0, 2])) is None
    assert Logistic().check_targets(np.array([1, -1])) is None
    assert Poisson().check_targets(np.array([0, 5])) is None
    assert Squared().check_targets(np.array([True, False])) is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Huber(delta=0.0), "`delta` must be positive and finite, got 0.0."),
        (lambda: Huber(delta=np.nan), "`delta` must be positive and finite, got nan."),
        (lambda: Quantile(q=1.0), "`q` must be strictly between 0 and 1, got 1.0."),
        (lambda: EpsilonInsensitive(eps=-1.0), "`eps` must be >= 0 and finite, got -1.0."),
    ],
)
def test_bad_parameters_are_refused_with_the_value(make, message):
    with pytest.raises(ValueError) as error:
        make()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("s", "message"),
    [
        ([1.0, -1.0, 1.0], "non-negative"),
        ([0.0, 0.0, 0.0], "positive finite sum, got sum 0.0"),
        ([1.0, 1.0], r"shape \(3,\), got \(2,\)"),
        ([1.0, np.nan, 1.0], "got sum nan"),
    ],
)
def test_bad_weights_are_refused(s, message):
    with pytest.raises(ValueError, match=message):
        Squared().null_prediction(np.arange(3.0), np.array(s))


def test_parameters_given_as_numpy_scalars_keep_float32():
    y, z = np.zeros(2, np.float32), np.ones(2, np.float32)
    assert Huber(np.float64(1.0)).value(y, z).dtype == np.float32
    assert Huber(np.float64(1.0)) == Huber(1.0)
    assert repr(Quantile(np.float64(0.25))) == "Quantile(q=0.25)"
