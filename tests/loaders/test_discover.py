"""Only what the user named is opened, nothing hangs, and whatever is passed over is mentioned."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxview.loaders import discover as module
from ctxview.loaders.discover import discover
from ctxview.model import Issue

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    for name in (
        "b.jsonl",
        "a.jsonl",
        "sub/c.jsonl",
        ".git/x.jsonl",
        "node_modules/y.json",
        ".codex/z.jsonl",
        ".DS_Store",
    ):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


def names(*paths: Path) -> list[str]:
    return [file.name for file in discover(paths)[0]]


def reasons(*paths: Path) -> list[tuple[str, str, str]]:
    return [(issue.file, issue.severity, issue.reason) for issue in discover(paths)[1]]


def within(seconds: float, work: Callable[[], tuple[list[module.SourceFile], list[Issue]]]) -> list[Issue]:
    """The issues of `work`, which must not hang."""
    found: list[list[Issue]] = []
    thread = threading.Thread(target=lambda: found.append(work()[1]), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "discover waits for something"
    return found[0]


def test_a_folder_is_its_files_in_order(logs: Path) -> None:
    assert names(logs) == ["a.jsonl", "b.jsonl", os.path.join("sub", "c.jsonl").replace(os.sep, "/")]
    assert reasons(logs) == [(".codex", "info", "a hidden folder: not read unless it is named")]


def test_what_is_kept_beside_a_trace_is_no_trace(logs: Path) -> None:
    before = names(logs)
    for name in ("a.jsonl.ctxview.json", "ctxview.toml", "sub/c.ledger.csv", "a.ledger.jsonl"):
        (logs / name).write_text("{}")
    assert names(logs) == before
    assert names(logs / "a.ledger.jsonl") == [str(logs / "a.ledger.jsonl")]  # who names it means it


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs shared memory with a folder")
def test_a_file_in_shared_memory_is_a_file() -> None:
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        ((found,), _) = discover([Path(file.name)])
    assert found.path == Path(file.name)


def test_a_hidden_folder_is_read_when_named(logs: Path) -> None:
    assert names(logs / ".codex") == ["z.jsonl"]


def test_files_of_several_paths_keep_apart(logs: Path) -> None:
    files, _ = discover([logs / "a.jsonl", logs / "sub"])
    assert [file.name for file in files] == [str(logs / "a.jsonl"), f"{logs / 'sub'}/c.jsonl"]
    assert [file.open().read() for file in files] == [b"a.jsonl", b"sub/c.jsonl"]


def test_a_file_named_twice_is_listed_once(logs: Path) -> None:
    files, issues = discover([logs / "a.jsonl", logs])
    assert len(files) == 3
    assert "a file that is listed already: read once" in [issue.reason for issue in issues]


def test_a_missing_path_is_an_error(tmp_path: Path) -> None:
    assert reasons(tmp_path / "gone") == [(str(tmp_path / "gone"), "error", "no such file or folder")]
    assert reasons(Path("nul\0byte"))[0][1] == "error"


def test_an_empty_folder_is_mentioned(tmp_path: Path) -> None:
    assert reasons(tmp_path) == [(str(tmp_path), "warning", "a folder without files to read")]


@posix_only
def test_links_are_followed_only_inside_the_folder(logs: Path) -> None:
    """A neighbour whose name begins like the folder's is outside, too."""
    secret = logs.parent / "logs-secret"
    secret.mkdir()
    (secret / "s.jsonl").write_text("secret")
    (logs / "1-inside").symlink_to(logs / "sub" / "c.jsonl")
    (logs / "2-neighbour").symlink_to(secret / "s.jsonl")
    (logs / "3-passwd").symlink_to("/etc/passwd")
    (logs / "4-folder").symlink_to(secret)
    (logs / "5-loop").symlink_to(logs)
    (logs / "6-broken").symlink_to(logs / "gone")
    files, issues = discover([logs])
    assert [file.name for file in files] == ["1-inside", "a.jsonl", "b.jsonl"]
    said = {issue.file: issue.reason for issue in issues}
    leaves = "a link that leaves the folder: not followed"
    assert said["2-neighbour"] == said["3-passwd"] == said["4-folder"] == leaves
    assert "no such file" in said["6-broken"]
    assert said["sub/c.jsonl"] == "a file that is listed already: read once"


@posix_only
def test_pipes_sockets_and_devices_in_a_folder_are_not_opened(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(logs / "fifo")
    (logs / "zero").symlink_to("/dev/zero")
    monkeypatch.chdir(logs)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        issues = within(2, lambda: discover([logs]))
    said = {issue.file: (issue.severity, issue.reason) for issue in issues}
    assert said["fifo"] == ("info", "a pipe inside a folder: not opened")
    assert said["socket"] == ("info", "a socket inside a folder: not opened")
    assert said["zero"] == ("info", "a link that leaves the folder: not followed")


@posix_only
def test_a_named_device_is_an_error() -> None:
    (issue,) = within(2, lambda: discover([Path("/dev/zero")]))
    assert (issue.severity, issue.reason) == ("error", "a device, which cannot be read as a file")


@posix_only
def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    """As `ctxview <(command)` gives one."""
    reader, writer = os.pipe()
    os.write(writer, b'{"a":1}\n')
    os.close(writer)
    files, issues = discover([Path(f"/dev/fd/{reader}")])
    os.close(reader)
    assert [(file.name, file.data) for file in files] == [(f"/dev/fd/{reader}", b'{"a":1}\n')]
    assert not issues


@posix_only
def test_a_pipe_that_does_not_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PIPE_LIMIT", 1000)
    reader, writer = os.pipe()
    os.write(writer, b"x" * 1001)
    os.close(writer)
    files, issues = discover([Path(f"/dev/fd/{reader}")])
    os.close(reader)
    assert not files
    assert issues[0].severity == "error"


def test_a_file_without_permission_is_an_error(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    denied = logs / "a.jsonl"
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != denied)
    assert ("a.jsonl", "error", "cannot be read: permission denied") in reasons(logs)
    assert "a.jsonl" not in names(logs)


def test_a_folder_without_permission_is_an_error(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(folder: str) -> object:
        if folder.endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return real(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    assert ("sub/", "error", "cannot be read: permission denied") in reasons(logs)


def test_a_walk_is_bounded(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_LIMIT", 2)
    assert names(logs) == ["a.jsonl", "b.jsonl"]
    assert ("sub/c.jsonl", "warning", "more than 2 files: this one and those after it are not read") in reasons(logs)
    monkeypatch.setattr(module, "DEPTH_LIMIT", 0)
    assert ("sub", "warning", "more than 0 folders deep: not read") in reasons(logs)


def test_equal_reasons_are_capped(tmp_path: Path) -> None:
    issues = discover([tmp_path / str(number) for number in range(100)])[1]
    assert len(issues) == module.SAME_ISSUE_LIMIT + 1
    assert issues[-1].reason == "and 80 more like this: no such file or folder"


@pytest.mark.skipif(sys.platform != "linux", reason="needs file names of any bytes")
def test_a_name_that_is_not_utf8_can_be_shown(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.jsonl")).write_text("x")
    files, _ = discover([tmp_path])
    assert [file.name for file in files] == ["caf\ufffd.jsonl"]
    assert files[0].head() == b"x"
