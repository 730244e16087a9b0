"""What tests share: an independent random generator for each, seeded by the test's own name.

Hypothesis judges examples, not the clock: a busy machine is no reason to fail.
"""

import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("patient", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")


@pytest.fixture
def rng(request):
    """Return a generator that any test may draw from without disturbing another."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
