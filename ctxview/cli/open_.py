"""`ctxview TRACE...`: the terminal interface; without a terminal, the window as text."""

from __future__ import annotations

import os
import sys

import click

from ctxview.cli.options import check_stack, session_option, stack_option, trace_argument
from ctxview.errors import UsageError
from ctxview.focus import Focus


@click.command("open")
@trace_argument
@session_option
@click.option("--turn", "-t", metavar="N|last|now", default="last", show_default=True, help="Turn to open at.")
@click.option("--block", metavar="ID", help="Block to put the cursor on.")
@stack_option
@click.pass_context
def command(
    ctx: click.Context, traces: tuple[str, ...], session: str | None, turn: str, block: str | None, stack: str
) -> int:
    """Open a trace in the terminal interface (the default verb).

    Without a terminal it prints what `ctxview show` prints.
    """
    check_stack(stack)
    if not (sys.stdout.isatty() and os.environ.get("TERM", "") != "dumb"):
        from ctxview.cli.show import print_window

        return print_window(traces, session, turn)
    return open_in_terminal(traces, session, turn, block)


def open_in_terminal(traces: tuple[str, ...], session: str | None, turn: str, block: str | None) -> int:
    """Run the terminal interface; it paints before the trace is read."""
    from ctxview.tui import ProgressCall, TraceLike, run

    def load(progress: ProgressCall) -> TraceLike:
        from ctxview.ingest import open_trace

        return open_trace(traces, progress)

    if turn not in ("last", "now") and not (turn.isdigit() and int(turn) >= 1):
        raise UsageError(f"no turn {turn!r}", "give a number from 1, `last` or `now`")
    title = traces[0] if len(traces) == 1 else f"{traces[0]} +{len(traces) - 1}"
    number = int(turn) if turn.isdigit() else None
    return run(load, title, Focus(session=session, turn=number, block=block))
