"""`ctxview sql`: one SELECT over a trace's views."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn

import click

from ctxview.cli.options import SECONDS, Named, print_json, remark
from ctxview.cli.plain import fit, say, table, width
from ctxview.errors import CtxviewError, UsageError
from ctxview.text import safe_text

if TYPE_CHECKING:
    from ctxview.store.query import Answer

_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@click.command("sql")
@click.argument("query", required=False)
@click.argument("traces", metavar="[TRACE...]", nargs=-1)
@click.option("--db", metavar="FILE", help="Ask this database; with TRACE, keep the trace's database there.")
@click.option("--no-cache", is_flag=True, help="Read the trace anew and keep no database of it.")
@click.option(
    "--format",
    "shape",
    type=click.Choice(["table", "json", "csv"]),
    default="table",
    show_default=True,
    help="Print as.",
)
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option("--rows", type=click.IntRange(1), default=1000, show_default=True, help="Print at most so many rows.")
@click.option("--seconds", type=SECONDS, default=30.0, show_default=True, help="Give up after.")
@click.option("--views", is_flag=True, help="Describe every view, table and column.")
def command(
    query: str | None,
    traces: tuple[str, ...],
    db: str | None,
    no_cache: bool,
    shape: str,
    as_json: bool,
    rows: int,
    seconds: float,
    views: bool,
) -> None:
    """Ask one SELECT of a trace's views.

    QUERY sees the trace alone: no files, no network, no other statement.

    \b
    ctxview sql "select turn, recorded, counted from v_budget order by turn" trace.jsonl
    """
    from ctxview.store.query import reference

    if views:
        say(reference())
        return
    if db is not None and not db:
        raise UsageError("--db names no file", "name one that `--db` made, or leave it out")
    if not query or not (traces or db):
        raise UsageError("sql needs a query and a trace", 'write: ctxview sql "select ..." TRACE, or --db FILE')
    answer = _ask(query, traces, db, not no_cache, rows, seconds)
    if as_json or shape == "json":
        print_json({"columns": list(answer.columns), "rows": [list(map(_plain, row)) for row in answer.rows]})
    elif shape == "csv":
        _csv(answer)
    else:
        _table(answer)
    if answer.is_cut:
        remark(f"only the first {rows:,} rows (--rows for more)")


def _ask(query: str, traces: tuple[str, ...], db: str | None, cache: bool, rows: int, seconds: float) -> Answer:
    if traces:
        with Named(traces, Path(db) if db else None, cache).open() as trace:
            return trace.store.ask(query, rows=rows, seconds=seconds, stuck=_end_stuck)
    from ctxview.store import Store

    with Store.open(Path(db or "")) as store:
        return store.ask(query, rows=rows, seconds=seconds, stuck=_end_stuck)


def _end_stuck(reason: BaseException) -> NoReturn:
    """A database cannot be closed under a query, and nothing ends this one but the end of the process."""
    from ctxview.cli.command import complain
    from ctxview.cli.ending import interrupted_code, leave_at_once

    if not isinstance(reason, CtxviewError):
        leave_at_once(interrupted_code())
    complain(reason.cause, reason.fix)
    leave_at_once(reason.exit_code)


def _plain(value: Any) -> Any:
    """A value as JSON knows it: what it has no word for (dates, decimals) becomes text."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return str(value)


def _csv(answer: Answer) -> None:
    """CSV whose cells no spreadsheet takes for a formula: such text gets a quote in front."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([_cell(column) for column in answer.columns])
    for row in answer.rows:
        writer.writerow([_cell(value) for value in row])


def _cell(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return "" if value is None else value
    text = safe_text(str(_plain(value)))
    return f"'{text}" if text.startswith(_FORMULA) else text


def _table(answer: Answer) -> None:
    if not answer.columns:
        return
    cells = max(12, min(80, width() - 4))
    rows = [tuple("" if v is None else fit(str(_plain(v)), cells) for v in row) for row in answer.rows]
    numbers = frozenset(
        i for i in range(len(answer.columns)) if answer.rows and isinstance(answer.rows[0][i], int | float)
    )
    for line in table([tuple(fit(c, cells) for c in answer.columns), *rows], right=numbers):
        say(line)
