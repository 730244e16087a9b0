"""What tests share: an independent random generator for each, seeded by the test's own name."""

import zlib

import numpy as np
import pytest


@pytest.fixture
def rng(request):
    """Return a generator that any test may draw from without disturbing another."""
    return np.random.default_rng(zlib.crc32(request.node.nodeid.encode()))
