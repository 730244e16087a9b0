"""What the benchmarks show is what was measured: pages from records, adapters from the registry."""

import ast
import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import page, scaling, tables
from benchmarks.environments import REQUIREMENTS
from benchmarks.libraries import LIBRARIES
from benchmarks.limits import PARTS
from benchmarks.problems import PROBLEMS, Problem, build
from benchmarks.records import (
    Accuracy,
    Attempt,
    Limit,
    Limits,
    Machine,
    Measurement,
    Report,
    Row,
)
from benchmarks.run import REFERENCES, RESULTS, continued, loosest, remaining

ADAPTERS = Path(page.__file__).parent / "adapters"
STORED = [path for path in sorted(RESULTS.glob("*.json")) if not path.stem.startswith("scaling")]


def test_the_page_is_what_the_records_say():
    assert page.page(*page.stored()) == page.PAGE.read_text()


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_tables_are_what_the_records_say(path):
    report = Report.read(path)
    assert tables.markdown(report) == path.with_suffix(".md").read_text()
    assert json.loads(json.dumps(asdict(report))) == json.loads(path.read_text())


@pytest.mark.skipif(not (RESULTS / "scaling-P1.json").exists(), reason="no scaling was stored")
def test_the_table_of_growth_is_what_the_record_says():
    run = scaling.Scaling.read(RESULTS / "scaling-P1.json")
    assert scaling.markdown(run) == (RESULTS / "scaling-P1.md").read_text()


def measured(name, seconds, reached):
    attempt = Attempt(1e-3, Measurement(seconds=seconds, peak_above_input=50), Accuracy(1e-7))
    return Row(name, name, "", True, attempt, reached=reached, date="2026-01-01")


@pytest.fixture
def report():
    return Report(
        problem="P3",
        title="paths",
        scale="full",
        n_samples=4,
        n_features=5,
        n_lams=3,
        n_folds=1,
        input_bytes=200,
        threads=2,
        date="2026-01-01",
        machine=Machine("a processor", 2, 10**9, "Linux", "3.11", "a BLAS", 0.0),
        reference_gap=1e-12,
        best_lam=None,
        limits=Limits(1e9, 1e9, (Limit("the least", 0.5, "whatever is done"),)),
        limits_error="",
        rows=[
            measured("tikhon", [2.0, 1.0, 3.0], (1e-4, 1e-6)),
            measured("adelie", [3.0], (1e-4,)),
            measured("adelie", [8.0], (1e-6,)),
        ],
    )


def test_a_record_is_read_back_as_it_was_written(report, tmp_path):
    report.write(tmp_path / "P3.json")
    assert Report.read(tmp_path / "P3.json") == report


def test_the_summary_divides_times_to_the_same_accuracy(report):
    line = page.summary([report]).splitlines()[-1]
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:] == ["2 s", "4", "", "", "", "", "4"]
    assert "50 B (25%)" in page.page([report], None)


def test_a_run_that_is_continued_keeps_rows_and_replaces_those_remade(report):
    fresh = replace(report, rows=[measured("adelie", [5.0], (1e-4, 1e-6))])
    rows = continued(fresh, report).rows
    assert [row.name for row in rows] == ["tikhon", "adelie"]
    assert rows[1].attempt.measured.seconds == [5.0]
    assert remaining("P3", report) == ["sklearn", "glmnet", "celer", "skglm"]
    with pytest.raises(SystemExit, match="n_samples"):
        continued(replace(report, n_samples=9), report)


@pytest.mark.parametrize("task", LIBRARIES)
def test_every_library_of_a_task_has_its_adapter(task):
    for library in LIBRARIES[task].values():
        tree = ast.parse((ADAPTERS / f"{library.adapter}.py").read_text())
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
        assert library.function in functions
        assert library.adapter == "tikhon" or library.adapter in REQUIREMENTS
        assert list(library.tolerances) == sorted(library.tolerances, reverse=True)


@pytest.mark.parametrize("identifier", PROBLEMS)
def test_a_problem_is_read_as_it_was_saved_and_has_all_it_needs(identifier, tmp_path):
    problem = build(identifier, "small")
    assert {problem.task} <= set(LIBRARIES) & set(REFERENCES) & set(PARTS)
    again = Problem.load(problem.save(tmp_path), "F")
    difference = again.X - problem.X
    assert abs(difference).max() == 0.0
    for name in ("y", "folds", "lams", "groups"):
        np.testing.assert_array_equal(getattr(again, name), getattr(problem, name))
    assert np.all(np.diff(problem.lams) < 0)
    assert len(set(np.bincount(problem.folds))) == 1


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0, 3.5])
@pytest.mark.parametrize("target", [1e-4, 1e-6])
@pytest.mark.parametrize("start", [0, 2])
def test_the_loosest_tolerance_is_found_though_decades_are_skipped(power, target, start):
    tolerances = 10.0 ** -np.arange(1, 16)
    worst = 0.3 * tolerances**power
    tried = []

    def attempt(place):
        tried.append(place)
        return worst[place]

    found, place = loosest(attempt, target, start, len(worst))
    enough = np.flatnonzero(worst[start:] <= target) + start
    assert (found, place) == (True, enough[0])
    assert len(set(tried)) <= enough[0] - start + 1 or power > 1


def test_a_rung_that_fails_ends_the_climb_and_so_does_the_last_one():
    assert loosest(lambda place: [5e-6, np.nan, 1e-9][place], 1e-6, 0, 3)[0] is False
    assert loosest(lambda place: 1.0, 1e-6, 0, 4) == (False, 3)
