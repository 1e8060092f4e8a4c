"""The database of a trace: made once, made anew when something changed, never half, never over a stranger's file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxview.errors import UsageError
from ctxview.ingest import open_trace
from ctxview.ingest.process import Loading
from ctxview.report.info import info_report
from ctxview.report.show import show_report


def _session(path: Path, rounds: int = 200, session: str = "s-cache") -> Path:
    """A Claude Code session of over a megabyte."""
    lines = []
    parent = None
    for i in range(rounds):
        usage = {"input_tokens": 10, "cache_read_input_tokens": 1000 + 900 * i, "output_tokens": 5}
        answer = {"id": f"m{i}", "model": "claude-demo-5", "usage": usage, "stop_reason": "end_turn"}
        for message in (
            {"role": "user", "content": f"question {i} " + "word " * 900},
            {"role": "assistant", "content": [{"type": "text", "text": f"{i} " + "a " * 900}], **answer},
        ):
            kind = message["role"]
            record = {"type": kind, "uuid": f"{kind}-{i}", "parentUuid": parent, "sessionId": session}
            lines.append(json.dumps({**record, "message": message}))
            parent = f"{kind}-{i}"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("CTXVIEW_CACHE", str(folder))
    return folder


def _databases(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.duckdb"))


def test_a_second_opening_tells_the_same_and_reads_no_file(tmp_path: Path, cache: Path) -> None:
    """The first opening makes a private database; the second answers from it, word for word."""
    trace = _session(tmp_path / "t.jsonl")
    with open_trace([str(trace)]) as first:
        told = info_report(first), show_report(first.view(), 100)
    (database,) = _databases(cache)
    assert database.stat().st_mode & 0o077 == 0
    before = database.stat().st_ino
    with open_trace([str(trace)]) as second:
        assert (info_report(second), show_report(second.view(), 100)) == told
    assert database.stat().st_ino == before


def test_a_changed_file_is_read_anew(tmp_path: Path, cache: Path) -> None:
    trace = _session(tmp_path / "t.jsonl")
    with open_trace([str(trace)]) as first:
        assert first.view().last == 200
    _session(trace, rounds=201)
    with open_trace([str(trace)]) as second:
        assert second.view().last == 201
    assert len(_databases(cache)) == 1


def test_a_damaged_or_older_database_is_made_anew_with_a_word(tmp_path: Path, cache: Path) -> None:
    trace = _session(tmp_path / "t.jsonl")
    open_trace([str(trace)]).close()
    (database,) = _databases(cache)
    database.write_bytes(b"not a database" * 100)
    words: list[str] = []
    with open_trace([str(trace)], say=words.append) as again:
        assert again.view().last == 200
    assert len(words) == 1
    assert "anew" in words[0]


def test_small_traces_and_no_cache_keep_nothing(tmp_path: Path, cache: Path) -> None:
    open_trace([str(_session(tmp_path / "small.jsonl", rounds=3))]).close()
    open_trace([str(_session(tmp_path / "t.jsonl"))], cache=False).close()
    assert not cache.exists() or not _databases(cache)


def test_a_cache_folder_that_cannot_be_used_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("CTXVIEW_CACHE", str(blocked))
    words: list[str] = []
    with open_trace([str(_session(tmp_path / "t.jsonl"))], say=words.append) as trace:
        assert trace.view().last == 200
    assert len(words) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="files cannot be kept small there")
def test_without_room_for_the_database_the_trace_is_read_all_the_same(tmp_path: Path, cache: Path) -> None:
    """Files may grow to 200 kB only, as if the disk were full then."""
    path = _session(tmp_path / "s.jsonl", rounds=800)
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from ctxview.cli import main; main(['info', *sys.argv[1:]])"
    )
    told = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert "no cache: the trace's database cannot be written" in told.stderr
    assert "800 turns" in told.stdout
    assert not _databases(cache)
    named = tmp_path / "named.duckdb"
    told = subprocess.run([sys.executable, "-c", code, str(path), "--db", str(named)], capture_output=True, text=True)
    assert (told.returncode, named.exists()) == (2, False)
    assert "make room" in told.stderr


def test_a_named_database_is_never_another_files(tmp_path: Path, cache: Path) -> None:
    """`--db` makes a file, reuses it for its own trace, and refuses to overwrite anything else."""
    trace, other = _session(tmp_path / "t.jsonl", rounds=3), _session(tmp_path / "o.jsonl", rounds=4, session="other")
    db = tmp_path / "kept.duckdb"
    open_trace([str(trace)], db=db).close()
    with open_trace([str(trace)], db=db) as again:
        assert again.view().last == 3
    with pytest.raises(UsageError, match="another trace"):
        open_trace([str(other)], db=db)
    notes = tmp_path / "notes.txt"
    notes.write_text("my notes")
    with pytest.raises(UsageError):
        open_trace([str(trace)], db=notes)
    assert notes.read_text() == "my notes"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_an_interrupted_load_leaves_no_database(tmp_path: Path, cache: Path, how: signal.Signals) -> None:
    """Killed or interrupted at any moment, nothing stands where the next opening looks."""
    trace = _session(tmp_path / "t.jsonl", rounds=4000)
    for delay in (0.3, 0.8):
        process = subprocess.Popen(
            [sys.executable, "-m", "ctxview", "info", str(trace)],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=dict(os.environ), start_new_session=True,
        )  # fmt: skip
        time.sleep(delay)
        if process.poll() is None:
            os.killpg(process.pid, how)
        _, complaints = process.communicate(timeout=60)
        assert b"Traceback" not in complaints
        if process.returncode != 0:
            assert _databases(cache) == []
    with open_trace([str(trace)]) as whole:
        assert whole.view().last == 4000


def test_two_processes_read_one_trace_at_once(tmp_path: Path, cache: Path) -> None:
    """Both build, both answer, one database is left."""
    trace = _session(tmp_path / "t.jsonl")
    command = [sys.executable, "-m", "ctxview", "sql", "select count(*) as n from blocks", str(trace), "--json"]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, env=dict(os.environ)) for _ in range(2)]
    answers = [json.loads(p.communicate(timeout=120)[0]) for p in both]
    assert [p.returncode for p in both] == [0, 0]
    assert answers[0]["rows"] == answers[1]["rows"] == [[400]]
    assert len(_databases(cache)) == 1


def test_readers_go_on_while_the_database_is_made_anew(tmp_path: Path, cache: Path) -> None:
    """Two open traces and a query answer while another process replaces the database below them."""
    trace = _session(tmp_path / "t.jsonl")
    with open_trace([str(trace)]) as one, open_trace([str(trace)]) as two:
        _session(trace, rounds=210)
        done = subprocess.run(
            [sys.executable, "-m", "ctxview", "info", str(trace), "--json"], capture_output=True, check=True
        )
        assert json.loads(done.stdout)["sessions"][0]["turns"] == 210
        assert one.view().last == two.view().last == 200
        assert one.view().text(one.view().blocks[-1].content)
        assert two.store.ask("select count(*) from blocks").rows == ((400,),)


def test_a_process_reads_for_an_interface(tmp_path: Path, cache: Path) -> None:
    """It tells how far it is, and its trace equals one read in place."""
    trace = _session(tmp_path / "t.jsonl", rounds=1500)
    heard: list[tuple[int, int]] = []
    loading = Loading([str(trace)])
    with loading.wait(lambda file, done, total: heard.append((done, total))) as read:
        told = info_report(read)
    assert heard
    assert heard[-1][0] == heard[-1][1] == trace.stat().st_size
    with open_trace([str(trace)], cache=False) as here:
        assert info_report(here) == told


def test_a_process_passes_errors_on_and_leaves_nothing(tmp_path: Path, cache: Path) -> None:
    picture = tmp_path / "picture.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n" + b"\0" * 100)
    from ctxview.errors import UnreadableError

    with pytest.raises(UnreadableError, match="PNG"):
        Loading([str(picture)]).wait(lambda *_: None)
    loading = Loading([str(_session(tmp_path / "t.jsonl", rounds=3000))], cache=False)
    loading.close()
    assert not cache.exists() or not _databases(cache)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="looks for processes in /proc")
def test_a_process_ends_with_the_one_it_reads_for(tmp_path: Path) -> None:
    """However that ended: here by a signal that lets nobody clean up. Its temporary files go, too."""
    trace, temporary = _session(tmp_path / "t.jsonl", rounds=3_000), tmp_path / "tmp"
    temporary.mkdir()
    code = (
        "import os, signal, sys; from ctxview.ingest.process import Loading; "
        "loading = Loading([sys.argv[1]], cache=False); print(loading._process.pid, flush=True); "
        "loading.wait(lambda *_: os.kill(os.getpid(), signal.SIGKILL))"
    )
    env = os.environ | {"TMPDIR": str(temporary)}
    done = subprocess.run([sys.executable, "-c", code, str(trace)], capture_output=True, text=True, env=env)
    assert done.returncode == -signal.SIGKILL
    reader = Path("/proc", done.stdout.strip(), "stat")
    end = time.monotonic() + 20
    while (reader.exists() and ") Z " not in reader.read_text()) or any(temporary.iterdir()):
        assert time.monotonic() < end, list(temporary.iterdir())
        time.sleep(0.05)
