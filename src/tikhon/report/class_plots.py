"""Plots of held-out class predictions: ROC, precision and recall, reliability, thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tikhon.report.plots import ACCENT, MUTED, SECOND, axes, ink

if TYPE_CHECKING:
    from tikhon.selection.binary import BinaryPredictions
    from tikhon.selection.calibration import Calibration

__all__ = ["plot_calibration", "plot_predictions"]


def plot_predictions(rows: BinaryPredictions, kind: str, ax: Any = None) -> Any:
    """Draw one of the four; return the matplotlib axes."""
    kinds = {
        "roc": _roc,
        "precision_recall": _precision_recall,
        "threshold": _threshold,
        "reliability": lambda rows, ax: plot_calibration(rows.calibration(), ax, rows.name),
    }
    if kind not in kinds:
        raise ValueError(f"`kind` must be one of {', '.join(map(repr, kinds))}, got {kind!r}.")
    draw: Any = kinds[kind]
    return draw(rows, ax)


def _unit_square(ax: Any) -> Any:
    ax = axes(ax, (4.8, 4.6))
    ax.set_xlim(-0.01, 1.01)
    ax.set_ylim(-0.01, 1.02)
    ax.set_aspect("equal")
    return ax


def _roc(rows: BinaryPredictions, ax: Any) -> Any:
    ax, at = _unit_square(ax), rows.confusions
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle="--")
    ax.plot(at.false_positive_rate, at.recall, color=ACCENT, linewidth=1.8)
    ax.text(0.97, 0.05, f"area {rows.auc:.3f}", color=ACCENT, ha="right", fontsize=10)
    ax.text(0.52, 0.46, "chance", color=MUTED, fontsize=8)
    ax.set_xlabel(f"share of the others taken for {rows.name}")
    ax.set_ylabel(f"share of {rows.name} found")
    return ax


def _precision_recall(rows: BinaryPredictions, ax: Any) -> Any:
    ax, at = _unit_square(ax), rows.confusions
    rate = float(np.average(rows.positive, weights=rows.s))
    ax.axhline(rate, color=MUTED, linewidth=0.8, linestyle="--")
    ax.text(0.01, rate + 0.01, "all rows predicted", color=MUTED, fontsize=8, va="bottom")
    some = at.tp + at.fp > 0
    ax.step(at.recall[some], at.precision[some], color=ACCENT, linewidth=1.8, where="pre")
    ax.text(
        0.97,
        0.05 if rate > 0.2 else 0.95,
        f"average precision {rows.average_precision:.3f}",
        color=ACCENT,
        ha="right",
        va="bottom" if rate > 0.2 else "top",
        fontsize=10,
    )
    ax.set_xlabel(f"recall: share of {rows.name} found")
    ax.set_ylabel(f"precision: share of predictions that are {rows.name}")
    return ax


def _threshold(rows: BinaryPredictions, ax: Any) -> Any:
    """Precision, recall and the share predicted, at every threshold."""
    ax, at = axes(ax), rows.confusions
    some = at.tp + at.fp > 0
    x = at.threshold[some]
    lines = (
        ("recall", at.recall[some], ACCENT),
        ("precision", at.precision[some], SECOND),
        ("share predicted", (at.tp + at.fp)[some] / at.total, MUTED),
    )
    for place, (name, values, colour) in enumerate(lines):
        ax.step(x, values, color=colour, linewidth=1.8 if place < 2 else 1.2, where="post")
        ax.annotate(
            name,
            (1.01, 0.98 - 0.08 * place),
            xycoords="axes fraction",
            color=colour,
            fontsize=9,
            va="top",
        )
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(-0.01, 1.02)
    ax.set_xlabel(f"threshold on the probability of {rows.name}")
    ax.set_ylabel("on held-out rows")
    return ax


def plot_calibration(calibration: Calibration, ax: Any = None, name: str = "the class") -> Any:
    """Draw frequencies against probabilities, with the deviation that chance explains."""
    ax = _unit_square(ax)
    c = calibration
    ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle="--")
    low, high = c.predicted - 2 * c.se, c.predicted + 2 * c.se
    ax.vlines(c.predicted, low.clip(0), high.clip(max=1), color="#d9d9d9", linewidth=6, zorder=1)
    ax.plot(c.predicted, c.observed, color=ACCENT, linewidth=1.0, zorder=2)
    ax.scatter(c.predicted, c.observed, color=ACCENT, s=24, zorder=3)
    ax.text(
        0.02,
        0.98,
        f"calibration error {c.ece:.3f} ({c.expected_by_chance:.3f} by chance)\n"
        f"Brier score {c.brier:.3f}",
        color=ink(ax),
        fontsize=9,
        va="top",
    )
    ax.text(0.98, 0.03, "grey: two standard errors", color=MUTED, fontsize=8, ha="right")
    ax.set_xlabel(f"predicted probability of {name}")
    ax.set_ylabel("frequency on held-out rows")
    return ax
