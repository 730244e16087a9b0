"""Traces are drawn: one line and one name for each solver, in both grounds."""

import matplotlib as mpl
import numpy as np
import pytest

import tikhon as tk

mpl.use("Agg")


@pytest.fixture
def histories():
    data = tk.datasets.linear(50, 5, seed=0)
    problem = tk.Problem(tk.losses.Squared(), tk.penalties.L1(), 0.1)
    solvers = {
        "ISTA": tk.solvers.ProximalGradient(measure_every=1),
        "columns": tk.solvers.CyclicCoordinateDescent(measure_every=1),
    }
    return {n: tk.solve(problem, data.X, data.y, solver=s) for n, s in solvers.items()}


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("against", ["passes", "seconds"])
def test_every_trace_has_a_line_and_a_name_in_its_colour(histories, against, dark):
    optimum = min(one.objective for one in histories.values())
    ax = tk.plots.plot_histories(histories, optimum=optimum, against=against, dark=dark)
    colours = {line.get_color() for line in ax.lines}
    assert len(ax.lines) == len(colours) == 2
    named = {text.get_text(): text.get_color() for text in ax.texts}
    assert set(named) == set(histories)
    assert set(named.values()) == colours
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert all(np.all(line.get_ydata() > 0) for line in ax.lines)
    mpl.pyplot.close(ax.figure)


def test_a_history_draws_itself(histories):
    history = histories["ISTA"].history
    ax = history.plot()
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.maximum(history.gap, 1e-15), rtol=1e-12)
    assert "gap" in ax.get_ylabel()
    mpl.pyplot.close(ax.figure)


def test_what_has_no_trace_is_refused(histories):
    data = tk.datasets.linear(50, 5, seed=0)
    direct = tk.solve(tk.Problem(tk.losses.Squared(), tk.penalties.L2(), 0.1), data.X, data.y)
    with pytest.raises(tk.UnsupportedError, match="none"):
        tk.plots.plot_histories({"direct": direct})
    with pytest.raises(tk.UnsupportedError, match="nothing"):
        tk.plots.plot_histories({})
    with pytest.raises(ValueError, match="`against`"):
        tk.plots.plot_histories(histories, against="steps")
