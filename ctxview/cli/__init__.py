"""The command line. `main` is the one place where errors become words on stderr and an exit code."""

from ctxview.cli.main import main

__all__ = ["main"]
