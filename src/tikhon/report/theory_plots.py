"""Plots of learning theory: bias and variance, prior and posterior. They need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon.errors import UnsupportedError
from tikhon.report.traces import DARK, LIGHT, Ground

if TYPE_CHECKING:
    from tikhon.theory.decomposition import BiasVariance, BootstrapVariance
    from tikhon.theory.priors.drawing import TwoCoefficients
    from tikhon.typing import Float64Array

__all__ = ["plot_bias_variance", "plot_bootstrap", "plot_two_coefficients"]

SHARES = (0.5, 0.9)
"""Regions of a normal density of two variables that contours enclose."""

APART = 0.055
"""Least distance of labels, in heights of the axes."""


def plot_bias_variance(parts: BiasVariance, ax: Any = None, *, dark: bool = False) -> Any:
    """Draw noise, squared bias, variance and their sum; error measured by itself as dots."""
    ground = DARK if dark else LIGHT
    ax = _axes(ax, ground)
    x, x_label = _across(parts.along, parts.label)
    blue, orange, green, purple = ground.lines[:4]
    lines = (
        ("total", parts.total, None, ground.ink, 2.2),
        ("squared bias", parts.bias2, parts.bias2_se, blue, 1.8),
        ("variance", parts.variance, parts.variance_se, orange, 1.8),
        ("noise", np.full(len(x), parts.noise), None, green, 1.4),
    )
    ends = []
    for name, height, se, colour, width in lines:
        ax.plot(x, height, color=colour, linewidth=width)
        if se is not None:
            ax.fill_between(x, height - 2 * se, height + 2 * se, color=colour, alpha=0.2, lw=0)
        ends.append((float(height[-1]), name, colour))
    ax.errorbar(
        x,
        parts.error,
        2 * parts.error_se,
        fmt="o",
        markersize=2.5,
        color=purple,
        linewidth=0.8,
        label="error measured on fresh targets",
    )
    top = min(float(parts.total.max()), 4.0 * float(parts.total.min()))
    ax.set_ylim(min(-0.02 * top, 1.1 * float(parts.bias2.min())), 1.08 * top)
    ax.axvline(x[parts.best], color=ground.ink, linewidth=0.8, linestyle=":")
    ax.set_xlabel(x_label)
    ax.set_ylabel("mean squared error")
    _name_ends(ax, float(x[-1]), ends)
    _legend(ax, ground)
    return ax


def plot_bootstrap(found: BootstrapVariance, ax: Any = None, *, dark: bool = False) -> Any:
    """Draw the variance of predictions and the error on rows left out, against the strength."""
    ground = DARK if dark else LIGHT
    ax = _axes(ax, ground)
    x, x_label = _across(found.lams, "lam")
    ends = []
    lines = (
        ("variance", found.variance, found.variance_se, ground.lines[1]),
        ("error on rows left out", found.error, found.error_se, ground.ink),
    )
    for name, height, se, colour in lines:
        ax.plot(x, height, color=colour, linewidth=1.8)
        ax.fill_between(x, height - 2 * se, height + 2 * se, color=colour, alpha=0.2, lw=0)
        ends.append((float(height[-1]), name, colour))
    ax.set_yscale("log")
    ax.set_xlabel(x_label)
    ax.set_ylabel("mean squared error")
    _name_ends(ax, float(x[-1]), ends)
    return ax


def plot_two_coefficients(found: TwoCoefficients, ax: Any = None, *, dark: bool = False) -> Any:
    """Draw contours of prior, likelihood and posterior, with the two modes."""
    ground = DARK if dark else LIGHT
    ax = _axes(ax, ground, square=True)
    blue, orange, green = ground.lines[:3]
    levels = sorted(np.log1p(-np.array(SHARES)))  # exp(-r^2 / 2) on the edge of each region
    drawn = (
        ("prior", found.log_prior, green, 1.3),
        ("likelihood", found.log_likelihood, blue, 1.3),
        ("posterior", found.log_posterior, orange, 2.0),
    )
    grid = (found.first, found.second)
    inside = np.where(found.log_posterior >= levels[0], 1.0, np.nan)
    ax.contourf(*grid, inside, levels=[0.5, 1.5], colors=[orange], alpha=0.18)
    for place, (name, density, colour, width) in enumerate(drawn):
        ax.contour(*grid, density, levels=levels, colors=[colour], linewidths=width, linestyles="-")
        ax.plot([], [], color=colour, linewidth=width)
        ax.annotate(
            name,
            (0.98, 0.97 - 0.06 * place),
            xycoords="axes fraction",
            color=colour,
            ha="right",
            va="top",
            fontsize=9,
        )
    ax.axhline(0.0, color=ground.grid, linewidth=0.9)
    ax.axvline(0.0, color=ground.grid, linewidth=0.9)
    mode = "ridge" if hasattr(found.prior, "sd") else "lasso"
    for name, point, colour in (
        ("least squares", found.free, blue),
        (f"mode: {mode}", found.mode, orange),
    ):
        ax.plot(*point, marker="o", markersize=5, color=colour)
        ax.annotate(
            name,
            point,
            xytext=(9, 7 if point is found.mode else -12),
            textcoords="offset points",
            color=colour,
            fontsize=9,
            bbox={"facecolor": ground.paper, "edgecolor": "none", "alpha": 0.7, "pad": 0.8},
        )
    ax.set_xlabel(found.names[0])
    ax.set_ylabel(found.names[1])
    ax.set_title(
        f"{found.prior}: lam = {found.lam:.3g}\n50% and 90% regions of a normal density",
        fontsize=9,
        color=ground.ink,
        loc="left",
    )
    return ax


def _across(along: Float64Array, label: str) -> tuple[Float64Array, str]:
    if label == "lam":
        if along.min() <= 0:
            raise UnsupportedError("strengths are drawn on a logarithmic axis: leave out lam = 0.")
        return along, "strength lam (weaker to the right)"
    return along, "complexity of the model"


def _axes(ax: Any, ground: Ground, *, square: bool = False) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise UnsupportedError("plots need matplotlib: pip install 'tikhon[plot]'") from error
    if ax is None:
        size = (5.6, 5.4) if square else (7.0, 4.4)
        figure, ax = plt.subplots(figsize=size, layout="constrained")
        figure.set_facecolor(ground.paper)
    ax.set_facecolor(ground.paper)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(ground.ink)
    if square:
        ax.set_aspect("equal")
    else:
        ax.grid(axis="y", color=ground.grid, linewidth=0.8)
        ax.set_axisbelow(True)
    ax.tick_params(colors=ground.ink, labelcolor=ground.ink)
    ax.xaxis.label.set_color(ground.ink)
    ax.yaxis.label.set_color(ground.ink)
    return ax


def _name_ends(ax: Any, right: float, ends: list[tuple[float, str, str]]) -> None:
    """Name lines at their right ends, in their colours, moved apart where they would overlap."""
    if ax.get_xlabel().startswith("strength"):
        ax.set_xscale("log")
        ax.invert_xaxis()
    to_share = ax.transData + ax.transAxes.inverted()
    at = -np.inf
    for value, name, colour in sorted(ends):
        share = float(to_share.transform((right, value))[1])
        at = max(min(share, 0.98), at + APART)
        ax.annotate(
            f" {name}",
            (right, at),
            xycoords=("data", "axes fraction"),
            color=colour,
            fontsize=9,
            va="center",
            annotation_clip=False,
        )


def _legend(ax: Any, ground: Ground) -> None:
    ax.legend(frameon=False, fontsize=8, labelcolor=ground.ink, loc="upper center")
