"""The package as a whole: what it exports, and what importing it costs."""

import subprocess
import sys

import pytest

import tikhon as tk

RUN = [sys.executable, "-W", "error", "-c"]


def test_every_exported_name_exists_and_the_list_is_sorted():
    assert tk.__all__ == sorted(tk.__all__)
    for name in tk.__all__:
        assert getattr(tk, name) is not None
    assert set(tk.__all__) == set(tk._HOME)
    assert set(tk.__all__) <= set(dir(tk))


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Rigde'"):
        tk.Rigde  # noqa: B018


def test_import_is_quick_and_loads_nothing_heavy():
    code = (
        "import time; t = time.perf_counter(); import tikhon; t = time.perf_counter() - t\n"
        "import sys\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'pyarrow', 'matplotlib', 'narwhals'}\n"
        "print(t, *sorted(heavy & set(sys.modules)))"
    )
    out = subprocess.run([*RUN, code], capture_output=True, text=True, check=True).stdout.split()
    assert float(out[0]) < 0.4
    assert out[1:] == []


def test_fitting_arrays_needs_no_frame_library_and_no_plots():
    code = (
        "import sys, numpy as np, tikhon as tk\n"
        "tk.Ridge().fit(np.random.default_rng(0).random((30, 2)), np.arange(30.0))\n"
        "print(*sorted({'pandas', 'polars', 'pyarrow', 'matplotlib', 'narwhals'} "
        "& set(sys.modules)))"
    )
    out = subprocess.run([*RUN, code], capture_output=True, text=True, check=True).stdout.split()
    assert "matplotlib" not in out
    assert "polars" not in out
