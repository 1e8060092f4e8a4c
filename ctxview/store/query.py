"""One SELECT of a person, asked of a store: bounded in time, rows and memory, and shut off from everything else.

It prevents a query from writing, from reaching files or the network, and from running for ever. The connection's own
settings (see `connect`) refuse every function that leaves the database; here only the kind of statement is checked.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from ctxview.errors import UsageError
from ctxview.store.connect import DAMAGE, connect, script
from ctxview.text import replace_surrogates

MOST_ROWS: Final = 10_000
MOST_SECONDS: Final = 30.0
_GRACE: Final = 1.0
"""Seconds that a query gets to stop in."""
_HELP: Final = "`ctxview sql --views` describes the views and tables"


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """At most the number of rows asked for."""
    is_cut: bool
    """Whether there were more rows."""


def ask(
    cursor: duckdb.DuckDBPyConnection,
    query: str,
    *,
    rows: int = MOST_ROWS,
    seconds: float = MOST_SECONDS,
    stuck: Callable[[BaseException], None] = lambda reason: None,
) -> Answer:
    """Run one SELECT. Raises UsageError for anything else, for an error in it, and when time is up.

    A single function call over a huge value does not hear that it shall stop. Then `stuck` is called with what is to be
    raised; unless it ends the process, the call is waited for.
    """
    try:
        statements = cursor.extract_statements(replace_surrogates(query)[0])
    except duckdb.Error as error:
        raise _refused(error) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one SELECT can be asked", _HELP)
    running = _Running(cursor, statements[0], rows + 1)
    running.start()
    try:
        running.join(seconds)  # here and not in DuckDB, so that signals are heard
        if running.is_alive():
            raise UsageError(f"the query took more than {seconds:g} seconds", "narrow it, or raise --seconds")
    except BaseException as reason:
        cursor.interrupt()
        running.join(_GRACE)
        if running.is_alive():
            stuck(reason)
            running.join()
        raise
    if isinstance(running.error, duckdb.Error) and not isinstance(running.error, DAMAGE):
        raise _refused(running.error) from None
    if running.error is not None:
        raise running.error
    columns = tuple(str(column[0]) for column in cursor.description or ())
    return Answer(columns, tuple(running.found[:rows]), len(running.found) > rows)


class _Running(threading.Thread):
    """A statement at work."""

    def __init__(self, cursor: duckdb.DuckDBPyConnection, statement: duckdb.Statement, rows: int) -> None:
        super().__init__(daemon=True)  # one that does not stop must not keep the process from ending
        self._cursor, self._statement, self._rows = cursor, statement, rows
        self.found: list[tuple[Any, ...]] = []
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._cursor.execute(self._statement)
            self.found = self._cursor.fetchmany(self._rows)
        except Exception as error:  # noqa: BLE001 - raised where the answer is awaited
            self.error = error


def _refused(error: duckdb.Error) -> UsageError:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return UsageError(f"the query failed: {' '.join(lines[:2])}", _HELP)


def reference() -> str:
    """What every view and table holds, as Markdown, from the comments in the schema itself."""
    con = connect(":memory:")
    try:
        con.execute(script("schema.sql"))
        con.execute(script("views.sql"))
        con.execute(script("comments.sql"))
        views = con.execute(
            "SELECT view_name, comment FROM duckdb_views() WHERE NOT internal ORDER BY view_name"
        ).fetchall()
        tables = con.execute("SELECT table_name, comment FROM duckdb_tables() ORDER BY table_name").fetchall()
        columns = con.execute(
            "SELECT table_name, column_name, data_type, comment FROM duckdb_columns() WHERE NOT internal"
            " ORDER BY table_name, column_index"
        ).fetchall()
    finally:
        con.close()
    lines = ["# Views and tables for `ctxview sql`", "", "Views are the contract; tables are what they are made of."]
    for title, relations in (("Views", views), ("Tables", tables)):
        lines += ["", f"## {title}"]
        for name, comment in relations:
            lines += ["", f"### {name}", "", str(comment or ""), "", "| column | type | meaning |", "|---|---|---|"]
            lines += [
                f"| {column} | {kind} | {str(words or '').replace('|', chr(92) + '|')} |"
                for relation, column, kind, words in columns
                if relation == name
            ]
    return "\n".join(lines) + "\n"
