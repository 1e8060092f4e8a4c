"""The command line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        # Inside the guard: Ctrl-C while modules load is an interruption like any other.
        from ctxview.cli.main import run

        # Importing the submodule put it in this function's place; a second call must find the function again.
        sys.modules[__name__].__dict__["main"] = _ENTRY
        code = run(args)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


_ENTRY = main
