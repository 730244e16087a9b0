"""House rules that no other tool checks: sizes, names, leftovers, tests that assert nothing."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

MOST_LINES = 600
MOST_FUNCTION_LINES = 60
JUNK_NAMES = {"utils", "misc", "helpers", "common"}
LEFTOVERS = re.compile(
    r"\b(?:TO"
    r"DO|FIX"
    r"ME|XX"
    r"X|HA"
    r"CK)\b|NotImplemented"
    r"Error|pytest\.mark\.(?:sk"
    r"ip|xf"
    r"ail)\b"
)
SUFFIXES = {".py", ".cpp", ".hpp", ".h", ".js"}


def main() -> int:
    """Print every broken rule; return how many there are, as an exit code of 0 or 1."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        capture_output=True,
        text=True,
        check=True,
    )
    broken = [
        rule
        for name in listed.stdout.splitlines()
        if Path(name).suffix in SUFFIXES and Path(name).is_file()
        for rule in rules_broken(Path(name))
    ]
    print("\n".join(broken) if broken else "house rules: kept")
    return 1 if broken else 0


def rules_broken(path: Path) -> list[str]:
    """Every rule that one file breaks."""
    text = path.read_text("utf-8")
    broken = []
    count = text.count("\n")
    if count > MOST_LINES:
        broken.append(f"{path}: {count} lines (at most {MOST_LINES})")
    if path.stem in JUNK_NAMES:
        broken.append(f"{path}: a name that says nothing")
    leftovers = sorted(set(LEFTOVERS.findall(text)))
    if leftovers:
        broken.append(f"{path}: leftover {', '.join(leftovers)}")
    if "src" in path.parts and "_kernels" not in path.parts and "import _native" in text:
        broken.append(f"{path}: only _kernels/ is the door to compiled code")
    if path.suffix == ".py":
        broken += python_rules_broken(path, ast.parse(text))
    return broken


def python_rules_broken(path: Path, tree: ast.Module) -> list[str]:
    """Rules about functions: their length in the library, and assertions in tests."""
    broken = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        length = (node.end_lineno or node.lineno) - node.lineno + 1
        documented = ast.get_docstring(node, clean=False)
        body = length - (documented.count("\n") + 1 if documented else 0)
        if "src" in path.parts and body > MOST_FUNCTION_LINES:
            broken.append(f"{path}:{node.lineno} {node.name}: {body} lines of code")
        if node.name.startswith("test_") and not asserts(node):
            broken.append(f"{path}:{node.lineno} {node.name}: asserts nothing")
    return broken


def asserts(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a test can fail on purpose."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call) and re.search(
            r"assert|check|law|raises|warns", ast.unparse(node.func)
        ):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
