"""`tikhon.theory.report`: every bound that applies to a fitted model, its assumptions checked.

The bounds stand beside the figures they speak of: training loss, cross-validated score, and, where
test rows are given, the held-out certificate. For most tables the certificate is the figure to
trust; the report says of each other bound whether it is vacuous, and what it would need.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tikhon.data.coerce import as_design
from tikhon.losses.base import Loss
from tikhon.losses.hinge import Hinge
from tikhon.losses.squared import Squared
from tikhon.results import frame
from tikhon.theory import bounds
from tikhon.theory.bounds.bound import Assumption, Bound
from tikhon.theory.bounds.capacity import BOUNDED
from tikhon.theory.bounds.margin import INSIDE_BALL, NO_OFFSET, SEPARABLE
from tikhon.theory.bounds.stable import INSIDE
from tikhon.theory.clipped import Clipped, clip_for
from tikhon.theory.code import code_length, quantised
from tikhon.theory.constants import Constants, constants
from tikhon.theory.models import LinearModel, one_output, signs_of
from tikhon.typing import Float64Array

__all__ = ["Figure", "Report", "report"]

PRECISIONS = (1, 2, 3, 4, 6, 8, 12)
"""Binary digits that a description may have; its length says which, so the bound holds for all."""

CHOSEN = "lam was fixed before the data were seen"
SCALED = "columns were centred and scaled by numbers fixed before the data were seen"
EVEN = "every row counts alike"
ALIKE = "every coefficient is penalised alike"


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure that bounds stand beside.

    Attributes
    ----------
    name : str
    value : float
    note : str
    """

    name: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What learning theory says of a fitted model.

    Attributes
    ----------
    model : str
    loss : str
    m, d : int
        Training rows and columns.
    lam : float
        The library's strength; `lam_s` is the lecture's.
    figures : tuple of Figure
    bounds : tuple of Bound
    """

    model: str
    loss: str
    m: int
    d: int
    lam: float
    figures: tuple[Figure, ...]
    bounds: tuple[Bound, ...]

    @property
    def lam_s(self) -> float:
        """The strength as lecture 001 writes it: half of `lam`."""
        return self.lam / 2.0

    def __getitem__(self, name: str) -> Bound:
        """Return a bound by its name."""
        for bound in self.bounds:
            if bound.name == name:
                return bound
        raise KeyError(f"no bound {name!r}; there are {', '.join(b.name for b in self.bounds)}.")

    def __iter__(self) -> Iterator[Bound]:
        return iter(self.bounds)

    def __str__(self) -> str:
        head = (
            f"{self.model}, {self.loss} loss, m = {self.m} rows, d = {self.d} columns, "
            f"lam = {self.lam:.4g} (the lecture's lambda = {self.lam_s:.4g})"
        )
        width = max(len(figure.name) for figure in self.figures)
        lines = [head, "-" * min(len(head), 78)]
        lines += [f"{f.name:<{width}}  {f.value:<10.4g} {f.note}".rstrip() for f in self.figures]
        return "\n".join(lines) + "\n\n" + "\n\n".join(str(bound) for bound in self.bounds)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return one row per bound: value, ceiling, vacuous, status, statement, source."""
        columns: dict[str, Any] = {
            "bound": [b.name for b in self.bounds],
            "value": [float(b.value) for b in self.bounds],
            "ceiling": [b.ceiling for b in self.bounds],
            "vacuous": [b.vacuous for b in self.bounds],
            "assumptions": [b.status.value for b in self.bounds],
            "lam": [math.nan if b.lam is None else b.lam for b in self.bounds],
            "lam_s": [math.nan if b.lam_s is None else b.lam_s for b in self.bounds],
            "delta": [math.nan if b.delta is None else b.delta for b in self.bounds],
            "statement": [b.statement for b in self.bounds],
            "source": [b.source for b in self.bounds],
        }
        return frame(columns, backend)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain dictionaries, lists, numbers and strings, for a page."""
        return {
            "model": self.model,
            "loss": self.loss,
            "m": self.m,
            "d": self.d,
            "lam": self.lam,
            "lam_s": self.lam_s,
            "figures": [{"name": f.name, "value": f.value, "note": f.note} for f in self.figures],
            "bounds": [_plain(bound) for bound in self.bounds],
        }


def _plain(bound: Bound) -> dict[str, Any]:
    return {
        "name": bound.name,
        "value": float(bound.value),
        "statement": bound.statement,
        "source": bound.source,
        "ceiling": bound.ceiling,
        "vacuous": bound.vacuous,
        "lam": bound.lam,
        "lam_s": bound.lam_s,
        "delta": bound.delta,
        "status": bound.status.value,
        "assumptions": [
            {"what": a.what, "status": a.status.value, "on": a.on} for a in bound.assumptions
        ],
    }


def report(
    model: Any,
    X: Any,
    y: Any,
    X_test: Any = None,
    y_test: Any = None,
    *,
    delta: float = 0.05,
    loss: Loss | None = None,
    radius: float | None = None,
    target: float | None = None,
    clip: float | None = None,
) -> Report:
    """Compute every bound that applies to a fitted model, beside its errors.

    Parameters
    ----------
    model : estimator
        Fitted; a linear model with `coef_`, `intercept_` and `lam_`.
    X, y
        Its training rows.
    X_test, y_test : optional
        Rows that had no part in fitting: for the held-out certificate.
    delta : float, default 0.05
        Bounds of high probability hold with ``1 - delta``, each by itself.
    loss : Loss, optional
        The model's own by default.
    radius, target : float, optional
        Bounds on ``||x||`` (in the coordinates of the penalty) and ``|y|`` that hold for all rows.
    clip : float, optional
        Losses above count as this much, in bounds of high probability; by default the loss of
        mistaking the smallest target for the largest. Has no part in classification.

    Returns
    -------
    Report

    Examples
    --------
    >>> import tikhon as tk
    >>> X, y = tk.datasets.diabetes()
    >>> model = tk.Ridge(lam=0.1).fit(X[:300], y[:300])
    >>> found = report(model, X[:300], y[:300], X[300:], y[300:])
    >>> found["stability"].vacuous, found["held-out risk"].vacuous
    (True, False)
    """
    if (X_test is None) != (y_test is None):
        raise ValueError("give `X_test` and `y_test` together.")
    fitted = LinearModel.of(model, X, y, loss)
    known = constants(
        fitted.loss,
        fitted.design,
        fitted.centred_target,
        fitted.ridge,
        radius=radius,
        target=target,
        mean=fitted.mean,
        scale=fitted.scale,
    )
    clipped = clip_for(fitted.loss, fitted.y, clip)
    figures = [
        Figure(
            "training loss", float(fitted.training_losses().mean()), "mean, without the penalty"
        ),
        Figure("null loss", fitted.null_loss(), "of the best constant, on the same rows"),
    ]
    figures += _cross_validated(model)
    found = [*_stability(fitted, known), *_oracle(fitted, known)]
    found += [_ball(fitted, known, clipped, delta), _description(model, fitted, clipped, delta)]
    found += _margins(fitted, known, delta)
    if X_test is not None:
        more, certificates = _held_out(model, fitted, clipped, X_test, y_test, delta)
        figures += more
        found += certificates
    m, d = fitted.design.shape
    return Report(fitted.name, fitted.loss.name, m, d, fitted.lam, tuple(figures), tuple(found))


def _cross_validated(model: Any) -> list[Figure]:
    study = getattr(model, "study_", None)
    if study is None:
        return []
    at = study.index()
    how = f"+- {study.se[at]:.2g}, {study.score.replace('_', ' ')}, {study.method}"
    if study.score == "squared_error":
        how += "; twice the loss"
    figures = [Figure("cross-validated score", float(study.mean[at]), how)]
    if study.nested is not None:
        figures.append(Figure("nested score", float(study.nested.mean), "the choice included"))
    return figures


def _setting(fitted: LinearModel) -> tuple[Assumption, ...]:
    """What the theorems take for granted of the way a model was fitted."""
    notes = [
        Assumption(
            CHOSEN,
            bounds.Standing.NOT_MET if fitted.chosen else bounds.Standing.UNKNOWN,
            "it was chosen on these rows; a held-out certificate is honest all the same"
            if fitted.chosen
            else "a number was given; only who gave it knows",
        ),
        Assumption.checked(
            NO_OFFSET,
            not fitted.intercept,
            "the intercept is not penalised" if fitted.intercept else "fit_intercept=False",
        ),
    ]
    if fitted.standardized or fitted.intercept:
        how = "deviations" if fitted.standardized else "means"
        notes.append(Assumption.checked(SCALED, False, f"by the {how} of the same rows"))
    if not fitted.alike:
        notes.append(Assumption.checked(ALIKE, False, "columns have `weights` of their own"))
    if fitted.balanced:
        notes.append(Assumption.checked(EVEN, False, "classes have a `class_weight`"))
    return tuple(notes)


def _stability(fitted: LinearModel, known: Constants) -> list[Bound]:
    m, top = len(fitted.y), fitted.null_loss()
    notes = (*known.assumptions, *_setting(fitted))
    if not fitted.ridge > 0:
        convex = Assumption.checked(
            "the penalty is strongly convex",
            False,
            "it has no L2 part: tk.ElasticNet has one, tk.Lasso and lam=0 have none",
        )
        return [
            Bound(
                "stability",
                math.inf,
                "E[L_D(A(S)) - L_S(A(S))] <= 2 rho^2 / (lam_s m), lam_s = 0",
                "lecture 001, Lipschitz loss",
                (convex, *notes),
                ceiling=top,
                lam=0.0,
            )
        ]
    found = []
    if math.isfinite(known.rho) and known.rho > 0:
        found.append(bounds.stability(known.rho, fitted.ridge / 2.0, m))
        found.append(bounds.replacement_distance(known.rho, fitted.ridge / 2.0, m))
    if math.isfinite(known.beta) and known.beta > 0:
        risk = float(fitted.training_losses().mean())
        found.append(bounds.smooth_stability(known.beta, fitted.ridge / 2.0, m, risk))
    size = float(np.linalg.norm(fitted.w))
    ceilings = {"replacement distance": 2.0 * size}
    return [b.resting_on(*_relevant(b, notes), ceiling=ceilings.get(b.name, top)) for b in found]


def _relevant(bound: Bound, notes: tuple[Assumption, ...]) -> tuple[Assumption, ...]:
    """A Lipschitz bound does not need smoothness, nor a smooth one a slope."""
    other = "smooth in w" if "Lipschitz" in bound.source else "Lipschitz in w"
    return tuple(note for note in notes if other not in note.what)


def _oracle(fitted: LinearModel, known: Constants) -> list[Bound]:
    """What strength the theory suggests for this norm, and how many rows it asks for."""
    size, m, top = float(np.linalg.norm(fitted.w)), len(fitted.y), fitted.null_loss()
    if not (size > 0 and top > 0):
        return []
    inside = Assumption.unknown(INSIDE, f"B = {size:.4g} is the norm of the fitted coefficients")
    notes = (*known.assumptions, inside, *_setting(fitted)[1:])
    found: list[Bound] = []
    if fitted.loss.lipschitz is not None and known.rho > 0:
        found.append(bounds.suggested_strength(known.rho, size, m))
        found.append(bounds.oracle_excess(known.rho, size, m).resting_on(ceiling=top))
        found.append(bounds.sample_size(known.rho, size, top / 10.0))
    elif isinstance(fitted.loss, Squared) and known.at_zero > 0:
        return [_ridge_rows(fitted, known, size, inside)]
    return [bound.resting_on(*_relevant(bound, notes)) for bound in found]


def _ridge_rows(fitted: LinearModel, known: Constants, size: float, inside: Assumption) -> Bound:
    """The lecture's theorem where ||x|| <= 1 and |y| <= 1, for a tenth of the null loss."""
    target = math.sqrt(2.0 * known.at_zero)
    eps = fitted.null_loss() / 10.0 / target**2
    scaled = bounds.ridge_sample_size(size * known.radius / target, eps)
    unit = Assumption.checked(
        "||x|| <= 1 and |y| <= 1 for every row",
        True,
        f"x divided by R = {known.radius:.4g}, y by T = {target:.4g}; "
        "eps is a tenth of the null loss",
    )
    reach = [note for note in known.assumptions if note.what.endswith("for every row")][:2]
    found = scaled.resting_on(unit, *reach, inside, *_setting(fitted)[1:])
    lam = None if scaled.lam is None else scaled.lam * known.radius**2
    return Bound(
        found.name, found.value, found.statement, found.source, found.assumptions, math.inf, lam
    )


def _ball(fitted: LinearModel, known: Constants, clipped: Clipped, delta: float) -> Bound:
    """The risk by Rademacher complexity, over balls that double, so that B may follow the data."""
    size = max(float(np.linalg.norm(fitted.w)), 1e-300)
    unit = clipped.c / (clipped.slope * known.radius) if known.radius > 0 else 1.0
    level = max(0, math.ceil(math.log2(size / unit)))
    radius = unit * 2.0**level
    share = delta * bounds.class_weight(level)
    eps = bounds.norm_ball(clipped.slope * known.radius, radius, len(fitted.y), share, clipped.c)
    risk = float(clipped.values(fitted.y, fitted.z).mean())
    note = Assumption.checked(
        "B was fixed before the data were seen",
        True,
        f"B doubles from {unit:.4g}: class {level}, delta shared by 6 / (pi^2 (d + 1)^2)",
    )
    reach = [a for a in known.assumptions if a.what.startswith("||x||")]
    lipschitz = Assumption.checked(
        "the loss is rho-Lipschitz in w for every row", True, f"{clipped.slope:.4g} in z, times R"
    )
    return Bound(
        "risk in norm balls",
        risk + eps.value,
        f"with probability 1 - delta, {clipped.what} <= L_S + 2 rho B / sqrt(m) "
        "+ c sqrt(2 log(2/delta') / m)",
        eps.source,
        eps.assumptions,
        ceiling=clipped.c,
        lam=fitted.lam,
        delta=delta,
    ).resting_on(lipschitz, *clipped.assumptions, note, *reach, *_setting(fitted)[1:])


def _description(model: Any, fitted: LinearModel, clipped: Clipped, delta: float) -> Bound:
    """The risk of the model rounded and written down, at the best of several precisions."""
    coef, offset = one_output(model)
    zero_one, m = fitted.loss.classification, len(fitted.y)
    c = 1.0 if zero_one else clipped.c
    best: tuple[float, int, int, Bound] | None = None
    for precision in PRECISIONS:
        b = float(quantised(np.array([offset]), precision)[0])
        z = fitted.design.predict(quantised(coef, precision)) + b
        losses = fitted.y * z <= 0 if zero_one else clipped.values(fitted.y, z)
        bits = code_length(coef, offset, precision)
        eps = bounds.mdl(bits, m, delta, tight=True)
        risk = float(losses.mean()) + c * eps.value
        if best is None or risk < best[0]:
            best = (risk, bits, precision, eps)
    assert best is not None
    risk, bits, precision, eps = best
    code = f"{bits} bits, {precision} binary digits; the best of {len(PRECISIONS)} precisions"
    notes = [
        Assumption.checked(
            "the code is prefix-free and was fixed before the data were seen", True, code
        ),
        Assumption.checked(BOUNDED, True, "the 0-1 loss" if zero_one else f"over c = {c:.4g}"),
    ]
    if not zero_one:
        notes.append(clipped.assumption)
    what = "L01" if zero_one else clipped.what
    return Bound(
        "risk by description",
        risk,
        f"with probability 1 - delta, {what} <= L_S + c sqrt((|h| log 2 + log(2/delta)) / (2 m)), "
        "for the model rounded to |h| bits",
        eps.source,
        eps.assumptions,
        ceiling=c,
        lam=fitted.lam,
        delta=delta,
    ).resting_on(*notes)


def _margins(fitted: LinearModel, known: Constants, delta: float) -> list[Bound]:
    if not isinstance(fitted.loss, Hinge):
        return []
    size, m = float(np.linalg.norm(fitted.w)), len(fitted.y)
    if not (size > 0 and known.radius > 0):
        return []
    found = []
    margins = fitted.y * fitted.z / size
    gamma = float(margins.min())
    reach = Assumption.unknown(INSIDE_BALL, next(iter(known.assumptions)).on)
    if gamma > 0:
        separable = Assumption.unknown(
            SEPARABLE,
            f"the training rows are, with margin {gamma:.4g}; the distribution may not be",
        )
        hard = bounds.hard_margin(known.radius, gamma, m, delta)
        found.append(hard.resting_on(separable, reach, *_setting(fitted)[1:]))
    if fitted.ridge > 0:
        risk = float(fitted.training_losses().mean())
        soft = bounds.soft_margin(known.radius, size, m, risk, fitted.ridge / 2.0)
        own = Assumption.unknown("hinge_risk is L_hinge(u)", "that of the training rows, u = w")
        found.append(soft.resting_on(own, reach, *_setting(fitted)))
    return found


def _held_out(
    model: Any, fitted: LinearModel, clipped: Clipped, X: Any, y: Any, delta: float
) -> tuple[list[Figure], list[Bound]]:
    coef, offset = one_output(model)
    z = np.asarray(as_design(X).predict(coef) + offset)
    target: Float64Array = signs_of(model, y) if fitted.classes else np.asarray(y, dtype=np.float64)
    if target.shape != z.shape:
        raise ValueError(f"`y_test` must have one number per row of `X_test`, got {target.shape}.")
    losses = np.asarray(fitted.loss.value(target, z), dtype=np.float64)
    figures = [Figure("held-out loss", float(losses.mean()), f"mean of {len(z)} test rows")]
    if fitted.classes:
        errors = int(np.count_nonzero(target * z <= 0))
        figures.append(Figure("held-out error rate", errors / len(z), f"{errors} of {len(z)}"))
        return figures, [bounds.clopper_pearson(errors, len(z), delta)]
    if len(z) < 2:
        return figures, []
    values = clipped.values(target, z)
    bound = bounds.empirical_bernstein(values, delta, clipped.c)
    return figures, [bound.resting_on(clipped.assumption)]
