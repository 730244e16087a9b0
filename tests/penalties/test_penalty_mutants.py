"""The laws catch the mistakes they are there for: each wrong penalty breaks a law that names it."""

import numpy as np
import pytest

from tikhon.penalties import (
    L1,
    L2,
    Box,
    ElasticNet,
    Group,
    Nonnegative,
    NormBall,
    Penalty,
    Scaled,
    SparseGroup,
    Sum,
    Weighted,
    soft_threshold,
)
from tikhon.testing import check_penalty

D = 6
WEIGHTS = np.array([0.5, 2.0, 0.0, 1.0, 1.0, 3.0])


class ProxWithoutItsStep(ElasticNet):
    """The ridge part is divided by a constant: right at step 1 only."""

    def prox(self, w, step):
        return soft_threshold(w, step * self.l1_ratio) / (2 - self.l1_ratio)


class ProxOffByAThousandth(L1):
    def prox(self, w, step):
        return soft_threshold(w, 1.001 * step)


class ProxThatClipsFirst(Sum):
    def prox(self, w, step):
        return self.penalty.prox(self.constraint.prox(w, step), step)


class ProxOfTheSquare(L2):
    def prox(self, w, step):
        return w / (1 + 2 * step)


class ValueWithoutTheHalf(L2):
    def coordinate_value(self, w):
        return w * w


class DistanceThatIgnoresKinks(L1):
    def subgradient_distance(self, w, g):
        return np.abs(g + np.sign(w))


class DistanceOfTheLargestEntry(Group):
    def subgradient_distance(self, w, g):
        distance = Group.subgradient_distance(self, w, g)
        return np.full_like(distance, distance.max())


class StrengthOfTheMean(L1):
    def lam_max(self, g):
        return float(np.mean(np.abs(g)))


class StrengthOfThePlainNorm(Group):
    def lam_max(self, g):
        return float(self.partition.norms(g).max())


class ConjugateOfThePenaltyItself(ElasticNet):
    def coordinate_conjugate(self, v):
        return 0.5 * v * v


class ScaleOfTheWholeVector(Group):
    def dual_scale(self, v):
        return min(1.0, float(self._weights.min() / np.linalg.norm(v)))


class GroupsShortenedFirst(SparseGroup):
    def prox(self, w, step):
        return soft_threshold(self._grouped.prox(w, step), step * self.l1_ratio)


class StrengthOfTheGroupsAlone(SparseGroup):
    def lam_max(self, g):
        return max(self._grouped.lam_max(g), float(np.abs(g).max()))


class ConjugateWithoutThresholding(SparseGroup):
    def conjugate(self, v):
        return self._grouped.conjugate(v)


class StrongerThanItIs(L1):
    strong_convexity = 0.5


class DeafToColumns(Weighted):
    def restrict(self, columns):
        return Weighted(self.penalty, np.ones(len(np.arange(len(self.weights))[columns])))


class FreeWhereItIsNot(Weighted):
    def unpenalised(self, d):
        return np.ones(d, dtype=bool)


class RadiusSquared(NormBall):
    def conjugate(self, v):
        return self.radius**2 * float(np.linalg.norm(v))


class ProxInDouble(L1):
    def prox(self, w, step):
        return L1.prox(self, w.astype(np.float64), step)


class FactorTwice(Scaled):
    def lam_max(self, g):
        return self.penalty.lam_max(g) * self.factor


@pytest.mark.parametrize(
    ("mutant", "sentence"),
    [
        (ProxWithoutItsStep(0.5), "prox"),
        (ProxOffByAThousandth(), "prox"),
        (ProxThatClipsFirst(L1(), Box(-np.inf, 0.5)), "prox"),
        (ProxOfTheSquare(), "prox"),
        (ValueWithoutTheHalf(), "no point may do better|strong_convexity"),
        (DistanceThatIgnoresKinks(), "prox must satisfy|must be the distance"),
        (DistanceOfTheLargestEntry([0, 0, 1, 1, 2, 2]), "must be the distance"),
        (StrengthOfTheMean(), "`lam_max`"),
        (StrengthOfThePlainNorm([0, 0, 0, 1, 1, 2]), "`lam_max`"),
        (ConjugateOfThePenaltyItself(0.5), "Moreau|sup <w, v>"),
        (ScaleOfTheWholeVector([0, 0, 1, 1, 2, 2]), "dual domain|largest scale"),
        (GroupsShortenedFirst([0, 0, 1, 1, 2, 2]), "prox"),
        (StrengthOfTheGroupsAlone([0, 0, 1, 1, 2, 2]), "`lam_max`"),
        (ConjugateWithoutThresholding([0, 0, 1, 1, 2, 2]), "Moreau|sup <w, v>|into the domain"),
        (StrongerThanItIs(), "strongly by `strong_convexity`"),
        (DeafToColumns(L1(), WEIGHTS), "`restrict` must"),
        (FreeWhereItIsNot(L1(), WEIGHTS), "free coordinates"),
        (RadiusSquared(2.0), "Moreau|sup <w, v>"),
        (ProxInDouble(), "must keep float32"),
        (FactorTwice(L1(), 3.0), "`lam_max`"),
    ],
    ids=lambda part: type(part).__name__ if isinstance(part, Penalty) else "",
)
def test_a_wrong_penalty_breaks_a_law_that_names_it(mutant, sentence):
    for seed in range(3):
        with pytest.raises(AssertionError, match=sentence):
            check_penalty(mutant, D, seed)


def test_weights_and_bounds_refuse_what_has_no_exact_prox():
    with pytest.raises(TypeError, match=r"must be separable to be weighted.*`Group` its own"):
        Weighted(Group([0, 0]), np.ones(2))
    with pytest.raises(TypeError, match="apply `Scaled` last"):
        Weighted(Scaled(L1(), 2.0), np.ones(2))
    with pytest.raises(TypeError, match="without bounds, got Box"):
        Sum(Box(0.0, 1.0), Nonnegative())
    with pytest.raises(TypeError, match="without bounds"):
        Sum(Weighted(Sum(L1(), Nonnegative()), np.ones(2)), Box(0.0, 1.0))
    with pytest.raises(TypeError, match="must be Nonnegative or Box, got L2"):
        Sum(L1(), L2())
    with pytest.raises(TypeError, match="must be separable and without bounds, got NormBall"):
        Sum(NormBall(1.0), Nonnegative())
