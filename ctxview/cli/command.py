"""`ctxview`: finds the verb, loads only that verb's module, and turns errors into exit codes.

`ctxview TRACE...` without a verb opens the trace. Exit codes: 0 ok, 1 a gate failed, 2 usage, 3 unreadable input,
128+n ended by signal n (130: Ctrl-C), 70 a fault of ctxview itself.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
from importlib import import_module
from typing import Any, Final

import click

from ctxview import __version__
from ctxview.cli.ending import Ended, has_ended, interrupted_code, is_interruption
from ctxview.errors import CtxviewError
from ctxview.text import one_line, safe_text

VERBS: Final[dict[str, tuple[str, str]]] = {
    "open": ("ctxview.cli.open_", "Open a trace in the terminal interface (the default verb)."),
    "web": ("ctxview.cli.web", "Open a trace in the dashboard, in the browser."),
    "info": ("ctxview.cli.info", "What a trace's files hold and how its sessions went."),
    "show": ("ctxview.cli.show", "The window at a turn, as text or JSON."),
    "diff": ("ctxview.cli.diff", "What changed between the windows of two turns."),
    "replay": ("ctxview.cli.replay", "What the session would have sent under other policies."),
    "policies": ("ctxview.cli.policies", "The policies that a stack can be made of."),
    "block": ("ctxview.cli.block", "The life of one block: when it stood in the window, and why it left."),
    "ledger": ("ctxview.cli.ledger", "What the agent noted, and whether it reached what it wrote."),
    "sql": ("ctxview.cli.sql", "Ask one SELECT of a trace's views."),
    "sample": ("ctxview.cli.sample", "List, open or copy the bundled sample traces."),
    "formats": ("ctxview.cli.formats", "The transcript formats that are understood."),
}
"""Verb -> (module with a `command`, one line of help). The help stands here so that listing it imports no module."""


class _Verbs(click.Group):
    """Imports a verb's module when it is called, and takes anything else for a trace to open."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(VERBS[cmd_name][0]).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in VERBS:
            args = ["open", *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Verbs"):
            formatter.write_dl([(name, words) for name, (_, words) in VERBS.items()])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Options of `open` may come before the trace: `ctxview --turn 3 trace.jsonl`.
        if args and args[0].startswith("-") and args[0] != "-" and args[0] not in _OWN_OPTIONS:
            args = ["open", *args]
        return super().parse_args(ctx, args)


_OWN_OPTIONS: Final = frozenset({"-h", "--help", "-V", "--version"})


@click.command(
    cls=_Verbs,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="`ctxview VERB --help` tells more of each. Data goes to stdout, messages to stderr.",
)
@click.version_option(__version__, "-V", "--version", prog_name="ctxview")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """See what your agent's context window held, turn by turn.

    `ctxview TRACE...` opens a transcript; a file, a folder, several of them, or `-` for standard input.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        ctx.exit(2)


def run(args: list[str] | None = None) -> int:
    """Run the command line and return its exit code: the one place where errors become words on stderr."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: there is nobody to write to
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - lives as long as the process
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without our glyphs shows `?`, never a traceback
    try:
        result: Any = cli.main(args=args, prog_name="ctxview", standalone_mode=False)
        code = result if isinstance(result, int) else 0
        sys.stdout.flush()
    except CtxviewError as error:
        complain(error.cause, error.fix)
        code = error.exit_code
    except click.exceptions.Exit as left:
        code = left.exit_code
    except click.ClickException as error:
        usage = error.ctx.get_usage() if isinstance(error, click.UsageError) and error.ctx else ""
        complain(error.format_message(), usage)
        code = 2
    except (KeyboardInterrupt, click.Abort, Ended):
        code = interrupted_code()
    except RecursionError:
        complain("the input is nested too deeply", "please report it with the input's shape")
        code = 3
    except BrokenPipeError:
        # The reader of the pipe has seen enough; without this, Python complains once more while closing stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except SystemExit as left:  # click's own answer to a pipe that was closed
        code = 0 if left.code in (None, 1) else 2
    except OSError as error:
        complain(f"the output could not be written: {error.strerror or error}", "make room, or write elsewhere")
        code = 3
    except Exception as error:
        if has_ended() or is_interruption(error):
            return interrupted_code()
        if os.environ.get("CTXVIEW_TRACEBACK"):
            raise
        complain(f"a fault in ctxview itself: {type(error).__name__}: {error}", "CTXVIEW_TRACEBACK=1 shows where")
        code = 70
    return interrupted_code() if has_ended() else code


def complain(cause: str, fix: str) -> None:
    """Say on stderr what went wrong and what helps; nothing once a signal has come, which explains it all."""
    if has_ended():
        return
    with contextlib.suppress(OSError):
        click.echo(f"ctxview: {one_line(cause)}", err=True)
        for line in fix.splitlines():
            click.echo(safe_text(f"  {line}"), err=True)
