"""What a compaction keeps, and which compactions there were."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from .sessions import Writer, call, cuts, opened, result, text, thinking, windows

PRESERVED: dict[str, Any] = {
    "segment": {"preservedSegment": {"headUuid": "u2", "anchorUuid": "s1", "tailUuid": "a4"}},
    "uuids": {"preservedMessages": {"anchorUuid": "s1", "uuids": ["u2", "a2", "a3", "r2", "a4"]}},
}


@pytest.mark.parametrize("how", PRESERVED)
def test_preserved_calls_keep_all_their_results(how: str, tmp_path: Path) -> None:
    """The result of the first of two parallel calls hangs off its own call, so that no walk names it."""
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1"),
        w.user("u2", "a1"),
        w.answer("a2", "u2", [call("t1")], of="m2"),
        w.answer("a3", "a2", [call("t2")], of="m2"),
        w.user("r1", "a2", [result("t1")]),
        w.user("r2", "a3", [result("t2")]),
        w.answer("a4", "r2", [text("Both are done.")]),
        w.boundary("b", "a4", **PRESERVED[how]),
        w.user("s1", "b", isCompactSummary=True),
        w.user("u5", "s1"),
        w.answer("a5", "u5"),
        w.user("u6", "a1"),
        w.answer("a6", "u6"),
        w.user("u7", "a5"),
        w.answer("a7", "u7"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        seen = windows(trace)
    kept = ["s1", "u2", "a2", "a3", "r1", "r2", "a4"]
    assert seen[3] == [*kept, "u5"]
    assert seen[4] == ["u1", "a1", "u6"]
    assert seen[5] == [*kept, "u5", "a5", "u7"]  # back where it was, and whole


def test_a_boundary_without_a_summary_says_what_is_missing(tmp_path: Path) -> None:
    w = Writer()
    lines = [w.user("u1", None), w.answer("a1", "u1"), w.boundary("b", "a1"), w.user("u2", "b"), w.answer("a2", "u2")]
    lines += [w.boundary("b2", "a2"), w.user("s2", "b2", isCompactSummary=True), w.answer("a3", "s2")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        system = ("system", "tools")
        assert [turn.missing for turn in trace.view().turns] == [system, (*system, "summary"), system]


def test_thinking_without_its_text_is_missing_while_it_stands_in_the_window(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [thinking()], of="m1"),
        w.answer("a2", "a1", [text("Done.")], of="m1"),
        w.user("u2", "a2"),
        w.answer("a3", "u2"),
        w.boundary("b", "a3"),
        w.user("s1", "b", isCompactSummary=True),
        w.answer("a4", "s1"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        system = ("system", "tools")
        assert [turn.missing for turn in trace.view().turns] == [system, (*system, "thinking"), system]


@pytest.mark.parametrize("bounded", [True, False])
def test_a_log_that_starts_with_a_compaction_says_so(bounded: bool, tmp_path: Path) -> None:
    """Its cut is one, though the file holds nothing that it dropped; its first message is nobody's surely stated goal;
    and no window lacks what the compaction took."""
    w = Writer()
    boundary = [w.boundary("b", "elsewhere", preTokens=155_000)] if bounded else []
    summary = w.user("s1", "b" if bounded else None, isCompactSummary=True)
    lines = [*boundary, summary, w.user("u2", "s1", "Fix the parser."), w.answer("a2", "u2")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        view = trace.view()
        assert [(cut.turn, cut.kind, cut.before) for cut in view.cuts] == [(1, "compact", 155_000 if bounded else None)]
        assert [pin.evidence for pin in view.facts.pins if pin.kind == "goal"] == ["inferred"]
        assert [issue.line for issue in trace.issues if "starts inside" in issue.reason] == [1]
        assert view.turns[0].missing == ("system", "tools")


def test_going_back_behind_a_compaction_and_again_is_no_second_compaction(tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1"),
        w.boundary("b", "a1"),
        w.user("s1", "b", isCompactSummary=True),
        w.user("u3", "s1"),
        w.answer("a3", "u3"),
        w.user("w1", None),
        w.answer("aw", "w1"),
        w.user("u4", "a3"),
        w.answer("a4", "u4"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert cuts(trace) == [(2, "compact"), (3, "clear"), (4, "rewind")]
        assert trace.view().cuts[-1].line == 9  # where the person took the branch up again
