"""What single losses promise beyond the laws: constants, targets, edges, messages."""

import numpy as np
import pytest
from scipy import special

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


def test_exact_likelihoods_add_up_to_one_over_all_targets():
    """``exp(-loss)``, for counts over their factorial: the probabilities of every target."""
    exact = {loss.name for loss in example_losses() if loss.likelihood == "exact"}
    assert exact == {"logistic", "multinomial", "poisson"}
    assert [loss.name for loss in example_losses() if loss.likelihood == "normal"] == ["squared"]
    z, counts = np.array(1.3), np.arange(60.0)
    signs, logits = np.array([-1.0, 1.0]), np.tile([0.3, -1.0, 2.0], (3, 1))
    assert np.exp(-Logistic().value(signs, z)).sum() == pytest.approx(1)
    assert np.exp(-Multinomial().value(np.arange(3.0), logits)).sum() == pytest.approx(1)
    chances = np.exp(-Poisson().value(counts, z)) / special.factorial(counts)
    assert chances.sum() == pytest.approx(1)


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
