"""Every law of a loss, on every exported loss, for any seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon.losses
from tikhon.losses import Loss
from tikhon.testing import LOSS_LAWS, LOSSES, check_loss, example_losses

seeds = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("law", LOSS_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("loss", example_losses(), ids=repr)
@given(seed=seeds)
@settings(deadline=None, max_examples=20)
def test_law_holds(loss, law, seed):
    law(loss, np.random.default_rng(seed))


def test_every_exported_loss_is_in_the_catalogue():
    exported = {getattr(tikhon.losses, name) for name in tikhon.losses.__all__} - {Loss}
    assert exported == set(LOSSES)


def test_every_export_is_documented_with_an_example():
    for name in tikhon.losses.__all__:
        assert ">>> " in getattr(tikhon.losses, name).__doc__, name


def test_check_loss_returns_nothing_for_a_good_loss():
    assert check_loss(example_losses()[0], seed=7) is None


@pytest.mark.parametrize("loss", example_losses(), ids=repr)
def test_a_constant_that_is_missing_does_not_exist(loss):
    """`None` is honest: the derivative or its rate of change really has no bound."""
    far = np.array([-300.0, 300.0])
    if loss.lipschitz is None:
        slopes = [loss.derivative(np.array(y), far) for y in (-1.0, 1.0)]
        assert np.abs(slopes).max() > 100
    if loss.smoothness is None:
        near = np.linspace(-2, 2, 400_001)
        y = np.array(1.0)
        jump = np.abs(np.diff(loss.derivative(y, near))).max() / 1e-5
        curved = np.max(loss.curvature(y, far))
        assert max(jump, curved) > 1e4
