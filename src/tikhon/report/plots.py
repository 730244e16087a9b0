"""Plots of a path, of a study and of solvers' traces.

They need matplotlib (``pip install 'tikhon[plot]'``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.report.traces import plot_histories

if TYPE_CHECKING:
    from tikhon.results import Path
    from tikhon.selection.study import Study

__all__ = ["axes", "ink", "plot_histories", "plot_path", "plot_study"]

MUTED, ACCENT, SECOND = "#8a8a8a", "#0a7cc4", "#d55e00"
"""Two colours that stay apart for every kind of colour vision, and a grey: on light and dark."""

FAINT = 0.25
"""How much of the ink what is in the background has."""

COUNTS = 7
"""Degrees of freedom written above a plot, at most."""

LABELLED = 8
"""Coefficients named at the end of their line; the others are drawn thin and grey."""


def axes(ax: Any, size: tuple[float, float] = (7.0, 4.2)) -> Any:
    """Return the axes given, or new ones, with as little drawn as can be."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install 'tikhon[plot]'") from error
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    ax.grid(axis="y", color=ink(ax), alpha=0.12, linewidth=0.8)
    ax.set_axisbelow(True)
    return ax


def ink(ax: Any) -> Any:
    """The colour of the axes' own text: dark on light paper, light on dark."""
    return ax.xaxis.label.get_color()


def _strengths(ax: Any, lams: Any, df: Any) -> None:
    """The axis of strengths, strongest to the left, with degrees of freedom above."""
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.set_xlabel("strength lam (weaker to the right)")
    if not np.isfinite(df).all():
        return
    places = np.unique(np.linspace(0, len(lams) - 1, COUNTS).round().astype(int))
    above = ax.secondary_xaxis("top")
    above.set_xticks(lams[places], [f"{value:.3g}" for value in np.round(df[places])])
    above.minorticks_off()
    above.tick_params(length=0, labelsize=8, colors=MUTED)
    above.spines["top"].set_visible(False)
    above.set_xlabel("degrees of freedom", fontsize=8, color=MUTED)


def plot_path(path: Path, ax: Any = None) -> Any:
    """Draw every coefficient against the strength; the largest are named at their ends."""
    if path.coefs.ndim != 2:
        raise UnsupportedError(
            "one target can be drawn, this path has several: use dataclasses.replace(path, "
            "coefs=path.coefs[:, :, t], intercepts=path.intercepts[:, t])."
        )
    positive = path.lams > 0
    if np.count_nonzero(positive) < 2:
        raise UnsupportedError("a path is drawn from two positive strengths on; this has fewer.")
    ax = axes(ax)
    lams, coefs = path.lams[positive], path.coefs[positive]
    names = path.feature_names or tuple(f"x{j}" for j in range(coefs.shape[1]))
    order = np.argsort(-np.max(np.abs(coefs), axis=0))
    colours = [ACCENT, SECOND, "#009e73", "#cc79a7", "#56b4e9", "#e69f00", ink(ax), "#8f7d00"]
    for rank, j in enumerate(order[::-1]):
        place = len(order) - 1 - rank
        named = place < LABELLED
        ax.plot(
            lams,
            coefs[:, j],
            color=colours[place] if named else ink(ax),
            alpha=1.0 if named else FAINT,
            linewidth=1.6 if named else 0.7,
        )
    _name_ends(ax, lams, coefs, names, [int(j) for j in order[:LABELLED]], colours)
    _strengths(ax, lams, path.df[positive])
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.set_ylabel("coefficient")
    return ax


def _name_ends(
    ax: Any, lams: Any, coefs: Any, names: Any, chosen: list[int], colours: list[str]
) -> None:
    """Write names at the right ends, moved apart where they would overlap."""
    low, high = float(coefs.min()), float(coefs.max())
    apart = 0.055 * (high - low) if high > low else 1.0
    ends = sorted((float(coefs[-1, j]), place) for place, j in enumerate(chosen))
    height = -np.inf
    for value, place in ends:
        height = max(value, height + apart)
        ax.annotate(
            f" {names[chosen[place]]}",
            (float(lams[-1]), height),
            color=colours[place % len(colours)],
            fontsize=8,
            va="center",
            annotation_clip=False,
        )


def plot_study(study: Study, ax: Any = None) -> Any:
    """Draw mean scores and standard errors; mark the choices of "min", "1se" and its own rule."""
    ax = axes(ax)
    positive = study.lams > 0
    lams, mean, se = study.lams[positive], study.mean[positive], study.se[positive]
    if study.scores is not None:
        ax.plot(lams, study.scores[positive], color=ink(ax), alpha=FAINT, linewidth=0.6)
    if np.isfinite(se).any():
        ax.fill_between(lams, mean - se, mean + se, color=ACCENT, alpha=0.18, linewidth=0)
    ax.plot(lams, mean, color=ACCENT, linewidth=1.8)
    rules = ("min", "1se") if study.rule in ("min", "1se") else ("min", "1se", study.rule)
    for place, choice in enumerate(study.criteria(rules)):
        ax.axvline(choice.lam, color=SECOND, linewidth=1.0, linestyle=["-", "--", ":"][place])
        late = choice.index > len(study.lams) / 2  # then its words go to the left of its line
        ax.annotate(
            f" {choice.rule}: lam = {choice.lam:.3g} ",
            (choice.lam, 0.97 - 0.07 * place),
            xycoords=("data", "axes fraction"),
            color=SECOND,
            fontsize=8,
            ha="right" if late else "left",
            va="top",
            bbox={"facecolor": ax.get_facecolor(), "edgecolor": "none", "alpha": 0.85, "pad": 0.5},
        )
    _strengths(ax, lams, study.path.df[positive])
    low, high = (
        float(np.nanmin(mean - np.nan_to_num(se))),
        float(np.nanmax(mean + np.nan_to_num(se))),
    )
    margin = 0.08 * (high - low) if high > low else 1.0
    ax.set_ylim(low - margin, high + margin)
    what = {"folds": "held-out", "loo": "leave-one-out", "gcv": "GCV"}[study.method]
    ax.set_ylabel(f"{what} {study.score.replace('_', ' ')}")
    return ax
