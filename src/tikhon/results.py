"""What a solver hands back: a solution, its certificate and its status; a path of solutions.

An outcome is data. Nothing here computes: solvers fill these values, estimators and reports
read them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from tikhon.typing import Float64Array

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Certificate", "History", "Path", "Solution", "Status", "StatusCode"]


class StatusCode(enum.StrEnum):
    """How a fit ended."""

    CONVERGED = "converged"
    MAX_ITER = "max_iter"
    MAX_SECONDS = "max_seconds"
    SEPARABLE = "separable"
    INSEPARABLE = "inseparable"
    RANK_DEFICIENT = "rank_deficient"
    DIVERGED = "diverged"
    OVERFLOW = "overflow"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Status:
    """How a fit ended, in a word, with a sentence and one action.

    A status compares equal to its word: ``model.status_ == "converged"``.
    """

    code: StatusCode
    message: str = ""
    remedy: str = ""

    @property
    def ok(self) -> bool:
        """Whether the solution is what was asked for."""
        return self.code is StatusCode.CONVERGED

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Status):
            return (self.code, self.message, self.remedy) == (
                other.code,
                other.message,
                other.remedy,
            )
        if isinstance(other, str):
            return self.code.value == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.code.value)

    def __str__(self) -> str:
        sentences = [part for part in (self.message, self.remedy) if part]
        return f"{self.code.value}: {' '.join(sentences)}" if sentences else self.code.value


def unfinished(solved: int, asked: int) -> Status | None:
    """Return the status of a grid that the clock has cut short; None for a whole one."""
    if solved >= asked:
        return None
    return Status(
        StatusCode.MAX_SECONDS,
        f"{solved} of {asked} strengths were solved in time, the strongest ones.",
        "Raise `max_seconds`, or use fewer strengths.",
    )


@dataclass(frozen=True, slots=True)
class Certificate:
    """How far a solution can be from the optimum, recomputed in float64 from the raw data.

    Attributes
    ----------
    gap : float
        Duality gap, relative to the objective of the null model: an upper bound on
        (objective - optimum) / (null objective). nan where no dual point is known.
    kkt : float
        Norm of the violation of the optimality conditions, relative to the norm of the null
        model's gradient.
    objective : float
        The objective at the solution.
    null_objective : float
        The objective of the best constant prediction.
    error_bound : float or None
        ``||w - w_opt|| <= error_bound``, in the penalised coordinates; None unless the
        objective is strongly convex.
    """

    gap: float
    kkt: float
    objective: float
    null_objective: float
    error_bound: float | None = None


@dataclass(frozen=True, slots=True)
class History:
    """The trace of an iterative solver: one entry per recorded iteration.

    Attributes
    ----------
    objective : tuple of float
    gap : tuple of float
        Relative, certified; the relative KKT residual where there is no dual point.
    seconds : tuple of float
        Since the start, recording included.
    passes : tuple of float
        Sweeps over the rows that the algorithm has made; recording makes more, which are not
        counted.
    """

    objective: tuple[float, ...] = ()
    gap: tuple[float, ...] = ()
    seconds: tuple[float, ...] = ()
    passes: tuple[float, ...] = ()

    def plot(
        self,
        ax: Any = None,
        *,
        optimum: float | None = None,
        against: Literal["passes", "seconds"] = "passes",
        dark: bool = False,
    ) -> Any:
        """Draw the trace on logarithmic axes; return the matplotlib axes.

        Against "passes" or "seconds": the gap or, given the least objective as `optimum`, how far
        above it the objective was. `tk.plots.plot_histories` draws several.
        """
        from tikhon.report.plots import plot_histories

        what = "gap" if optimum is None else "objective"
        return plot_histories({what: self}, optimum=optimum, against=against, ax=ax, dark=dark)


@dataclass(frozen=True, slots=True)
class Solution:
    """One fitted problem.

    Attributes
    ----------
    coef : ndarray of shape (d,) or (d, targets)
    intercept : float or ndarray of shape (targets,)
    lam : float or ndarray of shape (targets,)
    certificate : Certificate
    status : Status
    solver : str
        The algorithm and, for least squares, the rung of the accuracy ladder that was used.
    passes : float
        Sweeps over the rows of the data.
    seconds : float
    history : History
    """

    coef: Float64Array
    intercept: float | Float64Array
    lam: float | Float64Array
    certificate: Certificate
    status: Status
    solver: str
    passes: float
    seconds: float
    history: History = field(default_factory=History)

    def predict(self, X: Any) -> Float64Array:
        """Return ``X coef + intercept`` for an array, sparse array or DataFrame.

        For losses with a link this is the linear predictor, before the link's inverse.
        """
        from tikhon.data.coerce import as_design

        return np.asarray(as_design(X).predict(self.coef) + self.intercept)

    @property
    def objective(self) -> float:
        """The value of the objective, from the certificate."""
        return self.certificate.objective


@dataclass(frozen=True, eq=False, repr=False)
class Path:
    """Solutions along a grid of strengths, strongest first.

    On a large table coefficients and certificates are computed when they are first looked at.

    Attributes
    ----------
    lams : ndarray of shape (L,)
    coefs : ndarray of shape (L, d) or (L, d, targets)
    intercepts : ndarray of shape (L,) or (L, targets)
    certificates : tuple of Certificate, one per strength
    df : ndarray of shape (L,)
        Effective degrees of freedom of each target (their mean, where they differ), the intercept
        not counted; nan where they are unknown.
    losses : ndarray of shape (L,)
        Mean loss on the training rows, summed over targets: the objective without the penalty.
    status : Status
    solver : str
    passes : float
    seconds : float
    feature_names : tuple of str, or None
    """

    lams: Float64Array
    coefs: Float64Array
    intercepts: Float64Array
    certificates: tuple[Certificate, ...]
    df: Float64Array
    losses: Float64Array
    status: Status
    solver: str
    passes: float
    seconds: float
    feature_names: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.lams)

    def __repr__(self) -> str:
        return (
            f"Path({len(self)} strengths from {self.lams[0]:.3g} to {self.lams[-1]:.3g}, "
            f"{self.status.code.value}, {self.solver})"
        )

    def index(self, lam: float) -> int:
        """Return the position of the grid's strength nearest to `lam` (in logarithm)."""
        if not lam >= 0:
            raise ValueError(f"`lam` must be >= 0, got {lam}.")
        tiny = np.finfo(np.float64).tiny
        return int(np.argmin(np.abs(np.log(self.lams + tiny) - np.log(lam + tiny))))

    def at(self, lam: float) -> Solution:
        """Return the solution at the grid's strength nearest to `lam`."""
        return self[self.index(lam)]

    def __getitem__(self, position: int) -> Solution:
        intercept = self.intercepts[position]
        return Solution(
            coef=self.coefs[position],
            intercept=float(intercept) if np.ndim(intercept) == 0 else intercept,
            lam=float(self.lams[position]),
            certificate=self.certificates[position],
            status=self.status,
            solver=self.solver,
            passes=self.passes,
            seconds=self.seconds,
        )

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the path as a DataFrame: one row per strength, one column per coefficient.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}, optional
            pandas where it is installed, else pyarrow.
        """
        flat = self.coefs.reshape(len(self.lams), -1)
        columns: dict[str, Float64Array] = {"lam": self.lams, "df": self.df}
        columns |= {f"intercept{tag}": v for tag, v in _split(self.intercepts)}
        names = self._coefficient_names(flat.shape[1])
        columns |= dict(zip(names, flat.T, strict=True))
        return frame(columns, backend)

    def _coefficient_names(self, count: int) -> Sequence[str]:
        d = self.coefs.shape[1]
        names = self.feature_names or tuple(f"x{j}" for j in range(d))
        if self.coefs.ndim == 2:
            return names
        targets = count // d
        return [f"{name}[{t}]" for name in names for t in range(targets)]

    def first(self, count: int, asked: int) -> Path:
        """Return the strongest strengths of a path, of the number that was asked for."""
        if count == len(self):
            return self
        return replace(
            self,
            lams=self.lams[:count],
            coefs=self.coefs[:count],
            intercepts=self.intercepts[:count],
            certificates=self.certificates[:count],
            df=self.df[:count],
            losses=self.losses[:count],
            status=unfinished(count, asked) or self.status,
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw every coefficient against the strength; return the matplotlib axes."""
        from tikhon.report.plots import plot_path

        return plot_path(self, ax)


def _split(intercepts: Float64Array) -> list[tuple[str, Float64Array]]:
    if intercepts.ndim == 1:
        return [("", intercepts)]
    return [(f"[{t}]", intercepts[:, t]) for t in range(intercepts.shape[1])]


def frame(columns: dict[str, Float64Array], backend: Any = None) -> Any:
    """Build a DataFrame of the kind the user has: pandas if installed, else Arrow."""
    import importlib.util

    import narwhals as nw

    if backend is None:
        backend = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    return nw.from_dict(columns, backend=backend).to_native()
