"""How a database is opened: closed to the outside, bounded, and never a stranger's.

It prevents a query from reading files, loading extensions or eating the machine, and a transcript's text from lying
readable to others. Settings are the same for every connection, because DuckDB refuses a second connection to a file
in one process when they differ. Source: security.md rows 20 to 24.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import weakref
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Final

import duckdb

from ctxview.errors import UnreadableError, UsageError

SCHEMA: Final = "6"
"""Version of tables and views; it grows with every change that a query could notice."""
MEGABYTE: Final = 1_000_000
MEMORY: Final = 1_000
"""Megabytes that DuckDB's buffers may take; what does not fit is spilled to a private folder."""
BUILD_MEMORY: Final = 128
"""The same while a file is made: more only keeps what is written and not read again."""
THREADS: Final = 2
BLOCK_BYTES: Final = 16_384
"""Size of a file's blocks, the least there is: with DuckDB's own 256 KiB, most of a small trace's file is padding."""
LARGE_BLOCK_BYTES: Final = 262_144
"""The same for a large trace, whose numbers DuckDB packs closer then."""


DAMAGE: Final = (duckdb.IOException, duckdb.FatalException, duckdb.InternalException, duckdb.SerializationException)
"""Errors that are the database's own, not of what was asked of it."""


class OutdatedError(UnreadableError):
    """A ctxview database that this version cannot use: unfinished, or of another schema. Make it anew."""


class UnkeptError(UsageError):
    """A database could not be written where it was to be: no room, mostly. The trace can still be read without one."""


class _Spill:
    """A folder only this user can enter, removed when the process ends.

    Its removal is arranged before it is made: a signal may end the program in between.
    """

    def __init__(self) -> None:
        self.name = os.path.join(tempfile.gettempdir(), f"ctxview-{secrets.token_hex(8)}")
        self.remove = weakref.finalize(self, shutil.rmtree, self.name, ignore_errors=True)
        os.mkdir(self.name, 0o700)


@cache
def _spill() -> _Spill:
    return _Spill()


def remove_spill() -> None:
    """Remove that folder at once: for a process that ends without its usual last steps."""
    _spill().remove()


def connect(
    database: str,
    read_only: bool = False,
    *,
    memory: int = MEMORY,
    block_bytes: int = BLOCK_BYTES,
    locked: bool = True,
) -> duckdb.DuckDBPyConnection:
    """A connection that reaches its own database and nothing else. Raises duckdb.Error.

    `locked` False only where no one's SQL but ours is run, until it is locked.
    """
    settings: dict[str, Any] = {
        "allocator_background_threads": True,  # gives back what a long read left behind
        "allow_community_extensions": False,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "default_block_size": block_bytes,
        "enable_external_access": False,
        "lock_configuration": locked,
        "memory_limit": f"{memory}MB",
        "python_enable_replacements": False,
        "temp_directory": _spill().name,
        "threads": THREADS,
    }
    return duckdb.connect(database, read_only=read_only, config=settings)


def script(name: str) -> str:
    """One of the SQL files of this package."""
    return resources.files("ctxview.store").joinpath(name).read_text(encoding="utf-8")


def open_existing(path: Path) -> duckdb.DuckDBPyConnection:
    """A read-only connection to a finished database of this version. Raises UnreadableError or OutdatedError."""
    again = "load the trace again: the store is made from it"
    if not path.is_file():
        raise UnreadableError(f"{path} is no file", again)
    with path.open("rb") as file:
        if file.read(12)[8:] != b"DUCK":
            fix = "name one that `--db` made, or load the trace again"
            raise UnreadableError(f"{path} is no ctxview database", fix)
    try:
        con = connect(os.fspath(path), read_only=True)
    except duckdb.Error as error:
        raise UnreadableError(f"{path} cannot be opened as a ctxview database: {_first_line(error)}", again) from error
    try:
        meta = dict(con.execute("SELECT key, value FROM main.meta").fetchall())
    except duckdb.Error as error:
        con.close()
        raise UnreadableError(f"{path} is a database of another program", again) from error
    if meta.get("schema") != SCHEMA:
        con.close()
        raise OutdatedError(f"{path} has schema {meta.get('schema')!r}, this ctxview reads {SCHEMA!r}", again)
    if meta.get("complete") != "yes":
        con.close()
        raise OutdatedError(f"{path} was never finished", again)
    return con


def damaged(path: Path, error: duckdb.Error) -> UnreadableError:
    """What to raise when a database that was opened cannot be read any more: it was cut short, or overwritten."""
    cause = f"the database {path} cannot be read any more: {_first_line(error)}"
    return UnreadableError(cause, "remove it and open the trace again: the database is made from it")


def _first_line(error: duckdb.Error) -> str:
    return str(error).partition("\n")[0]


class Building:
    """A database under construction in a private folder beside its place, which it takes at once when published.

    Readers of the place see the old file or the whole new one; DuckDB's write lock never stands in their way.
    """

    def __init__(self, place: Path, replace: bool) -> None:
        if place.exists() and not replace:
            raise UsageError(f"{place} exists", "name another file")
        self._place = place
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=".ctxview-", dir=place.parent))
        except OSError as error:
            raise UsageError(
                f"{place} cannot be written: {error.strerror}", "name a folder you can write to"
            ) from error
        self.path = self._folder / "store.duckdb"

    def publish(self) -> None:
        """Move the closed database to its place, readable by its owner only."""
        try:
            self.path.chmod(0o600)
            os.replace(self.path, self._place)
        except OSError as error:
            raise UsageError(f"{self._place} cannot be written: {error.strerror}", "name another file") from error
        finally:
            self.discard()

    def discard(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)
