"""Reading a trace once: a large one is kept as a database, and opening it again reads that.

The database stands in a folder of this user's alone, is built beside its place and moved there when it is whole, and
is only ever opened read-only; so a reader never meets half of one, two processes may build at once, and one that is
killed leaves nothing that counts. It is made anew when a file, ctxview's version or the store's schema changed.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ctxview import __version__
from ctxview.errors import UnreadableError, UsageError
from ctxview.ingest.inputs import Inputs, ProgressCall, config_of, find_inputs, sidecar_of
from ctxview.ingest.trace import Trace
from ctxview.store import OutdatedError, Store, UnkeptError

CACHE_FROM_BYTES: Final = 1_000_000
"""Smaller traces are read faster than a database is opened."""
LARGE_BYTES: Final = 20_000_000
"""Traces from here on get a database laid out for size."""
MOST_BYTES: Final = 4_000_000_000
"""Size the cache is kept to; the longest unused go first."""
_STALE_SECONDS: Final = 24 * 3600
"""Age at which the leavings of a killed build are swept away."""

Say = Callable[[str], None]


def cache_folder() -> Path:
    """`$CTXVIEW_CACHE`, else `ctxview` in the user's cache folder."""
    named = os.environ.get("CTXVIEW_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ctxview"


def open_trace(
    paths: Sequence[str],
    progress: ProgressCall | None = None,
    *,
    db: Path | None = None,
    cache: bool = True,
    say: Say = lambda words: None,
) -> Trace:
    """Read the files, folders or `-` named by `paths` as one trace, or open what was read before.

    `db`: keep the database there instead of in the cache. `cache` False: keep none. `say` hears, in words, when an
    older database is made anew. Raises UnreadableError when nothing could be read as a transcript, UsageError when
    `db` names a file that is not this trace's database.
    """
    inputs = find_inputs(paths)
    keep = db is not None or (cache and inputs.is_lasting and inputs.size >= CACHE_FROM_BYTES)
    place = (db or cache_place(inputs, say)) if keep else None
    if place is None:
        return _read(inputs, Store.memory(), progress)
    try:
        return open_at(place, inputs, progress, say, is_named=db is not None)
    except UnkeptError as error:
        if db is not None:
            raise
        say(f"no cache: {error.cause}")
        return _read(inputs, Store.memory(), progress)


def open_at(place: Path, inputs: Inputs, progress: ProgressCall | None, say: Say, *, is_named: bool) -> Trace:
    """The trace from its database at `place`, which is made if it is missing or out of date.

    `is_named`: the user chose the place, so nothing that is not this trace's database is overwritten there. Raises
    UnkeptError when there is no room for it.
    """
    return _open_known(place, inputs, say, is_named=is_named) or _build(place, inputs, progress)


def cache_place(inputs: Inputs, say: Say) -> Path | None:
    """Where the trace's database belongs; None when the cache folder cannot be used."""
    folder = cache_folder()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(13, "permission denied")
    except OSError as error:
        say(f"no cache: {folder} cannot be used ({error.strerror}); the trace is read anew each time")
        return None
    named = json.dumps([stamp[0] for stamp in inputs.stamp()]).encode()
    return folder / f"{blake2b(named, digest_size=16).hexdigest()}.duckdb"


def _open_known(place: Path, inputs: Inputs, say: Say, *, is_named: bool) -> Trace | None:
    """The database at `place`, if it is of these files as they are now and of this version."""
    if not place.exists():
        return None
    try:
        known = Store.open(place)
        try:
            return _as_it_is(known, place, inputs, say, is_named=is_named)
        except BaseException:
            known.close()
            raise
    except OutdatedError as error:
        say(f"reading the trace anew: {error.cause}")
        return None
    except UnreadableError as error:
        if is_named:
            raise UsageError(error.cause, "name another file for --db") from None
        say(f"reading the trace anew: {error.cause}")
        return None


def _as_it_is(store: Store, place: Path, inputs: Inputs, say: Say, *, is_named: bool) -> Trace | None:
    """The trace of an opened database, unless that is out of date. Raises UnreadableError when it is damaged."""
    meta = json.loads(store.meta("inputs") or "null") or {}
    if inputs.is_lasting and meta == _identity(inputs):  # what came through a pipe is another thing each time
        os.utime(place)  # the least recently used are pruned first
        return Trace(inputs.name, store, sidecar_of(inputs))
    store.close()
    if is_named and [s[0] for s in meta.get("stamp", [])] != [s[0] for s in inputs.stamp()]:
        raise UsageError(f"{place} holds another trace", "name another file for --db, or leave TRACE out to query it")
    if meta.get("version") != __version__:
        say(f"reading the trace anew: it was kept by ctxview {meta.get('version')}")
    return None


def _identity(inputs: Inputs) -> dict[str, object]:
    """What a database was made from: it serves for nothing else."""
    return {"version": __version__, "stamp": inputs.stamp(), "settings": _settings_stamp(inputs)}


def _settings_stamp(inputs: Inputs) -> str:
    """Changes when the project's settings do: facts are made by them."""
    path = config_of(inputs)
    try:
        return blake2b(path.read_bytes(), digest_size=12).hexdigest() if path is not None else ""
    except OSError:
        return "unreadable"


def _read(inputs: Inputs, store: Store, progress: ProgressCall | None) -> Trace:
    # Here, because opening what was read before needs no loader and no rule, and importing them takes longer than that.
    from ctxview.ingest.load import read_inputs

    return read_inputs(inputs, store, progress)


def _build(place: Path, inputs: Inputs, progress: ProgressCall | None) -> Trace:
    identity = _identity(inputs)  # before reading: a file that grows meanwhile is read again next time
    store = Store.create(place, replace=True, large=inputs.size >= LARGE_BYTES)
    try:
        store.set_meta("inputs", json.dumps(identity))
        _read(inputs, store, progress)
    finally:
        store.close()
    _prune(place)
    return Trace(inputs.name, Store.open(place), sidecar_of(inputs))


def _prune(newest: Path) -> None:
    """Sweep what killed builds left, and the longest unused databases beyond the cache's size."""
    folder = newest.parent
    if folder != cache_folder():
        return
    now = time.time()
    for left in folder.glob(".ctxview-*"):
        try:
            if now - left.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(left, ignore_errors=True)
        except OSError:
            continue
    kept = sorted(folder.glob("*.duckdb"), key=_last_used, reverse=True)
    total = 0
    for path in kept:
        total += path.stat().st_size if path.exists() else 0
        if total > MOST_BYTES and path != newest:
            path.unlink(missing_ok=True)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
