"""The file beside a trace that holds what a person pinned."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ctxview.annotate import sidecar
from ctxview.annotate.pins import PRIORITY
from ctxview.annotate.sidecar import Mark
from ctxview.errors import UsageError
from ctxview.model import Pin

FOUND = (
    Pin(1, "goal", "matched", "first message"),
    Pin(3, "constraint", "matched", "forbids: never …", quote="Never."),
)
IDS = {"a": (1, 0), "b": (3, 2), "c": (7, 5)}


def place(tmp_path: Path) -> Path:
    return sidecar.sidecar_path(tmp_path / "run.jsonl")


def test_it_stands_beside_the_trace(tmp_path: Path):
    assert place(tmp_path).name == "run.jsonl.ctxview.json"
    assert sidecar.sidecar_path(tmp_path / "traces").name == "traces.ctxview.json"


def test_a_mark_survives_writing_and_reading(tmp_path: Path):
    path = place(tmp_path)
    sidecar.update(path, "s1", "a", Mark(pin=False))
    sidecar.update(path, "s1", "c", Mark(pin=True))
    assert sidecar.read(path).marks("s1") == {"a": Mark(False), "c": Mark(True)}
    assert sidecar.read(path).marks("s2") == {}
    assert json.loads(path.read_text())["pins"]["s1"]["c"] == {"pin": True, "kind": "user"}
    assert os.listdir(tmp_path) == [path.name]


def test_taking_a_mark_away_leaves_no_trace_of_it(tmp_path: Path):
    path = place(tmp_path)
    sidecar.update(path, "s1", "a", Mark(pin=True))
    sidecar.update(path, "s1", "a", None)
    assert json.loads(path.read_text()) == {"pins": {}}


def test_unknown_keys_are_never_lost(tmp_path: Path):
    path = place(tmp_path)
    path.write_text('{"version": 9, "notes": {"x": [1]}, "pins": {"s0": {"z": {"pin": true, "why": "law"}}}}')
    sidecar.update(path, "s0", "z", Mark(pin=False))
    data = json.loads(path.read_text())
    assert (data["version"], data["notes"]) == (9, {"x": [1]})
    assert data["pins"]["s0"]["z"] == {"pin": False, "why": "law", "kind": "user"}


@pytest.mark.parametrize("text", ["{not json", "[]", "\xff", ""])
def test_a_damaged_file_is_told_and_never_written_over(tmp_path: Path, text: str):
    path = place(tmp_path)
    path.write_bytes(text.encode("latin-1"))
    read = sidecar.read(path)
    assert read.marks("s1") == {}
    assert str(path) in read.problem
    with pytest.raises(UsageError) as caught:
        sidecar.update(path, "s1", "a", Mark(pin=True))
    assert "nothing was written" in caught.value.fix
    assert path.read_bytes() == text.encode("latin-1")


def test_strange_values_inside_are_passed_over_and_kept(tmp_path: Path):
    path = place(tmp_path)
    path.write_text('{"pins": {"s1": {"a": {"pin": "yes"}, "b": true, "c": {"pin": true, "kind": "odd"}}, "s2": 4}}')
    assert sidecar.read(path).marks("s1") == {"b": Mark(True), "c": Mark(True)}
    sidecar.update(path, "s2", "a", Mark(pin=True))
    data = json.loads(path.read_text())["pins"]
    assert data["s1"]["a"] == {"pin": "yes"}
    assert data["s2 (damaged)"] == 4
    assert data["s2"]["a"]["pin"] is True


def test_another_tools_numbers_keep_their_digits(tmp_path: Path):
    path = place(tmp_path)
    path.write_text('{"tool": {"id": 123456789012345678901234567890, "half": "\\ud83d"}}')
    sidecar.update(path, "s", "a\ud83d", Mark(True))
    kept = json.loads(path.read_text())
    assert kept["tool"] == {"id": 123456789012345678901234567890, "half": "\ud83d"}
    assert sidecar.read(path).marks("s") == {"a\ud83d": Mark(True)}


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such rights")
def test_a_file_shared_with_a_team_stays_shared(tmp_path: Path):
    path, trace = place(tmp_path), tmp_path / "run.jsonl"
    trace.write_text("{}\n")
    trace.chmod(0o640)
    sidecar.update(path, "s", "a", Mark(True))
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o664)
    sidecar.update(path, "s", "b", Mark(True))
    assert path.stat().st_mode & 0o777 == 0o664


def test_a_missing_file_is_empty(tmp_path: Path):
    read = sidecar.read(place(tmp_path))
    assert (read.marks("s1"), read.problem) == ({}, "")


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path):
    with pytest.raises(UsageError) as caught:
        sidecar.update(tmp_path / "gone" / "x.ctxview.json", "s", "a", Mark(pin=True))
    assert "gone" in caught.value.cause


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = place(tmp_path)
    sidecar.update(path, "s1", "a", Mark(pin=True))
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(UsageError):
        sidecar.update(path, "s1", "b", Mark(pin=True))
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


def test_marks_add_pins_and_take_them_away():
    pins = sidecar.apply(FOUND, {"a": Mark(False), "c": Mark(True), "gone": Mark(True)}, IDS)
    assert [(p.block, p.kind, p.evidence, p.rule, p.since, p.priority) for p in pins] == [
        (3, "constraint", "matched", "forbids: never …", 1, 0),
        (7, "user", "stated", "pinned by hand", 6, PRIORITY["user"]),
    ]


def test_a_block_pinned_twice_keeps_what_the_rules_found():
    pins = sidecar.apply(FOUND, {"b": Mark(True)}, IDS)
    assert [(p.block, p.kind) for p in pins] == [(1, "goal"), (3, "user"), (3, "constraint")]
    assert sidecar.apply(FOUND, {}, IDS) == FOUND
