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

# What the build needs stays in the environment, so that a change of one file compiles one file.
.venv/.build: .venv/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.11" "nanobind>=2.4" "cmake>=3.20" ninja
	@touch $@

# An editable install: Python changes take effect at once, native changes on the next make.
INSTALL := PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation -e

.venv/.installed: .venv/.build $(SOURCES)
	$(INSTALL) .
	@touch $@

.venv/.test: .venv/.installed
	$(INSTALL) ".[test]"
	@touch $@

.venv/.check: .venv/.installed
	$(INSTALL) ".[check]"
	@touch $@

clean:
	rm -rf .venv build
