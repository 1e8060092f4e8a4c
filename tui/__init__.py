"""The terminal interface. Importing this module is cheap: only `run` loads Textual."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ctxview.errors import UsageError
from ctxview.focus import Focus
from ctxview.tui.contract import OpenTrace, ProgressCall, TraceLike

__all__ = ["OpenTrace", "ProgressCall", "TraceLike", "run"]


def run(
    open_trace: OpenTrace,
    title: str,
    focus: Focus | None = None,
    give_up: Callable[[], None] | None = None,
    traces: Sequence[str] = (),
) -> int:
    """Show a trace until the person quits; returns the exit code and prints nothing.

    `open_trace(progress)` runs in a thread after the first paint. `title` heads the screen; the permalink names
    `traces`, as the person named them, else the title. `give_up()` makes `open_trace` end early: it is called when the
    person quits before the trace is read. Raises UsageError when there is no terminal to read keys from.
    """
    with _terminal_on_stdin():
        from ctxview.tui.app import CtxviewApp

        app = CtxviewApp(open_trace, title, focus or Focus(), give_up, traces)
        app.run()
        return app.return_code or 0


@contextmanager
def _terminal_on_stdin() -> Iterator[None]:
    """Keys are read from fd 0: where a pipe was the input, put the terminal there for as long as the screen is up."""
    if os.isatty(0):
        yield
        return
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        raise UsageError(
            "no terminal to read keys from", "run it in a terminal, or use `ctxview show` for plain text"
        ) from None
    kept = os.dup(0)
    kept_stdin = sys.__stdin__
    os.dup2(terminal, 0)
    os.close(terminal)
    sys.__stdin__ = os.fdopen(0, closefd=False)  # type: ignore[misc]  # Textual asks it for the descriptor
    try:
        yield
    finally:
        sys.__stdin__ = kept_stdin  # type: ignore[misc]
        os.dup2(kept, 0)
        os.close(kept)
