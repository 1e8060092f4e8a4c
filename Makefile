# The checks that a change must pass, in the order in which they fail fastest. `make check PYTHON=python3.12` uses another
# Python; the default is the environment that the README makes.
PYTHON ?= .venv/bin/python
BIN := $(dir $(PYTHON))

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

# Both write files that are committed.
samples:
	$(PYTHON) scripts/make_samples.py

screenshot:
	$(PYTHON) scripts/make_screenshot.py
