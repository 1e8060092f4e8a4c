"""Claude Code sessions whose files are not whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.ingest import open_trace
from ctxview.loaders.claude_code import tree

DATA = Path(__file__).parents[1] / "data" / "loaders"


def line(kind: str, uuid: str, parent: str | None, **more: object) -> dict[str, object]:
    message = {"role": kind, "content": f"{kind} {uuid}"}
    if kind == "assistant":
        message |= {"id": f"msg-{uuid}", "model": "claude-opus-4-6"}
    at = f"2026-03-01T00:00:{uuid[1:]:0>2}.000Z"
    return {
        "type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s", "timestamp": at, "message": message, **more,
    }  # fmt: skip


def test_a_log_that_starts_inside_a_conversation_says_so(tmp_path: Path) -> None:
    """Until a compaction takes what the file does not hold, every window lacks it, and its first message is no goal
    that anyone can be sure of."""
    lines = [
        line("user", "u1", "not-in-this-file"),
        line("assistant", "a2", "u1"),
        {"type": "system", "subtype": "compact_boundary", "uuid": "b3", "parentUuid": None, "sessionId": "s"},
        line("user", "u4", "b3", isCompactSummary=True),
        line("assistant", "a5", "u4"),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(value) + "\n" for value in lines))
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        assert [turn.missing for turn in view.turns] == [("system", "tools", "history"), ("system", "tools")]
        assert [pin.evidence for pin in view.facts.pins if pin.kind == "goal"] == ["inferred"]
        assert [(i.line, i.severity) for i in trace.issues if "starts inside" in i.reason] == [(1, "warning")]
    path.write_text("".join(json.dumps(value) + "\n" for value in [line("user", "u1", None), *lines[1:]]))
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        assert {turn.missing for turn in view.turns} == {("system", "tools")}
        assert [pin.evidence for pin in view.facts.pins if pin.kind == "goal"] == ["matched"]


def windows(path: Path) -> list[list[str]]:
    with open_trace([str(path)], cache=False) as trace:
        view = trace.view()
        return [[row.block.id for row in view.window(turn)] for turn in range(1, view.now + 1)]


@pytest.mark.parametrize("name", ["put_away_in_parts", "put_away_and_asked_for"])
def test_a_response_is_put_away_whole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of one response and its results that come far apart, with cuts between them."""
    path = DATA / f"{name}.jsonl"
    held = windows(path)
    monkeypatch.setattr(tree, "MANY", 0)
    assert windows(path) == held


def test_messages_preserved_in_a_circle_end_the_walk() -> None:
    """Each of two compactions says that the other's summary follows its own."""
    assert windows(DATA / "preserved_in_a_circle.jsonl")[-1][-1] == "z"


def test_an_answer_without_a_parent_starts_an_empty_window() -> None:
    """What stood before is not above it."""
    assert windows(DATA / "answer_without_a_parent.jsonl") == [["a"], [], ["c"]]
