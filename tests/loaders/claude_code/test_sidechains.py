"""Sub-agents that an older client wrote into their session's own file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .sessions import Writer, call, cuts, opened, result, windows

SUB: dict[str, Any] = {"isSidechain": True}


def test_a_compaction_of_a_sub_agent_is_its_own(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [call("t1", "Task", prompt="Look.")]),
        w.user("x1", None, "Look.", **SUB),
        w.answer("x2", "x1", **SUB),
        {**w.boundary("xb", "x2", preTokens=150_000), **SUB},
        w.user("xs", "xb", isCompactSummary=True, **SUB),
        w.answer("x5", "xs", **SUB),
        w.user("r1", "a1", [result("t1")]),
        w.answer("a3", "r1"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        main, sub = (row.session for row in trace.sessions)
        assert windows(trace, sub) == [["x1"], ["xs"], ["xs", "x5"]]
        assert cuts(trace, sub) == [(2, "compact")]
        assert windows(trace, main)[1] == ["u1", "a1", "r1"]


def test_calls_with_one_prompt_start_one_sub_agent_each(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [call("t1", "Task", prompt="Look.")], of="m1"),
        w.answer("a2", "a1", [call("t2", "Task", prompt="Look.")], of="m1"),
        w.user("x1", None, "Look.", **SUB),
        w.user("y1", None, "Look.", **SUB),
        w.answer("x2", "x1", **SUB),
        w.answer("y2", "y1", **SUB),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert [row.parent_call for row in trace.sessions] == [None, "t1", "t2"]


def test_an_api_error_is_reported_of_the_conversation_it_happened_in(tmp_path: Path) -> None:
    w = Writer()
    failed = w.answer("x2", "x1", "API Error: overloaded", isApiErrorMessage=True, **SUB)
    lines = [w.user("u1", None), w.answer("a1", "u1"), w.user("x1", None, "Look.", **SUB), failed]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        sub = next(row.session for row in trace.sessions if row.parent is not None)
        assert [issue.session for issue in trace.issues if "API call failed" in issue.reason] == [sub]
