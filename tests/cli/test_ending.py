"""What a signal, or the end of a query's time, leaves behind: an exit code, and nothing on disk."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ctxview.errors import UsageError
from ctxview.ingest import open_trace
from ctxview.sample_traces import sample_path
from ctxview.store import query

_ENDLESS = "select count(*) from range(100000000000) a, range(1000000) b"
_DEAF = "select length(regexp_replace(repeat('ab', 100000000), '(a|b)*c', 'x'))"
"""One call of one function, which DuckDB does not interrupt."""


def _hear_signals() -> None:
    """As a shell in front of a person starts a program; one that runs in the background has SIGINT ignored."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)


def _start(tmp: Path, *args: str) -> subprocess.Popen[str]:
    env = {**os.environ, "TMPDIR": str(tmp), "CTXVIEW_CACHE": str(tmp / "cache")}
    command = [sys.executable, "-m", "ctxview", *args]
    return subprocess.Popen(
        command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=_hear_signals if os.name == "posix" else None,
    )  # fmt: skip


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="Windows has no SIGHUP, and SIGTERM kills outright there")
@pytest.mark.parametrize(("name", "sql"), [("SIGTERM", _ENDLESS), ("SIGHUP", _DEAF), ("SIGINT", _DEAF)])
def test_a_signal_ends_a_command_with_its_code_and_leaves_no_temporary_folder(
    name: str, sql: str, tmp_path: Path
) -> None:
    number = getattr(signal, name)
    process = _start(tmp_path, "sql", sql, str(sample_path("refund")), "--seconds", "600")
    while not list(tmp_path.glob("ctxview-*")):  # DuckDB is being opened
        assert process.poll() is None, process.communicate()
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors.strip()) == (128 + number, "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_query_that_hears_no_interrupt_ends_with_the_process_when_its_time_is_up(tmp_path: Path) -> None:
    process = _start(tmp_path, "sql", _DEAF, str(sample_path("refund")), "--seconds", "0.1")
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output) == (2, "")
    assert "the query took more than 0.1 seconds" in errors
    assert list(tmp_path.iterdir()) == []


def test_a_caller_without_an_answer_to_that_waits_until_it_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "_GRACE", 0.01)
    heard: list[BaseException] = []
    slow = "select length(regexp_replace(repeat('ab', 20000000), '(a|b)*c', 'x'))"
    with open_trace([str(sample_path("refund"))]) as trace:
        with pytest.raises(UsageError, match="more than"):
            trace.store.ask(slow, seconds=0.01, stuck=heard.append)
        assert isinstance(heard[0], UsageError)
        assert trace.store.ask("select 1").rows == ((1,),)


_SIGNALLED_IN_THE_MIDST = """
import enum, os, signal, sys
from ctxview.cli.ending import Ended, hear_signals

hear_signals()
make = enum.EnumType.__new__

def make_and_signal(*args, **kwargs):
    os.kill(os.getpid(), int(sys.argv[1]))
    return make(*args, **kwargs)

enum.EnumType.__new__ = make_and_signal  # DuckDB's library makes enums of Python's while it starts
try:
    import _duckdb
    import time
    time.sleep(30)
except (Ended, KeyboardInterrupt) as end:
    print(type(end).__name__, "_duckdb" in sys.modules)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows has no way to send itself a signal that Python hears")
@pytest.mark.parametrize(("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "Ended")])
def test_a_signal_waits_until_a_compiled_library_has_started(name: str, raised: str) -> None:
    """An exception in the midst of that aborts the process, with a traceback that is not Python's."""
    command = [sys.executable, "-c", _SIGNALLED_IN_THE_MIDST, str(int(getattr(signal, name)))]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, preexec_fn=_hear_signals)
    assert (process.returncode, process.stdout.split(), process.stderr) == (0, [raised, "True"], "")


@pytest.mark.parametrize("args", [("sql", "select 1"), ("info",)])
def test_an_empty_name_for_the_database_is_refused(args: tuple[str, ...], tmp_path: Path) -> None:
    process = _start(tmp_path, *args, str(sample_path("refund")), "--db", "")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "--db names no file" in errors


def test_names_of_columns_are_cleaned_in_csv_as_cells_are(tmp_path: Path) -> None:
    sql = 'select 1 as "=a\x1b[31mx"'
    output, _ = _start(tmp_path, "sql", sql, str(sample_path("refund")), "--format", "csv").communicate(timeout=60)
    assert output == "'=a\\x1b[31mx\n1\n"


def test_json_has_null_for_what_is_no_number(tmp_path: Path) -> None:
    sql = "select 'nan'::double a, ['inf'::double] b"
    output, _ = _start(tmp_path, "sql", sql, str(sample_path("refund")), "--json").communicate(timeout=60)
    assert "".join(output.split()) == '{"columns":["a","b"],"rows":[[null,[null]]]}'
