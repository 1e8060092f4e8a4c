"""Measures ctxview against its limits; never part of the tests."""

import os

# What is started and measured keeps its bytecode, as an installed program does.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
