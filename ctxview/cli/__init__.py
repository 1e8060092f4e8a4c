"""The command line."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing` takes a while to load, and nothing may take a while outside the guard below
if TYPE_CHECKING:
    from typing import NoReturn


def main(args: list[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code."""
    try:
        from ctxview.cli.ending import Ended, hear_signals, interrupted_code
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        hear_signals()
        from ctxview.cli.command import run

        code = run(args)
    except (KeyboardInterrupt, Ended):  # while modules load, or once more while the first one is dealt with
        code = interrupted_code()
    sys.exit(code)
