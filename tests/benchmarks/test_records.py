"""What the benchmarks show is what was measured: pages from records, adapters from the registry."""

import ast
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from benchmarks import page, scaling, tables
from benchmarks.environments import REQUIREMENTS
from benchmarks.libraries import LIBRARIES
from benchmarks.limits import PARTS
from benchmarks.problems import PROBLEMS, Problem, build
from benchmarks.records import Report
from benchmarks.run import REFERENCES, RESULTS

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
