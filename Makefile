# The checks that a change must pass, the quickest first. They use the environment that the README makes; for another
# one: `make check BIN=/path/to/venv/bin/`, and for whatever stands on PATH: `make check BIN=`.
BIN ?= .venv/bin/
PYTHON = $(BIN)python

.PHONY: check lint types contracts test fast samples screenshot

check: lint types contracts test

lint:
	$(PYTHON) -m ruff check .

types:
	$(PYTHON) -m mypy

contracts:
	$(BIN)lint-imports --no-logo

test:
	$(PYTHON) -m pytest

fast:
	$(PYTHON) -m pytest -m "not slow" -x -q

# These two write files that are committed.
samples:
	$(PYTHON) scripts/make_samples.py

screenshot:
	$(PYTHON) scripts/make_screenshot.py
