"""One SELECT of a person, asked of a store: bounded in time, rows and memory, and shut off from everything else.

It prevents a query from writing, from reaching files or the network, and from running for ever. The connection's own
settings (see `connect`) refuse every function that leaves the database; here only the kind of statement is checked.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

import duckdb

from ctxview.errors import UsageError
from ctxview.store.connect import connect, script
from ctxview.text import replace_surrogates

MOST_ROWS: Final = 10_000
MOST_SECONDS: Final = 30.0
_HELP: Final = "`ctxview sql --views` describes the views and tables"


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """At most the number of rows asked for."""
    is_cut: bool
    """Whether there were more rows."""


def ask(
    cursor: duckdb.DuckDBPyConnection, query: str, *, rows: int = MOST_ROWS, seconds: float = MOST_SECONDS
) -> Answer:
    """Run one SELECT. Raises UsageError for anything else, for an error in it, and when time is up."""
    try:
        statements = cursor.extract_statements(replace_surrogates(query)[0])
    except duckdb.Error as error:
        raise _refused(error) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("only one SELECT can be asked", _HELP)
    timer = threading.Timer(seconds, cursor.interrupt)
    timer.start()
    try:
        cursor.execute(statements[0])
        found = cursor.fetchmany(rows + 1)
    except duckdb.InterruptException:
        raise UsageError(f"the query took more than {seconds:g} seconds", "narrow it, or raise --seconds") from None
    except duckdb.Error as error:
        raise _refused(error) from None
    finally:
        timer.cancel()
    columns = tuple(str(column[0]) for column in cursor.description or ())
    return Answer(columns, tuple(found[:rows]), len(found) > rows)


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
