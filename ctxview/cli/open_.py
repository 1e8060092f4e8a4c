"""`ctxview TRACE...`: the terminal interface; without a terminal, the window as text."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from ctxview.cli.options import Named, check_stack, session_option, stack_option, trace_options
from ctxview.errors import UsageError
from ctxview.focus import NOW, Focus

if TYPE_CHECKING:
    from ctxview.tui import ProgressCall, TraceLike


@click.command("open")
@trace_options
@session_option
@click.option("--turn", "-t", metavar="N|last|now", default="last", show_default=True, help="Turn to open at.")
@click.option("--block", metavar="ID", help="Block to put the cursor on.")
@click.option("--query", metavar="WORDS", help="Words to search for in whole texts.")
@stack_option
@click.option("--base", metavar="STACK", help="The stack that `c` compares with; default: recorded.")
def command(
    trace: Named, session: str | None, turn: str, block: str | None, query: str | None, stack: str, base: str | None
) -> int:
    """Open a trace in the terminal interface (the default verb).

    Without a terminal it prints what `ctxview show` prints.
    """
    check_stack(stack)
    if base is not None:
        check_stack(base)
    if not has_terminal():
        from ctxview.cli.show import print_window

        return print_window(trace, session, turn, stack=stack)
    is_number = turn.isdecimal() and len(turn) < 10
    if turn not in ("last", "now") and not (is_number and int(turn) >= 1):
        raise UsageError(f"no turn {turn!r}", "give a number from 1, `last` or `now`")
    number = int(turn) if is_number else NOW if turn == "now" else None
    return open_in_terminal(trace, Focus(session, number, block, stack, base, query or None))


def has_terminal() -> bool:
    """Whether a terminal interface can be drawn on standard output."""
    return sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"


def open_in_terminal(trace: Named, focus: Focus) -> int:
    """Run the terminal interface. It paints before the trace is read; a large one is read by a process of its own,
    which starts before Textual is imported."""
    from ctxview.ingest.process import Loading, is_worth_a_process

    loading = Loading(trace.traces, trace.db, trace.cache) if is_worth_a_process(trace.traces) else None

    def load(progress: ProgressCall) -> TraceLike:
        if loading is not None:
            return loading.wait(progress)
        from ctxview.ingest import open_trace

        return open_trace(trace.traces, progress, db=trace.db, cache=trace.cache)

    from ctxview.tui import run

    try:
        return run(load, trace.title, focus, loading.close if loading is not None else None, trace.traces)
    finally:
        if loading is not None:
            loading.close()
