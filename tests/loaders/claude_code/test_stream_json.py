"""What the client prints as `stream-json`: no links between lines, sub-agents named by their call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .sessions import OPUS, Line, call, cuts, opened, result, text, windows


def printed(kind: str, uuid: str, content: Any, call_id: str | None = None, **more: Any) -> Line:
    message = {"role": kind, "content": content}
    message |= {"id": f"msg-{uuid}", "model": OPUS} if kind == "assistant" else {}
    return {"type": kind, "message": message, "parent_tool_use_id": call_id, "session_id": "s", "uuid": uuid, **more}


LINES: list[Line] = [
    {"type": "system", "subtype": "init", "cwd": "/w", "session_id": "s", "tools": ["Bash"], "uuid": "i"},
    printed("user", "u1", "Look around."),
    printed("assistant", "a1", [call("t1", "Task", prompt="Look."), call("t2", "Task", prompt="Look.")]),
    printed("user", "x1", [text("Look.")], "t1"),
    printed("user", "y1", [text("Look.")], "t2"),
    printed("assistant", "x2", [call("c1")], "t1"),
    printed("assistant", "y2", [text("Nothing.")], "t2"),
    printed("user", "x3", [result("c1")], "t1"),
    printed("assistant", "x4", [text("Seen.")], "t1"),
    printed("user", "r1", [result("t1")]),
    printed("user", "r2", [result("t2")]),
    printed("assistant", "a2", [text("Done.")]),
    {
        "type": "system",
        "subtype": "compact_boundary",
        "session_id": "s",
        "uuid": "b",
        "compact_metadata": {"trigger": "auto", "pre_tokens": 155_000},
    },
    printed("user", "s1", "This session is being continued from a previous conversation.", isSynthetic=True),
    printed("assistant", "a3", [text("Going on.")]),
    {"type": "result", "subtype": "success", "session_id": "s", "uuid": "e", "total_cost_usd": 0.1},
]


@pytest.mark.parametrize("message_last", [False, True])
def test_windows_of_printed_sessions(message_last: bool, tmp_path: Path) -> None:
    order = [{k: x[k] for k in sorted(x, key="message".__eq__)} if message_last else x for x in LINES]
    with opened(tmp_path / "s.jsonl", order) as trace:
        assert windows(trace, "s") == [["u1"], ["u1", "a1", "a1.1", "r1", "r2"], ["s1"], ["s1", "a3"]]
        assert cuts(trace, "s") == [(3, "compact")]
        assert trace.view("s").cuts[0].before == 155_000
        assert trace.view("s").user_turns == 1
        subs = [row for row in trace.sessions if row.parent == "s"]
        assert [row.parent_call for row in subs] == ["t1", "t2"]
        assert windows(trace, subs[0].session) == [["x1"], ["x1", "x2", "x3"], ["x1", "x2", "x3", "x4"]]
        assert windows(trace, subs[1].session) == [["y1"], ["y1", "y2"]]
