# The whole project from a fresh clone: Python 3.11 or newer, a C++17 compiler and make suffice.

PYTHON ?= python3
BIN := .venv/bin
SOURCES := $(shell find native src -name '*.cpp' -o -name '*.hpp') CMakeLists.txt pyproject.toml

.PHONY: demo test check bench docs-check clean

demo: .venv/.installed
	$(BIN)/python examples/ridge_diabetes.py

test: .venv/.test
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

check: .venv/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $(shell find native -name '*.cpp' -o -name '*.hpp')
	$(BIN)/python tools/house_rules.py

bench: .venv/.installed
	$(BIN)/python -m benchmarks.run $(BENCH_ARGS)

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

# An editable install: Python changes take effect at once, native changes on the next make.
.venv/.installed: .venv/bin/python $(SOURCES)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/.test: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[test]"
	@touch $@

.venv/.check: .venv/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[check]"
	@touch $@

clean:
	rm -rf .venv build
