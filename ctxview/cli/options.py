"""Options that several verbs share, and the opening of a trace with a progress bar on stderr."""

from __future__ import annotations

import json
import math
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click
import orjson

from ctxview.cli.ending import is_interrupted
from ctxview.errors import UsageError
from ctxview.text import safe_text

if TYPE_CHECKING:
    from ctxview.ingest import Trace
    from ctxview.window import SessionView

F = TypeVar("F", bound=Callable[..., Any])

RECORDED: Final = "recorded"


class _Finite(click.FloatRange):
    """A range that has no place for `nan` and `inf`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return number


FACTOR: Final = _Finite(0, 1000)
SECONDS: Final = _Finite(0.1, 86_400)
_BAR_AFTER: Final = 0.7
"""Seconds of reading before a bar appears: short reads need none."""
_BAR_EVERY: Final = 0.1
_BAR_FROM_BYTES: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Named:
    """The trace a person named, and where its database is kept."""

    traces: tuple[str, ...]
    db: Path | None = None
    cache: bool = True

    @property
    def title(self) -> str:
        return self.traces[0] if len(self.traces) == 1 else f"{self.traces[0]} +{len(self.traces) - 1}"

    def open(self) -> Trace:
        """Read the trace, with a bar on stderr when it takes a while and a person is watching."""
        from ctxview.ingest import open_trace

        bar = _Bar() if sys.stderr.isatty() else None
        try:
            trace = open_trace(self.traces, bar, db=self.db, cache=self.cache, say=remark)
        finally:
            if bar is not None:
                bar.clear()
        if is_interrupted():
            trace.close()
            raise KeyboardInterrupt
        return trace


def trace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """TRACE..., `--db FILE` and `--no-cache`, given to the command as one `trace: Named`."""

    @click.argument("traces", metavar="TRACE...", nargs=-1, required=True)
    @click.option("--db", metavar="FILE", help="Keep the trace's database in FILE instead of the cache.")
    @click.option("--no-cache", is_flag=True, help="Read the trace anew and keep no database of it.")
    @wraps(command)
    def named(*args: Any, traces: tuple[str, ...], db: str | None, no_cache: bool, **kwargs: Any) -> Any:
        if db == "":
            raise UsageError("--db names no file", "name a file to keep the database in, or leave it out")
        if db is not None and no_cache:
            raise UsageError("--db keeps a database and --no-cache keeps none", "give one of the two")
        return command(*args, trace=Named(traces, Path(db) if db else None, not no_cache), **kwargs)

    return named


def session_option(command: F) -> F:
    words = "Session id, its start, or the start of what stands behind its last /; default: the main one."
    return click.option("--session", "-s", metavar="ID", help=words)(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def stack_option(command: F) -> F:
    return click.option("--stack", metavar="STACK", default="recorded", show_default=True, help="The window's stack.")(
        command
    )


def check_stack(stack: str) -> None:
    """Raises UsageError for a text that means no stack."""
    if stack == RECORDED:
        return
    from ctxview.policies import parse_stack

    parse_stack(stack)


def under_stack(view: SessionView, stack: str) -> SessionView:
    """The session's windows under a stack. What a policy could not keep to is said on stderr."""
    if stack == RECORDED:
        return view
    from ctxview.policies import parse_stack
    from ctxview.replay import replay

    replayed = replay(view, parse_stack(stack))
    for failure in replayed.failures:
        remark(failure.message)
    return replayed.view


def remark(words: str) -> None:
    """A word to the person that is neither data nor an error."""
    click.echo(safe_text(f"ctxview: {words}"), err=True)


def print_json(value: Any) -> None:
    """Print as ASCII-only JSON: a trace's control characters arrive escaped, whatever the terminal makes of them.

    A number that JSON has no word for (not a number, infinite) is null.
    """
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # half of a surrogate pair, or an integer of more than 64 bits
        text = json.dumps(_finite(value), indent=2)
    click.echo(_BEYOND_ASCII.sub(_escaped, text))


_BEYOND_ASCII: Final = re.compile("[^\x00-\x7f]")


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match.group())[1:-1]


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class _Bar:
    """A determinate bar by bytes, drawn over itself."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._drawn = 0.0

    def __call__(self, file: str, done: int, total: int) -> None:
        now = time.monotonic()
        if total < _BAR_FROM_BYTES or now - self._start < _BAR_AFTER or now - self._drawn < _BAR_EVERY:
            return
        self._drawn = now
        full = round(30 * min(1.0, done / total))
        bar = "█" * full + "░" * (30 - full)
        sys.stderr.write(f"\r{bar} {done / 1e6:,.0f} of {total / 1e6:,.0f} MB")
        sys.stderr.flush()

    def clear(self) -> None:
        if self._drawn:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
