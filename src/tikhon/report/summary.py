"""A fitted ridge model in words and figures, for a terminal."""

from __future__ import annotations

from typing import Any

import numpy as np

from tikhon.typing import Float64Array

__all__ = ["summary"]

WIDTH = 78
CURVE_ROWS = 12
COEFFICIENTS_SHOWN = 12


def summary(
    model: Any, title: str, feature_names: tuple[str, ...], spread: Float64Array | None = None
) -> str:
    """Describe a cross-validated model: the choice, the curve, coefficients, certificate.

    Of many coefficients the largest are shown: by size times the `spread` (standard deviation)
    of their column, if it is given.
    """
    parts = [_heading(title), _choice(model)]
    if model.study_ is not None:
        parts.append(_curve(model.study_))
    parts += [_coefficients(model, feature_names, spread), _certificate(model)]
    return "\n\n".join(parts)


def _heading(title: str) -> str:
    return f"{title}\n{'=' * min(len(title), WIDTH)}"


def _choice(model: Any) -> str:
    study = model.study_
    if study is None:
        return f"strength        lam = {model.lam_:.4g} (given)"
    at, unit = study.index(), study.score.replace("_", " ")
    known = bool(np.isfinite(study.se[at]))
    beside = f" +- {study.se[at]:.2g}" if known else ""
    how = study.method if study.scores is None else f"{study.scores.shape[1]} folds"
    lines = [
        f"strengths       {len(study.lams)}, from {study.lams[0]:.3g} to {study.lams[-1]:.3g}",
        f"judged by       {how}",
        f"plan            {study.solver}",
        f"chosen          lam = {model.lam_:.4g}, {model.df_:.1f} effective degrees of freedom",
        f"  {unit:<14}{study.mean[at]:.6g}{beside}",
    ]
    lines += [
        f"{f'by {other.rule}':<16}lam = {other.lam:.4g}, {other.df:.1f} degrees of freedom, "
        f"{unit} {other.mean:.6g}"
        for other in study.criteria()
        if other.rule != study.rule
    ]
    if study.nested is not None:
        low, high = study.nested.spread
        lines += [
            f"nested          {len(study.nested)} outer folds chose lam = {low:.4g} to {high:.4g}",
            f"  {unit:<14}{study.nested.mean:.6g} +- {study.nested.se:.2g}",
        ]
    seconds = study.seconds + (0.0 if study.nested is None else study.nested.seconds)
    return "\n".join([*lines, f"all of it took  {seconds:.3f} s"])


def _curve(study: Any) -> str:
    """The mean scores as bars, at a dozen strengths spread over the grid."""
    count = min(CURVE_ROWS, len(study.lams))
    marks = {c.index: f"  <- {c.rule}" for c in study.criteria(_marked(study))}
    places = np.unique(
        np.concatenate(
            [
                np.linspace(0, len(study.lams) - 1, count).round().astype(int),
                list(marks),
            ]
        )
    )
    low, high = float(np.nanmin(study.mean)), float(np.nanmax(study.mean))
    lines = [f"{'lam':>10}  {'df':>5}  {study.score.replace('_', ' ')}"]
    for place in places:
        share = (study.mean[place] - low) / (high - low) if high > low else 0.0
        bar = "#" * (1 + round(36 * share))
        mark = marks.get(int(place), "")
        lines.append(
            f"{study.lams[place]:>10.3g}  {study.path.df[place]:>5.1f}  "
            f"{study.mean[place]:>10.5g}  {bar}{mark}"
        )
    return "\n".join(lines)


def _marked(study: Any) -> tuple[str, ...]:
    """The rules shown on the curve; where two choose the same strength the last is named."""
    return ("1se", "min") if study.rule in ("1se", "min") else ("1se", "min", study.rule)


def _coefficients(model: Any, names: tuple[str, ...], spread: Float64Array | None) -> str:
    effect = model.coef_ if spread is None else model.coef_ * spread
    heading = "coefficient" if spread is None else "coefficient   per standard deviation"
    lines = [f"{'column':<14}{heading}"]
    order = np.argsort(-np.abs(effect), kind="stable")
    for j in order[:COEFFICIENTS_SHOWN]:
        beside = "" if spread is None else f"{effect[j]:>14.4g}"
        lines.append(f"{names[j]:<14}{model.coef_[j]:>11.5g}{beside}")
    if len(order) > COEFFICIENTS_SHOWN:
        lines.append(f"... and {len(order) - COEFFICIENTS_SHOWN} smaller ones")
    lines.append(f"{'(intercept)':<14}{model.intercept_:>11.5g}")
    return "\n".join(lines)


def _certificate(model: Any) -> str:
    certificate = model.certificate_
    return "\n".join(
        [
            f"status          {model.status_}",
            f"certificate     relative duality gap {certificate.gap:.1e}, recomputed from the rows",
            f"                optimality conditions violated by {certificate.kkt:.1e}, relative",
        ]
    )
