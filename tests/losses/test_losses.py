"""What single losses promise beyond the laws: constants, targets, edges, messages."""

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
    Loss,
    Multinomial,
    Poisson,
    Quantile,
    Squared,
    SquaredHinge,
)
from tikhon.losses.location import root_of_increasing, weighted_quantile
from tikhon.testing import example_losses
from tikhon.testing.samples import sample_targets

every_loss = pytest.mark.parametrize("loss", example_losses(), ids=repr)


@every_loss
def test_a_loss_prints_as_the_expression_that_makes_it(loss):
    assert eval(repr(loss), vars(losses).copy()) == loss


@every_loss
def test_a_loss_is_a_key_and_survives_copy_and_pickle(loss):
    twin = pickle.loads(pickle.dumps(loss))
    assert {loss: 1}[twin] == 1
    assert copy.deepcopy(loss) == loss


def test_names_differ_and_classification_is_told():
    names = [loss.name for loss in example_losses()]
    assert len(set(names)) == 10
    classifiers = {loss.name for loss in example_losses() if loss.classification}
    assert classifiers == {"hinge", "logistic", "multinomial", "squared_hinge"}


@every_loss
def test_the_closed_form_constant_is_the_root_of_the_slope(loss):
    if loss.per_class:
        return
    rng = np.random.default_rng(3)
    y, s = sample_targets(loss, rng), rng.uniform(0.1, 2.0, 48)

    def mean_loss(z):
        return s @ loss.value(y, np.full_like(y, z))

    closed, root = float(loss.null_prediction(y, s)), float(Loss.null_prediction(loss, y, s))
    assert mean_loss(closed) == pytest.approx(mean_loss(root), rel=1e-12)


@pytest.mark.parametrize("loss", [Squared(), Huber(), Quantile(0.3), EpsilonInsensitive(), Gamma()])
def test_huge_and_tiny_targets_have_their_best_constant(loss):
    y = np.array([1.0, 2.0, 4.0])
    for scale in (1e-100, 1e100):
        null = float(loss.null_prediction(scale * y))
        level = np.exp(null) if loss.link_name == "log" else null
        assert 0.5 * y.min() * scale <= level + 0.11 <= 2 * y.max() * scale + 0.22


def test_the_null_model_of_one_class_is_infinite_and_worth_nothing():
    y = np.ones(3)
    null = Logistic().null_prediction(y)
    assert null == np.inf
    assert Logistic().null_prediction(-y) == -np.inf
    assert Logistic().value(y, np.full(3, null)).sum() == 0
    assert Logistic().derivative(y, np.full(3, null)).sum() == 0
    assert Hinge().null_prediction(y) == 1
    assert SquaredHinge().null_prediction(-y) == -1
    null = Poisson().null_prediction(np.zeros(3))
    assert null == -np.inf
    assert Poisson().value(np.zeros(3), np.full(3, null)).sum() == 0


def test_the_null_model_of_an_absent_class_excludes_it():
    loss, y = Multinomial(), np.array([0.0, 1.0, 1.0])
    null = loss.null_prediction(y, n_classes=3)
    assert null[2] == -np.inf
    np.testing.assert_allclose(loss.inverse_link(null), [1 / 3, 2 / 3, 0])
    value = loss.value(y, np.tile(null, (3, 1)))
    np.testing.assert_allclose(value, -np.log([1 / 3, 2 / 3, 2 / 3]))


def test_a_user_loss_without_minimum_has_an_infinite_constant():
    class Downhill(Loss):
        def value(self, y, z):
            return -z + 0 * y

        def derivative(self, y, z):
            return -np.ones_like(y + z)

    assert Downhill().null_prediction(np.zeros(2)) == np.inf


def test_multinomial_hessian_is_the_slope_of_the_derivative():
    rng = np.random.default_rng(0)
    loss, y, z = Multinomial(), np.array([0, 3, 1]), rng.normal(size=(3, 4))
    hessian = loss.hessian(y, z)
    h = 2.0**-17
    for k, e in enumerate(np.eye(4)):
        quotient = (loss.derivative(y, z + h * e) - loss.derivative(y, z - h * e)) / (2 * h)
        np.testing.assert_allclose(hessian[..., k], quotient, atol=1e-9)
    np.testing.assert_allclose(hessian.sum(axis=-1), 0, atol=1e-15)
    assert np.array_equal(np.diagonal(hessian, axis1=1, axis2=2), loss.curvature(y, z))


def test_two_classes_are_the_logistic_loss():
    z = np.array([-750.0, -3.0, 0.0, 2.0, 40.0])
    both = np.stack([np.zeros_like(z), z], axis=1)
    for code, sign in ((1, 1.0), (0, -1.0)):
        y = np.full(5, code)
        np.testing.assert_allclose(
            Multinomial().value(y, both), Logistic().value(np.array(sign), z), rtol=1e-14
        )


def test_half_the_absolute_error_is_the_median_loss_and_the_tube_of_width_zero():
    rng = np.random.default_rng(1)
    y, z = rng.normal(size=9), rng.normal(size=9)
    np.testing.assert_allclose(Quantile(0.5).value(y, z), 0.5 * np.abs(y - z))
    np.testing.assert_allclose(EpsilonInsensitive(0.0).value(y, z), np.abs(y - z))
    assert Quantile().null_prediction(y) == np.median(y)
    assert EpsilonInsensitive(0.0).null_prediction(y) == np.median(y)


def test_derivatives_at_kinks_are_the_documented_subgradients():
    one = np.ones(1)
    assert Hinge().derivative(one, one) == 0
    assert Quantile(0.9).derivative(one, one) == 0
    assert EpsilonInsensitive(0.5).derivative(one, 1.5 * one) == 0


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


def test_weighted_quantile_minimises_the_pinball_loss_and_centres_ties():
    values = np.array([1.0, 2.0, 3.0, 4.0])
    assert weighted_quantile(values, np.array([1.0, 1.0, 0.0, 1.0]) / 3, 0.5) == 2
    assert weighted_quantile(values, np.full(4, 0.25), 0.25) == 1.5
    assert weighted_quantile(values, np.array([0.5, 0.0, 0.0, 0.5]), 0.5) == 2.5
    assert weighted_quantile(values, np.full(4, 0.25), 0.99) == 4


@pytest.mark.parametrize("root", [0.0, 1e-200, 0.3, -7.0, 1e9, -1e200])
def test_the_safe_root_finds_jumps_and_zeros_of_any_size(root):
    jump = root_of_increasing(lambda z: 1.0 if z > root else -1.0)
    assert jump == pytest.approx(root, rel=1e-12, abs=1e-290)
    steep = root_of_increasing(lambda z: np.inf if z > root else z - root)
    assert steep == pytest.approx(root, rel=1e-12, abs=1e-290)
