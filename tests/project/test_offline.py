"""Nothing leaves the machine: no connection is made, no program started, no file touched that was not named.

An audit hook in a fresh process sees every `open` and every socket of Python itself.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

import ctxview
from ctxview.sample_traces import SAMPLES, sample_path

HOOK: Final = """
import json, os, sys
opened = []
def hook(event, args):
    if event == "open":
        path, mode, flags = args
        if isinstance(path, (str, bytes)):
            writes = bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND))
            opened.append((os.path.realpath(os.fsdecode(path)), writes))
    elif event.startswith("socket.") and event not in ("socket.__new__", "socket.gethostname"):
        raise RuntimeError("network: " + event)
    elif event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "pty.spawn"):
        raise RuntimeError("program: " + event)
    elif event in ("urllib.Request", "http.client.connect", "ftplib.connect", "smtplib.connect", "webbrowser.open"):
        raise RuntimeError("network: " + event)
sys.addaudithook(hook)
log, sys.argv = sys.argv[1], ["ctxview", *sys.argv[2:]]
try:
    import runpy
    if sys.argv[1:] == ["--connect"]:
        import socket
        socket.create_connection(("127.0.0.1", 9), timeout=1)
    runpy.run_module("ctxview", run_name="__main__", alter_sys=True)
finally:
    seen = opened[:]  # without the log itself
    with open(log, "w") as out:
        json.dump(seen, out)
"""


@dataclass(frozen=True)
class Run:
    code: int
    out: str
    err: str
    opened: tuple[tuple[Path, bool], ...]
    """Real paths, and whether they were opened to be written."""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An empty home; the temporary folder stands beside it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "temp").mkdir()
    (tmp_path / "work").mkdir()
    return tmp_path / "home"


def ctxview_watched(home: Path, *args: str) -> Run:
    """Run `ctxview ARGS` in a process of its own under the hook, with an empty home and temporary folder."""
    log = home.parent / "opened.json"
    temp = str(home.parent / "temp")
    env = {k: v for k, v in os.environ.items() if not k.startswith(("XDG_", "CTXVIEW_", "COVERAGE_"))}
    env |= {"HOME": str(home), "USERPROFILE": str(home), "TMPDIR": temp, "TEMP": temp, "TMP": temp}
    env |= {"PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", HOOK, str(log), *args],
        cwd=home.parent / "work", env=env, capture_output=True, text=True, timeout=120, check=False,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    opened = tuple((Path(path), writes) for path, writes in json.loads(log.read_text()))
    return Run(done.returncode, done.stdout, done.stderr, opened)


def code_folders() -> list[Path]:
    """Where Python, the installed packages and this package lie: reading there is how a program loads itself."""
    named: list[str | Path] = [sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()]
    own = Path(ctxview.__file__).parent
    own_parts = [own, own.parent / "tui", own.parent / "loaders", own.parent / "sample_traces", own.parent / "app"]
    named += [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and not own.is_relative_to(p)]
    return [Path(os.path.realpath(n)) for n in [*named, *own_parts]]


def inside(path: Path, folders: list[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def test_the_hook_refuses_a_connection(home: Path) -> None:
    """So that the tests below are known to watch."""
    run = ctxview_watched(home, "--connect")
    assert run.code != 0
    assert "network: socket." in run.err


def test_a_sample_is_shown_without_the_network(home: Path) -> None:
    run = ctxview_watched(home, "sample", "refund")
    assert run.code == 0, run.err
    assert "turn 15/15 › recorded (exact)" in run.out
    assert run.err == ""


@pytest.mark.slow
@pytest.mark.parametrize(("verb", "name"), [*(("info", s.name) for s in SAMPLES), ("show", "tutor"), ("diff", "stale")])
def test_only_the_input_is_read_and_only_temporary_files_are_written(home: Path, verb: str, name: str) -> None:
    folder = home.parent / "work" / "input"
    folder.mkdir()
    trace = Path(shutil.copy(sample_path(name), folder))
    turns = ("--turn", "1", "--turn", "last") if verb == "diff" else ()
    run = ctxview_watched(home, verb, str(trace), *turns, "--json")
    assert run.code == 0, run.err
    temp = home.parent / "temp"
    system = [Path(p) for p in ("/dev/null", "/dev/urandom", "/proc", "/sys", "/etc", "/usr/share", "/usr/lib")]
    code = [*code_folders(), *system]
    assert [p for p, writes in run.opened if writes and not inside(p, [temp, Path(os.devnull)])] == []
    assert [p for p, _ in run.opened if not inside(p, [folder, temp, *code])] == []
    assert trace in {p for p, _ in run.opened}  # the hook saw the trace itself
    assert list(home.iterdir()) == []
    assert list(temp.iterdir()) == []
    assert sorted(p.name for p in folder.iterdir()) == [trace.name]


@pytest.mark.slow
def test_a_large_trace_is_kept_in_the_cache_of_the_user_alone_unless_told_not_to(home: Path) -> None:
    """The database's own files are not seen by the hook; what is left on disk is."""
    trace = home.parent / "work" / "large.jsonl"
    lines = [{"role": "user", "content": "Count."}, {"role": "assistant", "content": "one " * 300_000}]
    trace.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert ctxview_watched(home, "info", str(trace), "--no-cache", "--json").code == 0
    assert list(home.iterdir()) == []
    run = ctxview_watched(home, "info", str(trace), "--json")
    assert run.code == 0, run.err
    kept = [p for p in home.rglob("*") if p.is_file()]
    assert [p.parent for p in kept] == [home / ".cache" / "ctxview"]
    assert [p.suffix for p in kept] == [".duckdb"]
    if os.name == "posix":
        assert [p.stat().st_mode & 0o077 for p in [*kept, kept[0].parent]] == [0, 0]
    assert ctxview_watched(home, "info", str(trace), "--json").out == run.out
    assert list((home.parent / "temp").iterdir()) == []
