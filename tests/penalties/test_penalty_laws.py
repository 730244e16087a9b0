"""Every law of a penalty, on every exported penalty, for any number of columns and any seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tikhon.penalties
from tikhon.penalties import Penalty, Separable
from tikhon.testing import PENALTIES, PENALTY_LAWS, check_penalty, example_penalties

seeds = st.integers(0, 2**32 - 1)
sizes = st.integers(1, 7)
examples = range(len(example_penalties(7)))


def label(position):
    return f"{position}-{type(example_penalties(7)[position]).__name__}"


@pytest.mark.parametrize("law", PENALTY_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("position", examples, ids=label)
@given(seed=seeds, n_features=sizes)
@settings(deadline=None, max_examples=10)
def test_law_holds(position, law, seed, n_features):
    law(example_penalties(n_features)[position], n_features, np.random.default_rng(seed))


def test_every_exported_penalty_is_in_the_catalogue():
    exported = {getattr(tikhon.penalties, name) for name in tikhon.penalties.__all__}
    classes = {item for item in exported if isinstance(item, type)} - {Penalty, Separable}
    assert classes == set(PENALTIES)
    for kind, make in PENALTIES.items():
        assert all(type(penalty) is kind for penalty in make(5))


def test_every_export_is_documented_with_an_example():
    for name in tikhon.penalties.__all__:
        assert ">>> " in getattr(tikhon.penalties, name).__doc__, name


def test_check_penalty_returns_nothing_for_a_good_penalty():
    assert check_penalty(example_penalties(3)[0], 3, seed=7) is None
