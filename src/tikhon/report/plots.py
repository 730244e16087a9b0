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

__all__ = ["axes", "plot_histories", "plot_path", "plot_study"]

INK, MUTED, ACCENT, SECOND = "#222222", "#8a8a8a", "#0072b2", "#d55e00"
"""Two colours that stay apart for every kind of colour vision, and two greys."""

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
    ax.grid(axis="y", color="#e6e6e6", linewidth=0.8)
    ax.set_axisbelow(True)
    ax.tick_params(colors=INK, labelcolor=INK)
    return ax


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
    colours = [ACCENT, SECOND, "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#7a6a00"]
    for rank, j in enumerate(order[::-1]):
        place = len(order) - 1 - rank
        named = place < LABELLED
        ax.plot(
            lams,
            coefs[:, j],
            color=colours[place % len(colours)] if named else "#c8c8c8",
            linewidth=1.6 if named else 0.7,
        )
    _name_ends(ax, lams, coefs, names, [int(j) for j in order[:LABELLED]], colours)
    ax.set_xscale("log")
    ax.invert_xaxis()
    ax.axhline(0.0, color=MUTED, linewidth=0.8)
    ax.set_xlabel("strength lam (weaker to the right)")
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
        ax.plot(lams, study.scores[positive], color="#d0d0d0", linewidth=0.6)
    if np.isfinite(se).any():
        ax.fill_between(lams, mean - se, mean + se, color=ACCENT, alpha=0.18, linewidth=0)
    ax.plot(lams, mean, color=ACCENT, linewidth=1.8)
    rules = ("min", "1se") if study.rule in ("min", "1se") else ("min", "1se", study.rule)
    for place, choice in enumerate(study.criteria(rules)):
        ax.axvline(choice.lam, color=SECOND, linewidth=1.0, linestyle=["-", "--", ":"][place])
        ax.annotate(
            f" {choice.rule}: lam = {choice.lam:.3g}",
            (choice.lam, 0.97 - 0.07 * place),
            xycoords=("data", "axes fraction"),
            color=SECOND,
            fontsize=8,
            va="top",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 0.5},
        )
    ax.set_xscale("log")
    ax.invert_xaxis()
    low, high = (
        float(np.nanmin(mean - np.nan_to_num(se))),
        float(np.nanmax(mean + np.nan_to_num(se))),
    )
    margin = 0.08 * (high - low) if high > low else 1.0
    ax.set_ylim(low - margin, high + margin)
    ax.set_xlabel("strength lam (weaker to the right)")
    what = {"folds": "held-out", "loo": "leave-one-out", "gcv": "GCV"}[study.method]
    ax.set_ylabel(f"{what} {study.score.replace('_', ' ')}")
    return ax
