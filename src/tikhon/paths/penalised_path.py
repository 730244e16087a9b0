"""A path of a penalised loss: solved at once, certified when it is first looked at."""

from __future__ import annotations

import time
from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from tikhon._kernels import Stop
from tikhon.data.coerce import Data
from tikhon.data.moments import Cells
from tikhon.paths.grid import Grid
from tikhon.penalties.base import Penalty
from tikhon.results import Certificate, Path, Solution, Status, unfinished
from tikhon.solvers.choose import plan_penalised
from tikhon.solvers.path_fit import PathFit
from tikhon.solvers.penalised import CertifiedFit, PenalisedMachine, certified_fit
from tikhon.solvers.relaxed import Supports
from tikhon.solvers.solve_penalised import Single, solve_penalised
from tikhon.solvers.training import Training
from tikhon.typing import Float64Array

__all__ = ["PenalisedPath", "path_of_one", "penalised_lams", "penalised_path"]

GRID_TOP = 1e3
"""The strongest strength over the mean curvature, where no finite one makes all coefficients 0."""


class PenalisedPath(Path):
    """A path whose certificates are computed when it is first looked at.

    One solution is certified alone; whoever asks for all gets them in one pass. The table is
    referred to, not copied; pickling computes what is missing and forgets the table.

    With a share `relaxed` of least squares on each support, that is mixed in.
    """

    _machine: PenalisedMachine
    _fit: PathFit
    _one_target: bool
    _skipped: int
    _relaxed: float

    def __init__(
        self,
        machine: PenalisedMachine,
        fit: PathFit,
        lams: Float64Array,
        *,
        one_target: bool,
        feature_names: tuple[str, ...] | None,
        seconds: float,
        skipped: int = 0,
        relaxed: float = 0.0,
    ) -> None:
        self.__dict__ |= {
            "_skipped": skipped,
            "_relaxed": relaxed,
            "_machine": machine,
            "_fit": fit,
            "_one_target": one_target,
            "lams": lams,
            "solver": machine.name if relaxed == 0 else f"{machine.name}, relaxed",
            "passes": 2.0,
            "seconds": seconds,
            "feature_names": feature_names,
        }

    @cached_property
    def _null(self) -> Any:
        return self._machine.null()

    @cached_property
    def _shrunk(self) -> CertifiedFit:
        return self._certified(0, len(self))

    @cached_property
    def _all(self) -> CertifiedFit:
        return self._mixed(self._shrunk, self._fit)

    @cached_property
    def _supports(self) -> Supports:
        return Supports.of(self._machine, [self._fit])

    def _certified(self, start: int, stop: int) -> CertifiedFit:
        """Certify the penalised solutions from one position to another."""
        part = self._fit.part(start, stop)
        return certified_fit(
            self._machine, self._null, self.lams[start:stop], part.dense(), part.intercepts
        )

    def _mixed(self, shrunk: CertifiedFit, fit: PathFit) -> CertifiedFit:
        """Mix in what is unshrunk on the supports of certified solutions."""
        if self._relaxed == 0:
            return shrunk
        supports = self._supports
        if not supports.hold(shrunk.coefs):  # a correction has brought in another column
            everything = np.arange(shrunk.coefs.shape[1])
            fit = replace(fit, columns=everything, coefs=shrunk.coefs)
            supports = Supports.of(self._machine, [fit])
        return supports.certified(self._machine, self._null, shrunk, fit, self._relaxed)

    @property
    def coefs(self) -> Float64Array:
        """Coefficients: (L, d) or (L, d, targets)."""
        return self._all.coefs[:, :, 0] if self._one_target else self._all.coefs

    @property
    def intercepts(self) -> Float64Array:
        """Intercepts: (L,) or (L, targets)."""
        return self._all.intercepts[:, 0] if self._one_target else self._all.intercepts

    @property
    def certificates(self) -> tuple[Certificate, ...]:
        """One certificate per strength."""
        return self._all.certificates

    @property
    def losses(self) -> Float64Array:
        """Mean training loss at each strength, without the penalty: (L,)."""
        return self._all.losses

    @cached_property
    def df(self) -> Float64Array:
        """Effective degrees of freedom, the intercept not counted: (L,)."""
        share, shrunk = self._relaxed, self._shrunk
        df = self._machine.df(self.lams, shrunk)
        if share == 0:
            return df
        free = np.count_nonzero(shrunk.coefs, axis=(1, 2)) / shrunk.coefs.shape[2]
        return np.asarray((1.0 - share) * df + share * free)

    @property
    def status(self) -> Status:
        """The status of the strength that is farthest from done."""
        status = self._machine.judge(self.lams, self._all, self._fit.solved)
        if not status.ok:
            return status
        return unfinished(len(self), len(self) + self._skipped) or status

    def __getitem__(self, position: int) -> Solution:
        if "_all" in self.__dict__:
            return super().__getitem__(position)
        at = range(len(self))[position]
        lam, one = self.lams[[at]], self._fit.part(at, at + 1)
        found = self._mixed(self._certified(at, at + 1), one)
        coef, intercept = found.coefs[0], found.intercepts[0]
        return Solution(
            coef=coef[:, 0] if self._one_target else coef,
            intercept=float(intercept[0]) if self._one_target else intercept,
            lam=float(lam[0]),
            certificate=found.certificates[0],
            status=self._machine.judge(lam, found, one.solved),
            solver=self.solver,
            passes=self.passes,
            seconds=self.seconds,
        )

    def computed(self, seconds: float) -> PenalisedPath:
        """Certify everything now; return the path itself."""
        _ = self._all
        self.__dict__["seconds"] = seconds
        return self

    def __reduce__(self) -> tuple[type[Path], tuple[object, ...]]:
        return Path, tuple(getattr(self, field.name) for field in fields(Path))


def penalised_lams(machine: PenalisedMachine, grid: Grid) -> Float64Array:
    """Return the strengths of a grid: from `lam_max` down, where there is one."""
    if grid.values is not None:
        return grid.below(1.0)
    n, d = machine.training.design.shape
    top = machine.lam_max()
    if not np.isfinite(top):
        return grid.below(GRID_TOP * machine.curvature() or 1.0, 1e-8)
    return grid.below(top if top > 0 else 1.0, 1e-2 if d > n else 1e-3)


def penalised_path(
    penalty: Penalty,
    data: Data,
    grid: Grid,
    *,
    intercept: bool,
    solver: str,
    tol: float,
    stop: Stop,
    relaxed: float = 0.0,
) -> Path:
    """Solve a grid of strengths on all rows, certified; nothing is standardised."""
    started = time.perf_counter()
    cells = Cells.of(data.labels())
    training = Training(data.design, data.y, data.s, cells, False, intercept)
    plan = plan_penalised(data.design, penalty, solver)
    machine = plan.machine(training, penalty, tol, stop)
    lams = penalised_lams(machine, grid)
    positive = lams[lams > 0]
    parts: list[Path] = []
    skipped = 0
    if len(positive):
        fit = machine.fits([training.everything()], positive)[0]
        kept = max(1, fit.solved)
        skipped = len(lams) - kept if kept < len(positive) else 0
        fit, positive = fit.part(0, kept), positive[:kept]
        path = PenalisedPath(
            machine,
            fit,
            positive,
            relaxed=relaxed,
            one_target=data.one_target,
            feature_names=data.feature_names,
            seconds=time.perf_counter() - started,
            skipped=skipped,
        )
        parts.append(path.computed(time.perf_counter() - started))
    if lams[-1] == 0 and not skipped:
        single = solve_penalised(
            penalty,
            0.0,
            data,
            standardize=False,
            intercept=intercept,
            solver=solver,
            tol=tol,
            stop=stop,
        )
        parts.append(path_of_one(single, data))
    return parts[0] if len(parts) == 1 else _joined(*parts)


def path_of_one(single: Single, data: Data) -> Path:
    """Return a single solution as a path of one strength."""
    solution = single.solution
    return Path(
        lams=np.array([solution.lam]),
        coefs=solution.coef[None],
        intercepts=np.asarray(solution.intercept)[None],
        certificates=(solution.certificate,),
        df=np.array([single.df]),
        losses=np.array([single.loss]),
        status=solution.status,
        solver=solution.solver,
        passes=solution.passes,
        seconds=solution.seconds,
        feature_names=data.feature_names,
    )


def _joined(stronger: Path, weaker: Path) -> Path:
    """One path of two."""
    status = stronger.status if not stronger.status.ok else weaker.status
    return Path(
        lams=np.concatenate([stronger.lams, weaker.lams]),
        coefs=np.concatenate([stronger.coefs, weaker.coefs]),
        intercepts=np.concatenate([stronger.intercepts, weaker.intercepts]),
        certificates=stronger.certificates + weaker.certificates,
        df=np.concatenate([stronger.df, weaker.df]),
        losses=np.concatenate([stronger.losses, weaker.losses]),
        status=status,
        solver=f"{stronger.solver}; {weaker.solver}",
        passes=stronger.passes + weaker.passes,
        seconds=stronger.seconds + weaker.seconds,
        feature_names=stronger.feature_names,
    )
