"""Files to sessions: whatever loaders call them, and whatever becomes of the files meanwhile."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ctxview.ingest import load as module
from ctxview.ingest import open_trace
from ctxview.ingest.inputs import find_inputs
from ctxview.loaders.registry import detect
from ctxview.loaders.source import Loader, Source, SourceFile
from ctxview.model import Event, Issue, Record, SessionStart
from ctxview.store import Store
from ctxview.tokens import image_tokens

CHAT = [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Yes."}]


def write(path: Path, *lines: dict[str, Any]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def claude(session: str, agent: str | None = None) -> dict[str, Any]:
    more = {"isSidechain": True, "agentId": agent} if agent else {}
    message = {"role": "user", "content": "Hi."}
    return {
        "type": "user", "uuid": f"u-{agent}", "parentUuid": None, "sessionId": session, "message": message, **more,
    }  # fmt: skip


def capture(session: str) -> dict[str, Any]:
    body = {"model": "claude-x", "system": "S", "messages": [{"role": "user", "content": "Other."}]}
    headers = {"x-claude-code-session-id": session}
    request = {"method": "POST", "path": "/v1/messages", "headers": headers, "body": body}
    return {"turn": 1, "request_id": "r", "request": request, "response": {"status": 200, "body": {}}}


def test_one_id_of_two_loaders_is_two_sessions(tmp_path: Path) -> None:
    """A proxy's log of a session has the client's own id of it; sub-agents keep the parent of their own log."""
    one = "11111111-2222-4333-8444-555555555555"
    write(tmp_path / "a" / f"{one}.jsonl", claude(one))
    write(tmp_path / "a" / one / "subagents" / "agent-x.jsonl", claude(one, "x"))
    write(tmp_path / "b.jsonl", capture(one))
    with open_trace([str(tmp_path / "b.jsonl"), str(tmp_path / "a")], cache=False) as trace:
        rows = {row.session: (row.format, row.parent) for row in trace.sessions}
        assert rows.pop(one) == ("anthropic-requests", None)
        assert rows.pop(f"{one}-2") == ("claude-code", None)
        assert list(rows.values()) == [("claude-code", f"{one}-2")]
        assert [b.preview for b in trace.view(one).blocks] == ["S", "Other."]
        assert [b.preview for b in trace.view(f"{one}-2").blocks] == ["Hi."]


def test_one_stem_of_two_formats_is_two_sessions(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"messages": CHAT}))
    write(tmp_path / "x" / "run.jsonl", {**capture("")})
    with open_trace([str(tmp_path)], cache=False) as trace:
        assert [(row.session, row.format) for row in trace.sessions] == [
            ("run", "chat"), ("run-2", "anthropic-requests"),
        ]  # fmt: skip
        assert not any(trace.view(row.session).cuts for row in trace.sessions)


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_file_that_goes_away_costs_itself_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", *CHAT)
    gone = tmp_path / "b.jsonl"
    inputs = find_inputs([str(tmp_path)])

    def losing(file: SourceFile) -> Loader | None:
        loader = detect(file)
        if file.name == "b.jsonl":
            gone.unlink()
        return loader

    if when == "before":
        gone.unlink()
    else:
        monkeypatch.setattr(module, "detect", losing)
    with module.read_inputs(inputs, Store.memory()) as trace:
        assert [row.session for row in trace.sessions] == ["a"]
        opened = ["a.jsonl"] if when == "before" else ["a.jsonl", "b.jsonl"]
        assert [f.path for f in trace.files if f.bytes] == opened
        assert [i.severity for i in trace.issues if i.file == "b.jsonl"] == ["error"]


def test_parts_that_a_loader_names_are_accounted_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another package's loader may tell apart the members of an archive."""

    def load(source: Source) -> Iterator[Event]:
        yield SessionStart("s", "zipped")
        yield Record("x.zip/member.json", 1, "known", "note")
        yield Issue("x.zip/member.json", 1, 0, "info", "seen", "s")

    path = write(tmp_path / "x.zip", {})
    zipped = Loader("zipped", "Z", lambda head, name: 1.0, load)
    monkeypatch.setattr(module, "detect", lambda file: zipped)
    with open_trace([path], cache=False) as trace:
        assert [(f.path, f.records) for f in trace.files] == [(path, 0), ("x.zip/member.json", 1)]
        assert [(i.file, i.session) for i in trace.issues] == [("x.zip/member.json", "s")]


def image(width: int, height: int) -> dict[str, Any]:
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\x06\0\0\0"
    return {"type": "input_image", "image_url": "data:image/png;base64," + base64.b64encode(head).decode()}


@pytest.mark.parametrize("later", ["word", "unlike " * 200_000], ids=["little", "much"])
def test_an_image_has_the_size_that_its_first_call_gave_it(tmp_path: Path, later: str) -> None:
    """A model that is chosen later changes nothing, nor does how much text is counted at a time."""

    def item(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
        return {"type": "response_item", "payload": {"type": "message", "role": role, "content": list(parts)}}

    def model(name: str) -> dict[str, Any]:
        return {"type": "turn_context", "payload": {"model": name}}

    text = {"type": "input_text", "text": "Look."}
    path = write(
        tmp_path / "rollout.jsonl",
        {"type": "session_meta", "payload": {"id": "t", "timestamp": "2026-01-01T00:00:00Z"}},
        model("gpt-5-codex"),
        item("user", image(1024, 1024), text),
        item("user", {"type": "input_text", "text": later}),
        item("assistant", {"type": "output_text", "text": "Yes."}),
        model("claude-opus-4-5"),
        item("user", image(1024, 1024)),
        item("assistant", {"type": "output_text", "text": "Yes."}),
    )
    with open_trace([path], cache=False) as trace:
        sizes = [b.tokens for b in trace.view().blocks if b.kind == "image"]
    assert sizes == [image_tokens(name, 1024, 1024) for name in ("gpt-5-codex", "claude-opus-4-5")]
    assert sizes[0] != sizes[1]
