"""Claude Code sessions whose files are not whole."""

from __future__ import annotations

import json
from pathlib import Path

from ctxview.ingest import open_trace


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
