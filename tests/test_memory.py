"""Cross-validated ridge needs the table and a fifth of it, at most."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np, tikhon as tk
def peak():
    return int(next(l for l in open("/proc/self/status") if l.startswith("VmHWM")).split()[1])
rng = np.random.default_rng(0)
tk.Ridge().fit(rng.standard_normal((300, 5)), rng.standard_normal(300))  # libraries are loaded
X = np.empty({shape}, order={order!r})
for j in range(0, X.shape[1], 50):
    X[:, j : j + 50] = rng.standard_normal((X.shape[0], len(X[0, j : j + 50])))
y = X[:, 0] + rng.standard_normal(len(X))
before = peak()
tk.Ridge(lam=tk.Grid(size=100), folds=10, standardize={standardize}).fit(X, y)
print(1024 * (peak() - before) / X.nbytes)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(100_000, 300), (500, 50_000)])
@pytest.mark.parametrize("standardize", [True, False])
def test_peak_memory_is_the_input_and_a_fifth(shape, order, standardize):
    code = SCRIPT.format(shape=shape, order=order, standardize=standardize)
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(out.stdout) <= 0.2
