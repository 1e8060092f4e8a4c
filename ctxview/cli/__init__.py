"""The command line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        # Inside the guard: Ctrl-C while modules load is an interruption like any other.
        from ctxview.cli.ending import hear_signals

        hear_signals()
        from ctxview.cli.command import run

        code = run(args)
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)
