"""Each format is recognised by its content, and what is not one is described."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import ctxview.loaders.registry as registry
from ctxview.loaders import LOADERS, all_loaders, detect, explain_unknown, plugin_faults
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.model import Event

CASES = Path(__file__).parents[1] / "data" / "cases"


def nothing(source: Source) -> Iterator[Event]:
    yield from ()


def data(content: bytes, name: str = "x") -> SourceFile:
    return SourceFile(name, data=content)


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """The entry points that other packages seem to have."""
    points: list[EntryPoint] = []
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points if group == "ctxview.loaders" else [])
    registry._plugins.cache_clear()
    yield points
    registry._plugins.cache_clear()


def test_loaders_are_listed_in_detection_order() -> None:
    names = [loader.name for loader in LOADERS]
    assert len(set(names)) == len(names)
    assert names[0] == "claude-code"
    assert all_loaders()[: len(LOADERS)] == LOADERS


@pytest.mark.parametrize("name", ["P01.jsonl", "P04.jsonl", "P06.jsonl", "P07.jsonl", "P07.utf16.jsonl", "P25.jsonl"])
def test_claude_code_is_recognised_whatever_its_encoding(name: str) -> None:
    loader = detect(SourceFile("renamed.txt", CASES / name))
    assert loader is not None
    assert loader.name == "claude-code"


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a", "b")
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"))
    return file.getvalue()


UI_LOG = b"".join(json.dumps({"ts": str(n), "dir": "meta", "kind": "session_start"}).encode() + b"\n" for n in range(3))


@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (b"", "an empty file"),
        (b"\n \r\n", "a file of blank lines"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "a PNG image"),
        (b"SQLite format 3\x00" + b"\x00" * 84, "a SQLite database"),
        pytest.param(zipped(), "a zip archive", id="zip"),
        pytest.param(tarred(), "a tar archive", id="tar"),
        ("Héllo, world\n".encode("utf-16"), "UTF-16 text"),
        (b'{"a": 1}', "JSON without messages"),
        (b'{\n "a": [\n  1]}\n', "JSON without messages"),
        pytest.param(b'{"a": "' + b"x" * 300_000 + b'"}', "JSON without messages", id="longer than the head"),
        (b'{"a": 1}\n{"a": 2}\n', "JSON lines without messages"),
        (b'{"messages": 1}', "JSON with messages of an unknown shape"),
        (b'{"a": 1,\n', "damaged or incomplete JSON"),
        (UI_LOG, "a Codex UI log, not a rollout"),
        (b"Dear diary,\n", "plain text"),
        ("Ünïcödé tèxt\n".encode(), "plain text"),
        (b"<!DOCTYPE html><html>", "a web page"),
        pytest.param(bytes(range(256)) * 4, "binary data", id="bytes"),
        pytest.param(b"\x00" * 100, "binary data", id="NUL bytes"),
    ],
)
def test_an_unknown_file_is_described(content: bytes, looks_like: str) -> None:
    assert detect(data(content)) is None
    assert explain_unknown(data(content)) == looks_like


def test_a_file_that_cannot_be_read_is_no_matter_of_its_format(tmp_path: Path) -> None:
    gone = SourceFile("gone", tmp_path / "gone")
    with pytest.raises(FileNotFoundError):
        detect(gone)
    assert explain_unknown(gone) == "a file that cannot be read (No such file or directory)"


@pytest.mark.parametrize(("name", "format"), [("P06.jsonl", "claude-code"), ("T08.jsonl", "codex")])
def test_a_log_without_its_beginning_is_recognised(name: str, format: str) -> None:
    """As `tail -c` leaves it: the first line has lost its head."""
    content = b'mestamp": "2026-03-02", "x": 1}\n' + (CASES / name).read_bytes()
    loader = detect(data(content))
    assert loader is not None
    assert loader.name == format


def test_other_clients_with_the_same_links_are_not_claude_code() -> None:
    """Qwen Code links its lines alike; its messages are of another shape."""
    links = {"uuid": "b", "parentUuid": "a", "sessionId": "s"}
    said = {**links, "type": "user", "message": {"role": "user", "parts": [{"text": "Hi."}]}}
    shown = {**links, "type": "system", "subtype": "ui_telemetry", "systemPayload": {}}
    file = data("".join(json.dumps(line) + "\n" for line in (shown, said)).encode())
    assert detect(file) is None
    assert explain_unknown(file) == "a Qwen Code session"


def test_the_surest_loader_wins_and_the_first_of_equals(monkeypatch: pytest.MonkeyPatch) -> None:
    def loader(name: str, confidence: float) -> Loader:
        return Loader(name, name, lambda head, file: confidence, nothing)

    def winner(*candidates: Loader) -> str | None:
        monkeypatch.setattr(registry, "LOADERS", candidates)
        found = detect(data(b"x"))
        return found.name if found is not None else None

    assert winner(loader("a", 0.6), loader("b", 0.9), loader("c", 0.9)) == "b"
    assert winner(loader("a", 0.4), loader("b", 0.5)) == "b"
    assert winner(loader("a", 0.49)) is None


def sniff_broken(head: bytes, name: str) -> float:
    raise RuntimeError("a fault in someone else's code")


THEIRS = Loader("theirs", "Their format", lambda head, name: 0.9 * head.startswith(b"THEIRS"), nothing)
BROKEN = Loader("broken", "A format", sniff_broken, nothing)


def test_other_packages_add_loaders(plugins: list[EntryPoint]) -> None:
    plugins += [EntryPoint(name.lower(), f"{__name__}:{name}", registry.ENTRY_POINTS) for name in ("THEIRS", "BROKEN")]
    sys.modules.setdefault(__name__, sys.modules[test_other_packages_add_loaders.__module__])
    assert all_loaders()[len(LOADERS) :] == (BROKEN, THEIRS)
    assert detect(data(b"THEIRS 1")) is THEIRS
    assert detect(data(b"nothing known")) is None


def test_a_broken_plugin_is_named_and_harmless(plugins: list[EntryPoint]) -> None:
    plugins += [EntryPoint("gone", "no_such_module:LOADER", "g"), EntryPoint("odd", "json:dumps", "g")]
    assert all_loaders() == LOADERS
    gone, odd = plugin_faults()
    assert gone.startswith("loader gone (no_such_module:LOADER) cannot be imported: ModuleNotFoundError")
    assert odd == "loader odd (json:dumps) is a function, not a Loader"


def test_importing_the_loaders_is_cheap() -> None:
    """The command line starts with it: neither the store, nor a tokenizer, nor a face comes along."""
    code = "import sys, ctxview.loaders; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"duckdb", "tiktoken", "textual", "streamlit", "plotly", "importlib.metadata"} & set(loaded)
