"""Reading a trace in another process, so that an interface can paint and answer keys meanwhile.

The process builds the trace's database (in the cache, at `db`, or in a private folder) and says how far it is in JSON
lines on its standard output; this side then opens the database read-only. The process's standard input is a pipe that
nothing is ever written to: when this side is gone, however it ended, the pipe ends, and so does the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ctxview.errors import CtxviewError, UnreadableError, UsageError

if TYPE_CHECKING:
    from ctxview.ingest.trace import Trace

PROCESS_FROM_BYTES: Final = 1_000_000
"""Smaller traces are read sooner than a process is started."""

_GRACE: Final = 5.0
"""Seconds to clean up in."""


def is_worth_a_process(paths: Sequence[str]) -> bool:
    """Whether reading `paths` takes long enough; False for what only this process can read (standard input, pipes)."""
    total = 0
    for path in paths:
        if not (os.path.isfile(path) or os.path.isdir(path)):
            return False
        total += PROCESS_FROM_BYTES if os.path.isdir(path) else os.path.getsize(path)
    return total >= PROCESS_FROM_BYTES


class Loading:
    """A trace being read by a process. It starts at once; `wait` for the trace, or `close` to give up."""

    def __init__(self, paths: Sequence[str], db: Path | None = None, cache: bool = True) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="ctxview-"))
        spare = self._folder / "trace.duckdb"
        order = {"paths": list(paths), "db": str(db) if db else None, "cache": cache, "spare": str(spare)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ctxview.ingest.process", json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is the interface's to handle
        )

    def wait(self, progress: Callable[[str, int, int], None], say: Callable[[str], None] = lambda words: None) -> Trace:
        """The trace, once it is read. Raises what reading it raised."""
        import ctxview.store  # noqa: F401 - while the process reads
        assert self._process.stdout is not None
        for line in self._process.stdout:
            told: dict[str, Any] = json.loads(line)
            if "done" in told:
                progress(told["file"], told["done"], told["total"])
            elif "say" in told:
                say(told["say"])
            elif "error" in told:
                kind = UsageError if told["code"] == 2 else UnreadableError
                raise kind(told["error"], told["fix"])
            elif "place" in told:
                return self._open(told)
        raise UnreadableError("the reading process ended early", "try again with `ctxview show`, which reads in place")

    def _open(self, told: dict[str, Any]) -> Trace:
        from ctxview.ingest.trace import Trace
        from ctxview.store import Store

        try:
            sidecar = Path(told["sidecar"]) if told["sidecar"] else None
            return Trace(told["name"], Store.open(Path(told["place"])), sidecar)
        finally:
            self.close()  # an open database stays readable after its file is gone

    def close(self) -> None:
        """End the process, if it still runs, and remove what it made for this run alone."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGTERM)
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _serve(order: dict[str, Any]) -> None:
    from ctxview.ingest.cache import cache_place, open_at
    from ctxview.ingest.inputs import find_inputs, sidecar_of
    from ctxview.store import UnkeptError

    def tell(**words: object) -> None:
        sys.stdout.write(json.dumps(words) + "\n")
        sys.stdout.flush()

    def say(words: str) -> None:
        tell(say=words)

    def progress(file: str, done: int, total: int) -> None:
        tell(file=file, done=done, total=total)

    try:
        inputs = find_inputs(order["paths"])
        named = Path(order["db"]) if order["db"] else None
        place = named or (cache_place(inputs, say) if order["cache"] else None) or Path(order["spare"])
        try:
            open_at(place, inputs, progress, say, is_named=named is not None).close()
        except UnkeptError as error:
            if named is not None or place == Path(order["spare"]):
                raise
            say(f"no cache: {error.cause}")
            place = Path(order["spare"])
            open_at(place, inputs, progress, say, is_named=False).close()
        sidecar = sidecar_of(inputs)
        tell(place=str(place), name=inputs.name, sidecar=str(sidecar) if sidecar else None)
    except CtxviewError as error:
        tell(error=error.cause, fix=error.fix, code=error.exit_code)
    except BrokenPipeError:
        os._exit(0)


def _end_with_parent(alone: threading.Event) -> None:
    """Wait until whoever started this process is gone, and end it."""
    sys.stdin.buffer.read()
    alone.set()
    os.kill(os.getpid(), signal.SIGTERM)  # the main thread cleans up after itself
    threading.Event().wait(_GRACE)
    os._exit(143)


def main() -> None:
    order = json.loads(sys.argv[1])
    alone = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    threading.Thread(target=_end_with_parent, args=(alone,), daemon=True).start()
    try:
        _serve(order)
    finally:
        if alone.is_set():  # nobody else will
            shutil.rmtree(Path(order["spare"]).parent, ignore_errors=True)


if __name__ == "__main__":
    main()
