"""A user's own penalty: value and prox suffice, the rest is derived or refused."""

from dataclasses import dataclass

import numpy as np
import pytest

from tikhon.penalties import (
    Penalty,
    Scaled,
    soft_threshold,
)
from tikhon.testing import PENALTY_LAWS

D = 6


@dataclass(frozen=True)
class Plain(Penalty):
    """What a user must write, and no more: twice the sum of sizes."""

    factor: float = 2.0

    def value(self, w):
        return self.factor * float(np.abs(w).sum())

    def prox(self, w, step):
        return soft_threshold(w, self.factor * step)


class WithConjugate(Plain):
    has_conjugate = True

    def conjugate(self, v):
        return 0.0 if np.all(np.abs(v) <= self.factor * (1 + 1e-6)) else np.inf


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("law", PENALTY_LAWS, ids=lambda law: law.__name__)
def test_a_users_penalty_needs_value_and_prox_only(law, seed):
    law(Plain(), D, np.random.default_rng(seed))


def test_what_a_user_leaves_out_is_derived_or_refused():
    g = np.array([1.0, -3.0])
    assert Plain().lam_max(g) == pytest.approx(1.5, rel=1e-14)
    assert Plain().lam_max(np.zeros(2)) == 0
    assert not Plain().subgradient_distance(np.array([1.0, 0.0]), np.array([-2.0, 1.5])).any()
    assert WithConjugate().dual_scale(g) == pytest.approx(2 / 3, rel=1e-5)
    assert WithConjugate().dual_scale(g / 3) == 1
    with pytest.raises(TypeError, match=r"no `conjugate`.*KKT residual"):
        Plain().conjugate(g)

    class Shrink(Plain):
        def prox(self, w, step):
            return w / (1 + step)

    assert Shrink().lam_max(g) == np.inf
    assert Scaled(Plain(), 2.0).has_conjugate is False
    assert Scaled(Plain(), 2.0).lam_max(g) == pytest.approx(0.75)
