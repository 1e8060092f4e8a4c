"""A store of one trace's sessions: rows in, rows and views out.

It prevents two mistakes: a second place that knows SQL, and text of a trace becoming SQL. Every statement here is a
literal and every value a parameter; a test reads this package to make sure.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import duckdb

from ctxview import __version__
from ctxview.annotate import Facts
from ctxview.errors import UsageError
from ctxview.model import BlockRow, CallEnd, CutRow, EditRow, FileRow, IssueRow, SessionRow, SpanRow, Stretch, TurnRow
from ctxview.quiet import no_collection
from ctxview.store import rows as r
from ctxview.store.connect import (
    BLOCK_BYTES,
    BUILD_MEMORY,
    DAMAGE,
    LARGE_BLOCK_BYTES,
    MEGABYTE,
    MEMORY,
    SCHEMA,
    Building,
    UnkeptError,
    connect,
    damaged,
    open_existing,
    script,
)
from ctxview.store.query import MOST_ROWS, MOST_SECONDS, Answer, ask
from ctxview.store.views import runs, views
from ctxview.text import replace_surrogates
from ctxview.window import SessionView

_BATCH: Final = 50_000
"""Rows that wait in memory for one insert."""
_VECTOR: Final = 2_048
"""Rows that DuckDB packs at once: it holds all their texts meanwhile."""
_BATCH_CHARS: Final = 16_000_000
"""The same for text, in characters."""


class Store:
    """One database. Make it with `memory`, `create` or `open`; close it, or use it in a `with` statement.

    Every method may be called from any thread: each call works on a cursor of its own, and calls that write take
    turns. A batch is written whole or not at all.
    """

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        building: Building | None = None,
        memory: int = MEMORY,
        opened: Path | None = None,
    ) -> None:
        self._con = con
        self._opened = opened
        """The finished file that is read."""
        self._building = building
        self._finished = False
        self._guard = threading.Lock()  # making cursors
        self._writing = threading.RLock()
        self._numbers: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._issues = 0
        self._files = 0
        self._held: dict[str, list[r.Values]] | None = None
        """Rows that wait for the end of `together`, by table."""
        self._memory = memory
        self._vector = (0, 0)
        """Number of the newest vector of texts, and its bytes so far."""
        self._bulk: duckdb.DuckDBPyConnection | None = None
        """The cursor of `bulk`."""

    @classmethod
    def memory(cls) -> Store:
        """A store that ends with the process. Its tables carry no comments: they would cost 0.1 s."""
        return cls._fresh(connect(":memory:", memory=MEMORY, locked=False), None, MEMORY)

    @classmethod
    def create(cls, path: Path, replace: bool = False, large: bool = False) -> Store:
        """A new file. It appears at `path` when the finished store is closed; unfinished, it leaves nothing behind.

        `large`: tens of megabytes are to come. Raises UsageError when `path` is taken (unless `replace`) or its folder
        cannot be written.
        """
        building = Building(path, replace)
        try:
            block_bytes = LARGE_BLOCK_BYTES if large else BLOCK_BYTES
            con = connect(str(building.path), memory=BUILD_MEMORY, block_bytes=block_bytes, locked=False)
            return cls._fresh(con, building, BUILD_MEMORY)
        except BaseException as error:
            building.discard()
            if isinstance(error, duckdb.Error):
                raise _unkept(error) from error
            raise

    @classmethod
    def open(cls, path: Path) -> Store:
        """A finished file, to read. Raises UnreadableError when it is none; when it is ours, but unfinished or of
        another schema version, the error is an OutdatedError."""
        return cls(open_existing(path), opened=path)

    @classmethod
    def _fresh(cls, con: duckdb.DuckDBPyConnection, building: Building | None, memory: int) -> Store:
        store = cls(con, building, memory)
        with store._transaction() as cursor:
            cursor.execute(script("schema.sql"))
            cursor.execute(script("views.sql"))
            cursor.execute("INSERT INTO meta VALUES ('schema', ?), ('ctxview', ?)", [SCHEMA, __version__])
        return store

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let the database go; a finished new file takes its place. Raises UnkeptError when it cannot be written."""
        building, self._building = self._building, None
        if building is None or not self._finished:
            self._con.close()
            if building is not None:
                building.discard()
            return
        try:
            self._con.execute("CHECKPOINT")  # closing does it too, but says nothing when there is no room
        except duckdb.Error as error:
            self._con.close()
            building.discard()
            raise _unkept(error) from error
        self._con.close()
        building.publish()

    # ---------------------------------------------------------------- writing

    def add_files(self, rows: Iterable[FileRow]) -> None:
        with self._transaction() as cursor:
            for n, row in enumerate(rows, self._files):
                counts = (row.bytes, row.records, row.window, row.duplicates, row.unreadable)
                self._append(cursor, "files", [(n, row.path, row.format, *counts)])
                self._append(cursor, "records", ((n, "known", kind, count) for kind, count in row.known.items()))
                self._append(cursor, "records", ((n, "unknown", kind, count) for kind, count in row.unknown.items()))
                self._files = n + 1

    def add_issues(self, rows: Iterable[IssueRow]) -> None:
        with self._transaction() as cursor:
            self._issues += self._append(cursor, "issues", r.issue_values(self._issues, rows))

    def add_sessions(self, rows: Iterable[SessionRow]) -> None:
        """Sessions in the order in which `sessions` shall give them. A second row of one session replaces the first."""
        numbered = {self._number(row.session): row for row in rows}
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM sessions WHERE n IN (SELECT unnest(?::INTEGER[]))", [list(numbered)])
            values = (r.session_values(n, self._place(n), row) for n, row in numbered.items())
            self._append(cursor, "sessions", values)

    def add_contents(self, rows: Iterable[tuple[int, str, int, int, bool]]) -> None:
        """(content, text, chars, tokens, estimated), keys rising: each key once."""
        self._write("contents", self._with_room(rows))

    def _with_room(self, rows: Iterable[tuple[int, str, int, int, bool]]) -> Iterator[r.Values]:
        """The rows; where the texts of one vector are long, DuckDB is given room to hold a few such vectors at once."""
        for row in rows:
            number = row[0] // _VECTOR
            at, size = self._vector
            size = (size if at == number else 0) + (len(row[1]) if row[1].isascii() else 4 * len(row[1]))
            self._vector = number, size
            while self._memory * MEGABYTE < 3 * size + BUILD_MEMORY * MEGABYTE // 2:
                self._memory *= 2
                with self._cursor() as cursor:
                    cursor.execute("SET memory_limit = ?", [f"{self._memory}MB"])
            yield row

    def add_blocks(self, session: str, rows: Iterable[BlockRow]) -> None:
        self._write("blocks", r.block_values(self._number(session), rows))

    def add_turns(self, session: str, rows: Iterable[TurnRow]) -> None:
        self._write("turns", r.turn_values(self._number(session), rows))

    def amend_turns(self, session: str, ends: Mapping[int, CallEnd]) -> None:
        """What responses reported after their turns were written."""
        if not ends:
            return
        self._release()
        with self._transaction() as cursor:
            for turn, end in ends.items():
                key = self._number(session), turn
                if u := end.usage:
                    parts = (u.input, u.cache_read, u.cache_write, u.output, u.reasoning, u.partial)
                    cursor.execute(r.AMEND_USAGE, [*parts, *key])
                cursor.execute(r.AMEND_END, [end.stop_reason, end.answered, end.error, *key])

    def add_spans(self, session: str, rows: Iterable[SpanRow]) -> None:
        """Many at once, about in the order in which they closed: that is what keeps a window query short."""
        self._write("spans", r.span_values(self._number(session), rows))

    def add_edits(self, session: str, rows: Iterable[EditRow]) -> None:
        self._write("edits", r.edit_values(self._number(session), rows))

    def add_cuts(self, session: str, rows: Iterable[CutRow]) -> None:
        self._write("cuts", r.cut_values(self._number(session), rows))

    def add_facts(self, session: str, facts: Facts) -> None:
        """Pins, observations and changes, in order of arrival."""
        number = self._number(session)
        self._write("pins", r.pin_values(number, facts.pins))
        self._write("observations", r.observation_values(number, facts.observations))
        self._write("changes", r.change_values(number, facts.changes))

    def add_audit(self, session: str, rows: Iterable[Stretch]) -> None:
        self._write("audit", r.stretch_values(self._number(session), rows))

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Write everything added inside as one batch, which others see at the end: quicker than a transaction each,
        and every row is packed once.
        """
        with self._writing, self._cursor() as cursor:
            cursor.begin()
            self._bulk = cursor
            try:
                yield
                cursor.commit()
            except BaseException as error:
                self._finished = False
                with suppress(duckdb.Error):
                    cursor.rollback()
                if isinstance(error, duckdb.Error):
                    raise _unkept(error) from error
                raise
            finally:
                self._bulk = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Hold back the rows added inside and write them at the end: many small sessions cost one insert per table.

        Contents are written at once. Nothing held is written when the inside raises.
        """
        with self._writing:
            self._held = {}
            try:
                yield
                held, self._held = self._held, None
                for table, rows in held.items():
                    self._write(table, rows)
            finally:
                self._held = None

    def _release(self) -> None:
        """Write the rows that are held back now."""
        if self._held:
            held, self._held = self._held, None
            try:
                for table, rows in held.items():
                    self._write(table, rows)
            finally:
                self._held = {}

    def set_meta(self, key: str, value: str) -> None:
        """Keep a word about the whole store."""
        with self._transaction() as cursor:
            cursor.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", [key, value])

    def finish(self) -> None:
        """Derive what the SQL views need, and mark the store complete. Call it again after adding more."""
        with self._transaction() as cursor:
            cursor.execute("DELETE FROM moments")
            cursor.execute(
                """
                INSERT INTO moments
                SELECT session_n, session, unnest(range(1, turns + 2))
                FROM (
                    SELECT s.n AS session_n, s.session, coalesce(max(t.turn), 0) AS turns
                    FROM sessions s LEFT JOIN turns t ON t.session_n = s.n
                    GROUP BY s.n, s.session
                )
                ORDER BY ALL
                """
            )
            cursor.execute("INSERT OR REPLACE INTO meta VALUES ('complete', 'yes')")
            if self._building is not None and not self._finished:
                cursor.execute(script("comments.sql"))
            if not self._finished:
                cursor.execute("SET lock_configuration = true")
        self._finished = True

    # ---------------------------------------------------------------- reading

    def meta(self, key: str) -> str | None:
        """A word kept by `set_meta`; None when there is none."""
        found = self._all("SELECT value FROM meta WHERE key = ?", key)
        return str(found[0][0]) if found else None

    def sessions(self) -> tuple[SessionRow, ...]:
        return tuple(r.sessions(self._all(r.SESSIONS)))

    def files(self) -> tuple[FileRow, ...]:
        known: dict[int, dict[str, int]] = {}
        unknown: dict[int, dict[str, int]] = {}
        for n, disposition, kind, count in self._all(r.RECORDS):
            (known if disposition == "known" else unknown).setdefault(n, {})[kind] = count
        return tuple(
            FileRow(path, kind, size, records, window, duplicates, known.get(n, {}), unknown.get(n, {}), unreadable)
            for n, path, kind, size, records, window, duplicates, unreadable in self._all(r.FILES)
        )

    def issues(self) -> tuple[IssueRow, ...]:
        return tuple(r.issues(self._all(r.ISSUES)))

    def text(self, content: int) -> str:
        """The text behind a content key. Raises UsageError when there is none."""
        found = self._all("SELECT text FROM contents WHERE content = ?", content)
        if not found:
            raise UsageError(f"no content {content}", "take the key from a block or a span of this store")
        return str(found[0][0])

    def texts(self, contents: Collection[int]) -> dict[int, str]:
        """The texts behind several keys; unknown keys are left out."""
        keys = list(contents)
        return dict(
            self._all("SELECT content, text FROM contents WHERE content IN (SELECT unnest(?::INTEGER[]))", keys)
        )

    def standing_at(self, session: str, turn: int) -> tuple[str, int, int, list[int]]:
        """Of the window of a turn: where the log has its call (file, line), how many blocks stood in it, and the
        numbers of the tool results that stood in the window before, too."""
        number = self._number(session)
        with self._transaction() as cursor:
            cursor.execute("SELECT file, line FROM turns WHERE session_n = ? AND turn = ?", [number, turn])
            [(file, line)] = cursor.fetchall()
            found = cursor.execute(r.STANDING, [number, turn]).fetchall()
        return file, line, len(found), [block for block, is_old_result in found if is_old_result]

    def ask(
        self,
        query: str,
        *,
        rows: int = MOST_ROWS,
        seconds: float = MOST_SECONDS,
        stuck: Callable[[BaseException], None] = lambda reason: None,
    ) -> Answer:
        """A person's own SELECT. Raises UsageError; see `ctxview.store.query`."""
        with self._cursor() as cursor:
            return ask(cursor, query, rows=rows, seconds=seconds, stuck=stuck)

    def view(self, session_id: str) -> SessionView:
        """A session's rows with its recorded spans. Raises UsageError when the store has no such session."""
        with no_collection(), self._cursor() as cursor:
            cursor.begin()  # one state of the database, whatever is being written meanwhile
            found = cursor.execute(r.NUMBER, [replace_surrogates(session_id)[0]]).fetchone()
            if found is None:
                raise UsageError(f"no session {session_id!r}", "see `ctxview info` for the sessions of a trace")
            [view] = views(cursor, found[0], found[0], self.text, self.texts)
            return view

    def views(self) -> Iterator[SessionView]:
        """The view of every session, in no order; many small ones are read together."""
        for first, last in runs(self._all(r.SIZES)):
            with no_collection(), self._cursor() as cursor:
                cursor.begin()
                together = views(cursor, first, last, self.text, self.texts)
            yield from together

    # ---------------------------------------------------------------- details

    def _number(self, session: str) -> int:
        """The number of a session, by first mention."""
        with self._writing:
            return self._numbers.setdefault(replace_surrogates(session)[0], len(self._numbers))

    def _place(self, number: int) -> int:
        """A session's place in `sessions`, by first row: its blocks may have come long before."""
        return self._places.setdefault(number, len(self._places))

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._guard:
            cursor = self._con.cursor()
        try:
            yield cursor
        except DAMAGE as error:
            if self._opened is None:
                raise
            raise damaged(self._opened, error) from error
        finally:
            cursor.close()

    @contextmanager
    def _transaction(self) -> Iterator[duckdb.DuckDBPyConnection]:
        with self._writing:
            if self._bulk is not None:
                yield self._bulk
                return
        with self._writing, self._cursor() as cursor:
            cursor.begin()
            try:
                yield cursor
            except BaseException:
                cursor.rollback()
                raise
            try:
                cursor.commit()
            except duckdb.Error as error:
                raise _unkept(error) from error

    def _write(self, table: str, rows: Iterable[r.Values]) -> None:
        with self._writing:
            if self._held is not None and table != "contents":
                held = self._held.setdefault(table, [])
                held.extend(rows)
                if len(held) < _BATCH:
                    return
                rows = self._held.pop(table)
            with self._transaction() as cursor:
                self._append(cursor, table, rows)

    def _append(self, cursor: duckdb.DuckDBPyConnection, table: str, rows: Iterable[r.Values]) -> int:
        """Insert rows batch by batch, and return how many."""
        count = 0
        appender = cursor.appender(table)
        for batch in _batches(rows):
            try:
                appender.append_rows(batch)
            except duckdb.Error:  # a value that DuckDB cannot hold: nothing of the batch is in the table yet
                appender.clear()
                appender.append_rows(map(r.storable, batch))
            appender.flush()
            count += len(batch)
        return count

    def _all(self, query: str, *values: Any) -> list[r.Values]:
        with self._cursor() as cursor:
            return cursor.execute(query, values).fetchall()


def _unkept(error: duckdb.Error) -> UnkeptError:
    reason = str(error).partition("\n")[0]
    return UnkeptError(f"the trace's database cannot be written: {reason}", "make room, or leave it out: `--no-cache`")


def _batches(rows: Iterable[r.Values]) -> Iterator[list[r.Values]]:
    """Lists of rows, bounded by their number and, for texts, by their length."""
    batch: list[r.Values] = []
    chars = 0
    for row in rows:
        batch.append(row)
        second = row[1]
        chars += len(second) if isinstance(second, str) else 0
        if len(batch) >= _BATCH or chars >= _BATCH_CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch
