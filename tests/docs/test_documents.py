"""The documents are programs: every block of Python runs, and prints what the page says."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib
import io
import pkgutil
import re
import subprocess
import sys
import types
from dataclasses import dataclass
from pathlib import Path

import pytest

import tikhon

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
MODULES = sorted(
    name
    for _, name, _ in pkgutil.walk_packages(tikhon.__path__, "tikhon.")
    if name != "tikhon._native"
)
LONGEST_EXAMPLE = 120.0

FENCE = re.compile(r"^```(?P<kind>\w*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE_SHOWN = re.compile(r"<!-- file: (\S+) -->\s*$")
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A block of Python in a page, the output it promises, and the file it claims to be."""

    line: int
    code: str
    output: str | None
    file: str | None


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(text: str) -> list[Block]:
    """Every block of Python, with the block of text that directly follows it, if one does."""
    found = list(FENCE.finditer(text))
    result = []
    for place, fence in enumerate(found):
        if fence["kind"] != "python":
            continue
        following = found[place + 1] if place + 1 < len(found) else None
        promised = None
        if (
            following is not None
            and following["kind"] == "text"
            and not text[fence.end() : following.start()].strip()
        ):
            promised = following["body"]
        shown = FILE_SHOWN.search(text[: fence.start()])
        line = text.count("\n", 0, fence.start()) + 1
        result.append(Block(line, fence["body"], promised, shown[1] if shown else None))
    return result


def prose(text: str) -> str:
    """The page without its fenced blocks, where brackets are not links."""
    return FENCE.sub("", text)


def without_trailing_space(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.rstrip().splitlines())


def run_prompts(block: Block, page: str, namespace: dict[str, object]) -> None:
    """Run a block written with prompts, its outputs within it."""
    test = doctest.DocTestParser().get_doctest(block.code, namespace, page, page, block.line)
    report = io.StringIO()
    runner = doctest.DocTestRunner()
    runner.run(test, out=report.write, clear_globs=False)
    assert runner.failures == 0, report.getvalue()
    namespace.update(test.globs)


def run_page(text: str, page: str, namespace: dict[str, object]) -> list[str]:
    """Run the blocks of a page one after the other; return where the output is another."""
    different = []
    for block in blocks(text):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            if block.code.lstrip().startswith(">>>"):
                run_prompts(block, page, namespace)
            else:
                # Blank lines in front make a traceback point at the line of the page.
                exec(compile("\n" * block.line + block.code, page, "exec"), namespace)
        got = without_trailing_space(printed.getvalue())
        if block.output is not None and got != without_trailing_space(block.output):
            different.append(
                f"{page}:{block.line} promises\n{block.output.rstrip()}\nbut prints\n{got}"
            )
    return different


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # pages read data as from the root
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    module = types.ModuleType("page")
    monkeypatch.setitem(sys.modules, "page", module)  # dataclasses look their module up
    different = run_page(page.read_text("utf-8"), name_of(page), module.__dict__)
    assert not different, "\n\n".join(different)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_file_that_is_shown_is_the_file(page):
    text = page.read_text("utf-8")
    for block in blocks(text):
        if block.file is not None:
            shown = (page.parent / block.file).read_text("utf-8")
            assert block.code.rstrip() == shown.rstrip(), f"{name_of(page)}:{block.line}"
    assert "```python\n```" not in text


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_relative_links_lead_somewhere(page):
    targets = [match["target"] for match in LINK.finditer(prose(page.read_text("utf-8")))]
    local = [target.split("#")[0] for target in targets if "://" not in target]
    missing = [target for target in local if target and not (page.parent / target).exists()]
    assert not missing, f"{name_of(page)} links to {missing}"


def test_every_public_name_is_mentioned():
    text = "\n".join(page.read_text("utf-8") for page in PAGES)
    unmentioned = [name for name in tikhon.__all__ if not re.search(rf"\btk\.{name}\b", text)]
    assert not unmentioned


@pytest.mark.parametrize("family", ["losses", "penalties"])
def test_every_loss_and_penalty_is_listed_with_the_objective(family):
    page = (ROOT / "docs" / "objective.md").read_text("utf-8")
    exported = importlib.import_module(f"tikhon.{family}").__all__
    unlisted = [name for name in exported if not re.search(rf"`{name}\b", page)]
    assert not unlisted


def problem_codes(path: Path) -> set[str]:
    """Codes that a module gives to `problems.add(code, ...)` or `InputProblem(code, ...)`."""
    codes = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        called = ast.unparse(node.func)
        first = node.args[0]
        if called in ("problems.add", "InputProblem") and isinstance(first, ast.Constant):
            codes.add(str(first.value))
    return codes


def test_every_code_of_bad_input_is_documented():
    page = (ROOT / "docs" / "input.md").read_text("utf-8")
    used = set().union(*(problem_codes(path) for path in (ROOT / "src").rglob("*.py")))
    assert used
    assert not sorted(code for code in used if f"`{code}`" not in page)


@pytest.mark.parametrize("name", MODULES)
def test_doctests_of_a_module(name):
    module = importlib.import_module(name)
    report = io.StringIO()
    with contextlib.redirect_stdout(report):
        failed, _ = doctest.testmod(module)
    assert failed == 0, report.getvalue()


@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_an_example_runs_and_says_something(example, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    ended = subprocess.run(
        [sys.executable, "-W", "error", str(example)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=LONGEST_EXAMPLE,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    assert not ended.stderr.strip(), ended.stderr
