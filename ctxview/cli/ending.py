"""How a run of the command line ends before its time: by a signal, in an orderly way, and with the shell's exit code.

It prevents SIGTERM and SIGHUP from leaving temporary folders and half-built databases behind: they unwind the program
as Ctrl-C does. And it prevents any of them from breaking into the start of a compiled library, which aborts the process
with a traceback of its own: the signal comes again a moment later.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import Final, NoReturn

_AGAIN: Final = 3.0
"""Seconds after which a signal is raised again: Python drops what is raised inside its own callbacks."""
_A_MOMENT: Final = 0.05
"""Seconds between two looks whether a compiled library has started."""
_WORDS_OF_DUCKDB: Final = "Query interrupted"
"""What DuckDB makes of an exception that a signal raises while it works."""


class Ended(BaseException):
    """A signal asks the program to end."""


def hear_signals() -> None:
    """From now on SIGTERM and SIGHUP raise Ended, unless whoever started us has them ignored (`nohup`)."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)


_heard: list[tuple[int, threading.Timer]] = []
_interrupts: list[int] = []
_held: set[int] = set()


def _interrupt(number: int, frame: FrameType | None) -> None:
    _interrupts.append(number)
    if not _holds_back(number, frame):
        raise KeyboardInterrupt


def _holds_back(number: int, frame: FrameType | None) -> bool:
    """Whether a compiled library is starting, which no exception may leave; then the signal will come again."""
    while frame is not None and not isinstance(frame.f_locals.get("self"), ExtensionFileLoader):
        frame = frame.f_back
    if frame is None:
        return False
    if number not in _held:
        _held.add(number)
        again = threading.Timer(_A_MOMENT, _raise_again, (number,))
        again.daemon = True
        again.start()
    return True


def _raise_again(number: int) -> None:
    _held.discard(number)
    if os.name == "posix":
        os.kill(os.getpid(), number)  # reaches the main thread even where that waits for a file
    else:
        signal.raise_signal(number)  # there, os.kill would end the process outright


def is_interrupted() -> bool:
    """Whether Ctrl-C was pressed: a library may drop what that raises, as DuckDB does while it loads."""
    return bool(_interrupts)


def _end(number: int, frame: FrameType | None) -> None:
    if _holds_back(number, frame):
        return
    again = threading.Timer(_AGAIN, os.kill, (os.getpid(), number))
    again.daemon = True
    again.start()
    _heard.append((number, again))
    raise Ended(number)


def has_ended() -> bool:
    """Whether a signal has asked the program to end: what fails from then on fails for that reason."""
    return bool(_heard)


def is_interruption(error: Exception) -> bool:
    """Whether an error is what became of Ctrl-C on its way through DuckDB."""
    return isinstance(error, RuntimeError) and str(error) == _WORDS_OF_DUCKDB


def interrupted_code() -> int:
    """The exit code that a shell expects of a program that a signal ended, or Ctrl-C. The signal is dealt with."""
    for _, again in _heard:
        again.cancel()
    return 128 + (_heard[0][0] if _heard else signal.SIGINT)


def leave_at_once(code: int) -> NoReturn:
    """End the process whatever its other threads are doing. Only what was written so far is kept."""
    from ctxview.store import remove_spill

    remove_spill()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError):
            stream.flush()
    os._exit(code)
