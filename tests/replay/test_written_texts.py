"""What policies write is true: ages, what lives on elsewhere, and what a pointer points to."""

from __future__ import annotations

import json

import pytest

from ctxview.model import Observation, ResourceChange
from ctxview.policies import parse_stack
from ctxview.policies.facts import LedgerRow
from ctxview.replay import Replay, ViewFacts, replay
from ctxview.report.show import show_report
from ctxview.window import SessionView
from ctxview.window.diff import diff_windows

from .sessions import Script, shown, with_facts, words


def under(view: SessionView, stack: str, naive: bool = False) -> Replay:
    return replay(view, parse_stack(stack), count=words, naive=naive)


def read_once(turns: int) -> tuple[SessionView, str]:
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    result = script.result("c1", "the text says {age}")
    for _ in range(turns):
        script.call()
        script.say("a")
        script.user("b")
    script.call()
    view = script.view()
    return with_facts(view, (), [Observation(view.block(result).n, "file:A", "read", 1, 2, content="1")]), result


@pytest.mark.parametrize("naive", [False, True])
def test_a_flag_says_how_old_a_reading_is_on_each_turn(naive: bool) -> None:
    source, result = read_once(5)
    view = under(source, "stale:turns=2:text=age", naive).view
    for turn in (3, 4, 5, 6):
        text = next(text for block, _, text in shown(view, turn) if block == result)
        assert text == f"[stale: read {turn - 1} turns ago; read it again before you rely on it]\nthe text says {{age}}"
        told = next(b["text"] for b in show_report(view, turn)["blocks"] if b["id"] == result)
        assert told == text
    assert len(view.life(view.block(result).n)) == 2  # as it was, and flagged
    assert diff_windows(view, 4, view, 5).prefix.breaks_at is not None


def written_twice() -> SessionView:
    """A file is written, then written again with other content."""
    script = Script()
    script.user("goal")
    for number, content in enumerate(("ALPHA", "BETA")):
        script.call()
        script.use(f"w{number}", "write", json.dumps({"path": "f", "content": f"{content} " * 200}))
        script.result(f"w{number}", "ok", tool="write")
    for _ in range(3):
        script.call()
        script.say("x")
        script.user("go")
    script.call()
    view = script.view()
    first, second = (b.n for b in view.blocks if b.kind == "tool_call")
    rows = [
        Observation(first, "file:f", "write", 1, 2, content="1"),
        Observation(second, "file:f", "write", 2, 3, content="2"),
    ]
    return with_facts(view, (), rows, [ResourceChange(first, "file:f", 3, "superseded", second, "written again")])


def test_only_what_is_still_in_a_file_is_said_to_be_in_it() -> None:
    view = under(written_twice(), "shed-persisted:max=300").view
    calls = [text for _, _, text in shown(view, 5) if text.startswith("{")]
    assert "ALPHA" in calls[0]
    assert json.loads(calls[1])["content"] == "[persisted in file:f]"


def read_twice(key: str = "file:/src/adb.py") -> SessionView:
    """One reading early, the same one late."""
    script = Script()
    script.user("goal")
    script.call()
    script.use("c1")
    script.result("c1", "secret " * 100)
    for number in range(4):
        script.call()
        script.say(f"s{number}")
        script.user(f"u{number}")
    script.call()
    script.use("c2")
    script.result("c2", "secret " * 100)
    script.call()
    script.say("z")
    script.user("q")
    script.call()
    view = script.view()
    rows = [
        Observation(b.n, key, "read", b.turn, b.turn + 1, content="1") for b in view.blocks if b.kind == "tool_result"
    ]
    return with_facts(view, (), rows)


@pytest.mark.parametrize("trim", ["pin-goal:n=6", "keep-last-n:n=7:repair=yes", "offload:over=50:lines=0"])
def test_no_pointer_points_to_what_another_policy_took(trim: str) -> None:
    source = read_twice()
    for turn in range(1, source.now + 1):
        for order in (f"already-read:needs=nothing,{trim}", f"{trim},already-read:needs=nothing"):
            view = under(source, order).view
            standing = {w.block.id: w.span.form for w in view.window(turn)}
            for _, _, text in shown(view, turn):
                if text.startswith("[already read"):
                    assert standing.get(text.rstrip("]").split(" see ")[1]) in ("verbatim", "flagged"), (turn, order)
    alone = under(source, "already-read:needs=nothing").view
    assert any(text.startswith("[already read at turn 1") for _, _, text in shown(alone, alone.last))


@pytest.mark.parametrize(
    ("source", "is_of"),
    [("db", False), ("b.py", False), ("adb.py", True), ("./src/adb.py", True), ("/src/adb.py:3", True), ("", False)],
)
def test_a_ledger_row_is_of_a_file_whose_path_ends_with_its_source(source: str, is_of: bool) -> None:
    view = read_twice()
    facts = ViewFacts(view, [LedgerRow("limit", "5", source, 1)])
    done = replay(view, parse_stack("already-read"), facts, count=words)
    assert any("limit | 5" in text for _, _, text in shown(done.view, view.last)) == is_of
