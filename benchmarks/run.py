"""Measure every library on one problem, in one run, and write the tables.

python -m benchmarks.run P1 [--libraries tikhon sklearn ...] [--scale full|small]
                            [--repeat 5] [--threads 2]
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks import launch, tables
from benchmarks.accuracy import RidgeReference, curve_difference, nearest
from benchmarks.libraries import LIBRARIES, Library
from benchmarks.limits import input_bytes
from benchmarks.machine import describe
from benchmarks.path_accuracy import PathReference
from benchmarks.problems import PROBLEMS, build
from benchmarks.records import Accuracy, Attempt, Limits, Report, Row, revived

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TARGETS = (1e-4, 1e-6)
RESULTS = Path(__file__).parent / "results"

REFERENCES = {
    "ridge_cv": RidgeReference,
    "lasso_cv": PathReference,
    "lasso_path": PathReference,
    "group_path": PathReference,
}


@dataclass(frozen=True, slots=True)
class Bench:
    """One problem on the bench: conditions of the runs and the truth to judge them by."""

    conditions: launch.Conditions
    truth: RidgeReference | PathReference
    curve: np.ndarray | None

    def judge(self, folder: Path) -> Accuracy:
        """Hold a saved outcome against the reference."""
        with np.load(folder / "outcome.npz") as saved:
            outcome = dict(saved)
        stated = float(outcome["gap"]) if "gap" in outcome else None
        worst = self.worst_on_path(outcome)
        if self.curve is None or "lam" not in outcome:
            return Accuracy(worst, stated_gap=stated)
        lams = self.truth.problem.lams
        chosen, best = nearest(lams, float(outcome["lam"])), int(np.argmin(self.curve))
        returned = self.truth.suboptimality(
            np.atleast_1d(outcome["lam_refit"]),
            np.atleast_2d(outcome["coef"]),
            np.atleast_1d(outcome["intercept"]),
        )[0]
        return Accuracy(
            worst=float(max(returned, worst)),
            lam=float(outcome["lam"]),
            lam_refit=float(outcome["lam_refit"]),
            grid_steps_from_best=chosen - best,
            regret=float(self.curve[chosen] / self.curve[best] - 1),
            suboptimality=float(returned),
            curve_difference=curve_difference(outcome.get("curve"), self.curve),
            stated_gap=stated,
        )

    def worst_on_path(self, outcome: dict[str, np.ndarray]) -> float:
        """Largest gap over the strengths of a returned path; minus infinity without one."""
        if "path_coefs" not in outcome:
            return -np.inf
        lams = self.truth.problem.lams
        if outcome["path_coefs"].shape[0] != len(lams):
            return np.inf  # a path that stopped early is not the answer
        gaps = self.truth.suboptimality(lams, outcome["path_coefs"], outcome["path_intercepts"])
        return float(gaps.max())

    def attempt(self, name: str, library: Library, tolerance: float | None, repeat: int) -> Attempt:
        """Measure once or several times and judge the first answer."""
        measured, folder = launch.measure(
            library, name, self.conditions, tolerance=tolerance, repeat=repeat
        )
        return Attempt(tolerance, measured, self.judge(folder) if measured.seconds else None)

    def rows(self, name: str, library: Library) -> Iterator[Row]:
        """Measure one library: one row for a direct method, one per accuracy target otherwise.

        The tolerance is tightened decade by decade with one fit each; the loosest that reaches a
        target is then timed in full. This is to the rival's advantage: its default may be
        tighter.
        """
        now = datetime.now(UTC).isoformat(timespec="seconds")
        row = partial(Row, name, library.title, library.note, library.comparable, date=now)
        repeat = self.conditions.repeat
        if not library.tolerances:
            attempt = self.attempt(name, library, None, repeat)
            worst = attempt.accuracy.worst if attempt.accuracy else np.inf
            missed = () if attempt.measured.error else tuple(t for t in TARGETS if worst > t)
            yield row(attempt, reached=tuple(t for t in TARGETS if worst <= t), missed=missed)
            return
        ladder, answers, missed = self.climb(name, library)
        for tolerance in dict.fromkeys(answers.values()):
            reached = tuple(target for target in TARGETS if answers.get(target) == tolerance)
            climbed = next(rung for rung in ladder if rung.tolerance == tolerance)
            again = repeat > 1 and sum(climbed.measured.seconds) * 2 <= self.conditions.budget
            attempt = self.attempt(name, library, tolerance, repeat) if again else climbed
            yield row(attempt, reached=reached, ladder=tuple(ladder))
        if missed:
            # The rung that failed, or the tightest of all, shows what was not to be had.
            yield row(ladder[-1], missed=missed, ladder=tuple(ladder))

    def climb(
        self, name: str, library: Library
    ) -> tuple[list[Attempt], dict[float, float], tuple[float, ...]]:
        """Tighten until every target is met: the rungs, a tolerance per target, the rest.

        Where much is missing several decades are skipped: suboptimality seldom falls faster than
        the tolerance. Where it did, the skipped ones are tried after all, from the tight end, so
        that the loosest that reaches a target is found.
        """
        tried: dict[int, Attempt] = {}

        def worst(place: int) -> float:
            if place not in tried:
                tolerance = library.tolerances[place]
                tried[place] = self.attempt(name, library, tolerance, repeat=1)
                accuracy = tried[place].accuracy
                if not tried[place].measured.error and accuracy is not None:
                    print(f"{name} tol={tolerance:.0e} worst={accuracy.worst:.0e}", flush=True)
            rung = tried[place]
            # A tighter tolerance takes longer still, and a crash would only repeat itself.
            return np.nan if rung.measured.error or not rung.accuracy else rung.accuracy.worst

        answers: dict[float, float] = {}
        place = 0
        for target in TARGETS:
            found, place = loosest(worst, target, place, len(library.tolerances))
            if not found:
                break
            answers[target] = library.tolerances[place]
        ladder = [tried[place] for place in sorted(tried)]
        return ladder, answers, tuple(target for target in TARGETS if target not in answers)


def loosest(
    worst: Callable[[int], float], target: float, place: int, count: int
) -> tuple[bool, int]:
    """Return whether a rung from `place` on meets a target, and the first that does.

    `worst` is nan where a rung fails; then no tighter one is tried.
    """
    below = place - 1
    while place < count:
        missing = worst(place)
        if np.isnan(missing):
            return False, place
        if missing <= target:
            while place - 1 > below and worst(place - 1) <= target:
                place -= 1
            return True, place
        below = place
        decades = np.log10(missing / target) if np.isfinite(missing) else 1.0
        place += max(1, int(decades))
        if place >= count > below + 1:
            place = count - 1
    return False, below


def limits(conditions: launch.Conditions) -> tuple[Limits | None, str]:
    """Physical limits, measured under the same conditions as the libraries; or the failure."""
    folder = conditions.work / "limits"
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [
        *("--problem", str(conditions.problem), "--out", str(folder)),
        *("--threads", str(conditions.threads), "--repeat", str(max(3, conditions.repeat))),
    ]
    failure = launch.run_module(
        Path(sys.executable), "benchmarks.limits", arguments, folder, conditions
    )
    if failure:
        return None, failure
    return revived(Limits, json.loads((folder / "record.json").read_text())), ""


def run(arguments: argparse.Namespace, names: list[str], save: Callable[[Report], None]) -> None:
    """Measure one problem by some libraries, and the limits; save after each."""
    begun = perf_counter()
    machine = describe()
    problem = build(arguments.problem, arguments.scale)
    work = RESULTS / "raw" / f"{arguments.problem}-{arguments.scale}-{arguments.threads}"
    shutil.rmtree(work, ignore_errors=True)
    conditions = launch.Conditions(
        problem=problem.save(work / "data"),
        warmup=build(arguments.problem, "small").save(work / "warmup"),
        work=work,
        threads=arguments.threads,
        repeat=arguments.repeat,
        timeout=arguments.timeout,
        budget=arguments.budget,
    )
    print("physical limits", flush=True)
    found, failure = limits(conditions)
    print("reference", flush=True)
    truth = REFERENCES[problem.task](problem)
    curve = truth.curve()
    report = Report(
        problem=arguments.problem,
        title=PROBLEMS[arguments.problem].title,
        scale=arguments.scale,
        n_samples=problem.X.shape[0],
        n_features=problem.X.shape[1],
        n_lams=len(problem.lams),
        n_folds=problem.n_folds,
        input_bytes=input_bytes(problem.X),
        threads=arguments.threads,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=machine,
        reference_gap=0.0,
        best_lam=None if curve is None else float(problem.lams[np.argmin(curve)]),
        limits=found,
        limits_error=failure,
    )
    bench = Bench(conditions, truth, curve)
    known = LIBRARIES[problem.task]
    for name in names:
        if report.rows and perf_counter() - begun > arguments.within:
            print(f"time is up before {name}: go on with --keep", flush=True)
            break
        for row in bench.rows(name, known[name]):
            report.rows.append(row)
            print(tables.line(row), flush=True)
        report.reference_gap = truth.gap
        save(report)
    for folder in (conditions.problem, conditions.warmup):
        shutil.rmtree(folder)  # the data are large and drawn again from their seed


def remaining(problem: str, kept: Report | None) -> list[str]:
    """Libraries of a problem that have no row yet."""
    done = {row.name for row in kept.rows} if kept else set()
    return [name for name in LIBRARIES[build(problem, "small").task] if name not in done]


def continued(fresh: Report, earlier: Report) -> Report:
    """Add the rows of an earlier part of the run, on the same machine, that were not remade."""
    same = ("problem", "scale", "n_samples", "n_features", "threads")
    differs = [name for name in same if getattr(fresh, name) != getattr(earlier, name)]
    if fresh.machine.processor != earlier.machine.processor:
        differs.append("machine")
    if differs:
        raise SystemExit(f"--keep: the stored run differs in {', '.join(differs)}")
    remade = {row.name for row in fresh.rows}
    rows = [row for row in earlier.rows if row.name not in remade] + fresh.rows
    order = list(LIBRARIES[build(fresh.problem, "small").task])
    fresh.rows = sorted(rows, key=lambda row: order.index(row.name))
    fresh.reference_gap = max(fresh.reference_gap, earlier.reference_gap)
    return fresh


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("problem", choices=PROBLEMS)
    parser.add_argument("--libraries", nargs="+", metavar="NAME", help="all by default")
    parser.add_argument(
        "--keep", action="store_true", help="continue a run: keep its rows, measure the rest"
    )
    parser.add_argument(
        "--within",
        type=float,
        default=np.inf,
        metavar="SECONDS",
        help="start no further library after this many seconds; go on later with --keep",
    )
    parser.add_argument("--scale", choices=("full", "small"), default="full")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=900, help="seconds per process")
    parser.add_argument(
        "--budget", type=float, default=20, help="seconds of repetitions per process, at least one"
    )
    arguments = parser.parse_args()
    names = LIBRARIES[build(arguments.problem, "small").task]
    unknown = set(arguments.libraries or ()) - set(names)
    if unknown:
        parser.error(f"--libraries knows {', '.join(names)}; got {', '.join(sorted(unknown))}")
    return arguments


def main() -> None:
    arguments = parse()
    launch.end_children_on_termination()
    suffix = "" if arguments.scale == "full" else f"-{arguments.scale}"
    suffix += "" if arguments.threads == 2 else f"-threads{arguments.threads}"
    RESULTS.mkdir(exist_ok=True)
    target = RESULTS / f"{arguments.problem}{suffix}.json"
    kept = Report.read(target) if arguments.keep and target.exists() else None
    names = arguments.libraries or remaining(arguments.problem, kept)
    if not names:
        print(f"{target} has every library; name those to measure again with --libraries")
        return

    def save(report: Report) -> None:
        if kept is not None:
            report = continued(report, kept)
        report.write(target)
        target.with_suffix(".md").write_text(tables.markdown(report))

    run(arguments, names, save)
    if target.exists():
        print(f"\n{target.with_suffix('.md').read_text()}\nwritten: {target} and .md")


if __name__ == "__main__":
    main()
