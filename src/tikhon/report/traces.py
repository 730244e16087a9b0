"""Traces of iterative solvers: how far from the optimum, against sweeps over the data or seconds.

Both axes are logarithmic. Every line is named at its end, in its colour; colours stay apart for
every kind of colour vision, on light and on dark ground.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.results import History, Solution

if TYPE_CHECKING:
    from tikhon.typing import Float64Array

__all__ = ["plot_histories"]

ROUNDING = 4.0 * float(np.finfo(np.float64).eps)
"""What is nearer to the optimum than this share of it is drawn there."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Colours of the paper, the ink, the grid and the lines."""

    paper: str
    ink: str
    grid: str
    lines: tuple[str, ...]


LIGHT = Ground(
    "#ffffff",
    "#222222",
    "#e6e6e6",
    ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#7a6a00", "#333333"),
)
DARK = Ground(
    "#16181d",
    "#e8e8e8",
    "#33363d",
    ("#56b4e9", "#e69f00", "#2bd4a2", "#f0a3d8", "#f0e442", "#cccccc"),
)


def plot_histories(
    histories: Mapping[str, History | Solution],
    *,
    optimum: float | None = None,
    against: Literal["passes", "seconds"] = "passes",
    ax: Any = None,
    dark: bool = False,
) -> Any:
    """Draw the traces of several solvers on one problem; return the matplotlib axes.

    Parameters
    ----------
    histories : mapping of str to History or Solution
        Traces and what to call them.
    optimum : float, optional
        The least objective, from a solver that reached it: drawn is ``objective - optimum``. By
        default the certified relative gap is drawn, which bounds it from above.
    against : {"passes", "seconds"}, default "passes"
    ax : matplotlib axes, optional
    dark : bool, default False

    Raises
    ------
    UnsupportedError
        Where there is nothing to draw, or no matplotlib.
    """
    traces = {
        name: one.history if isinstance(one, Solution) else one for name, one in histories.items()
    }
    empty = [name for name, trace in traces.items() if not trace.objective]
    if empty or not traces:
        raise UnsupportedError(
            f"a trace is drawn from recorded iterations, and {empty or 'nothing'} has none: pass "
            "`history` of a solution by one of tk.solvers."
        )
    if against not in ("passes", "seconds"):
        raise ValueError(f"`against` must be 'passes' or 'seconds', got {against!r}.")
    ground = DARK if dark else LIGHT
    ax = _axes(ax, ground)
    ends = []
    for place, (name, trace) in enumerate(traces.items()):
        colour = ground.lines[place % len(ground.lines)]
        x, height = _line(trace, optimum, against)
        ax.plot(x, height, color=colour, linewidth=1.8, marker="o", markersize=2.5)
        ends.append((float(x[-1]), float(height[-1]), name, colour))
    ax.set_xscale("log")
    ax.set_yscale("log")
    _name_ends(ax, ends)
    ax.set_xlabel("sweeps over the data" if against == "passes" else "seconds")
    gap = "certified gap (share of the null model's objective)"
    ax.set_ylabel(gap if optimum is None else "objective above its least")
    return ax


def _line(trace: History, optimum: float | None, against: str) -> tuple[Float64Array, Float64Array]:
    """Places and heights; what comes before the first sweep is drawn at its half."""
    x = np.asarray(getattr(trace, against), dtype=np.float64)
    height = np.asarray(trace.gap if optimum is None else trace.objective, dtype=np.float64)
    height = height - (0.0 if optimum is None else optimum)
    floor = ROUNDING * (abs(optimum) if optimum else 1.0)
    positive = x[x > 0]
    least = float(positive.min()) / 2.0 if len(positive) else 1.0
    seen = np.isfinite(height)
    return np.maximum(x, least)[seen], np.maximum(height, floor)[seen]


def _axes(ax: Any, ground: Ground) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install 'tikhon[plot]'") from error
    if ax is None:
        _, ax = plt.subplots(figsize=(7.0, 4.2), layout="constrained")
    ax.figure.set_facecolor(ground.paper)
    ax.set_facecolor(ground.paper)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(ground.ink)
    ax.grid(axis="y", color=ground.grid, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(which="both", colors=ground.ink, labelcolor=ground.ink)
    ax.xaxis.label.set_color(ground.ink)
    ax.yaxis.label.set_color(ground.ink)
    return ax


def _name_ends(ax: Any, ends: list[tuple[float, float, str, str]]) -> None:
    """Write the names beside the plot, apart from each other, with a thread to each line's end."""
    low, high = np.log10(ax.get_ylim())
    apart = 0.065
    heights = [(float(np.log10(end[1])) - low) / (high - low) for end in ends]
    order = np.argsort(heights, kind="stable")
    place = -np.inf
    for k in order:
        place = max(heights[k], place + apart)
        x, y, name, colour = ends[k]
        ax.annotate(
            name,
            (x, y),
            xytext=(1.02, place),
            textcoords="axes fraction",
            color=colour,
            fontsize=9,
            va="center",
            arrowprops={
                "arrowstyle": "-", "color": colour, "alpha": 0.45, "linewidth": 0.8,
                "linestyle": ":", "shrinkA": 2, "shrinkB": 3,
            },
        )  # fmt: skip
