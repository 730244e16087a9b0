"""The laws catch the mistakes they are there for: each wrong loss breaks the law that names it."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from tikhon.losses import Gamma, Hinge, Huber, Logistic, Loss, Multinomial, Poisson, Quantile
from tikhon.testing import check_loss
from tikhon.testing.loss_conventions import targets_are_separate


class CurvatureOfTheWrongBranch(Huber):
    def curvature(self, y, z):
        return np.ones_like(z - y)


class CurvatureOffByAThousandth(Logistic):
    def curvature(self, y, z):
        return 1.001 * Logistic.curvature(self, y, z)


class CurvatureOfTheRightShapeOnly(Gamma):
    def curvature(self, y, z):
        return np.exp(-z) + 0 * y


class DerivativeWithTheWrongSign(Poisson):
    def derivative(self, y, z):
        return y - np.exp(z)


class DerivativeBeyondTheKink(Quantile):
    def derivative(self, y, z):
        return np.where(z < y, -self.q, 1.0)


class NaiveExponential(Logistic):
    def value(self, y, z):
        return np.log(1 + np.exp(-y * z))


class CancellingCurvature(Multinomial):
    def value(self, y, z):
        parts = np.exp(z)
        return np.log(parts.sum(axis=-1)) - z[np.arange(len(y)), y.astype(int)]


class ConjugateWithoutDomain(Hinge):
    def conjugate(self, y, u):
        return y * u


class ConjugateForgettingTheTarget(Huber):
    def conjugate(self, y, u):
        return np.where(np.abs(u) <= self.delta * (1 + 1e-9), 0.5 * u * u, np.inf)


class FeasibleThatStaysOutside(Logistic):
    def feasible(self, y, u):
        return np.clip(u, -1, 1)


class LooseLipschitz(Logistic):
    lipschitz = 2.0


class WrongSmoothness(Logistic):
    smoothness = 0.125


class MeanForQuantile(Quantile):
    def null_prediction(self, y, s=None):
        return np.average(y, weights=s, axis=0)


class UnweightedConstant(Logistic):
    def null_prediction(self, y, s=None):
        return Logistic.null_prediction(self, y)


class BlindToNaN(Hinge):
    def check_targets(self, y):
        return Hinge.check_targets(self, y[~np.isnan(y)])


class DoubleAlways(Logistic):
    def value(self, y, z):
        return Logistic.value(self, y.astype(np.float64), z)


class LinkOfAnother(Logistic):
    def link(self, mean):
        return np.log(mean)


class MeanOverTargets(Huber):
    def derivative(self, y, z):
        d = Huber.derivative(self, y, z)
        return d if d.ndim == 1 else d - d.mean(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("mutant", "sentence"),
    [
        (CurvatureOfTheWrongBranch(delta=0.5), "`curvature` must be the slope"),
        (CurvatureOffByAThousandth(), "`curvature` must be the slope"),
        (CurvatureOfTheRightShapeOnly(), "`curvature` must be the slope"),
        (DerivativeWithTheWrongSign(), "`derivative` must be the slope"),
        (DerivativeBeyondTheKink(q=0.5), "`derivative` must be the slope"),
        (ConjugateWithoutDomain(), "inf off its domain"),
        (ConjugateForgettingTheTarget(), "Fenchel-Young"),
        (FeasibleThatStaysOutside(), "`feasible` must reach the domain|Fenchel-Young"),
        (LooseLipschitz(), "`lipschitz` must be approached"),
        (WrongSmoothness(), "`smoothness` must bound"),
        (MeanForQuantile(q=0.9), "minimise the mean loss"),
        (UnweightedConstant(), "minimise the mean loss"),
        (BlindToNaN(), "must name nan"),
        (DoubleAlways(), "must keep float32"),
        (LinkOfAnother(), "`link` must invert"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Loss) else "",
)
def test_a_wrong_loss_breaks_the_law_that_names_it(mutant, sentence):
    for seed in range(3):
        with pytest.raises(AssertionError, match=sentence):
            check_loss(mutant, seed)


@pytest.mark.parametrize("mutant", [NaiveExponential(), CancellingCurvature()], ids=repr)
def test_an_overflow_is_caught(mutant):
    with pytest.raises((AssertionError, RuntimeWarning)):
        check_loss(mutant)


def test_targets_that_mix_are_caught():
    with pytest.raises(AssertionError, match="must treat targets separately"):
        targets_are_separate(MeanOverTargets(), np.random.default_rng(0))


def test_a_users_loss_needs_value_and_derivative_only():
    @dataclass(frozen=True)
    class LogCosh(Loss):
        width: float = 1.0
        lipschitz = 1.0
        name = "log-cosh"

        def value(self, y, z):
            r = np.abs(z - y) / self.width
            return self.width * (r + np.log1p(np.exp(-2 * r)) - math.log(2))

        def derivative(self, y, z):
            return np.tanh((z - y) / self.width)

    loss = LogCosh(2.0)
    for seed in range(5):
        check_loss(loss, seed)
    with pytest.raises(TypeError, match=r"no `conjugate`.*KKT residual"):
        loss.conjugate(np.zeros(1), np.zeros(1))
    with pytest.raises(TypeError, match="no `feasible`"):
        loss.feasible(np.zeros(1), np.zeros(1))
    assert not loss.has_conjugate
    assert loss.smoothness is None
    assert loss == LogCosh(2.0)
    assert len({loss, LogCosh(2.0), LogCosh(1.0)}) == 2
