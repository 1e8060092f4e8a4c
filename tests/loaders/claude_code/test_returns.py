"""Blocks that come back when a branch is taken up again come back as they were sent last."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxview.loaders.claude_code import tree
from ctxview.loaders.claude_code.lane import CLEARED_ATTACHMENT, CLEARED_TEXT

from .sessions import SONNET, Writer, call, opened, result, text, thinking, windows


def test_what_a_microcompaction_cleared_stays_cleared(tmp_path: Path) -> None:
    """Results and attachments."""
    w = Writer()
    file = {"type": "text", "file": {"filePath": "f", "content": "words of the file"}}
    lines = [
        w.user("u1", None),
        w.attachment("t1", "u1", type="file", filename="f", content=file),
        w.answer("a1", "t1", [call("c1")]),
        w.user("r1", "a1", [result("c1", "long " * 50)]),
        w.answer("a2", "r1"),
        w.microcompact("m", "a2", compactedToolIds=["c1"], clearedAttachmentUUIDs=["t1"]),
        w.user("u3", "m"),
        w.answer("a3", "u3"),
        w.user("u4", "u1"),
        w.answer("a4", "u4"),
        w.user("u5", "a3"),
        w.answer("a5", "u5"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        view = trace.view()
        for turn in (3, 5):
            forms = {row.block.id: (row.span.form, view.text(row.span.content)) for row in view.window(turn)}
            assert forms["r1"] == ("placeholder", CLEARED_TEXT)
            assert forms["t1"] == ("placeholder", CLEARED_ATTACHMENT)
            assert forms["u1"][0] == "verbatim"


@pytest.mark.parametrize("many", [tree.MANY, 0])
def test_thinking_that_was_left_out_stays_out(many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "MANY", many)
    w = Writer(model=SONNET)
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [thinking("T1")], of="m1"),
        w.answer("a2", "a1", [text("x")], of="m1"),
        w.user("u2", "a2"),
        w.answer("a3", "u2"),
        w.user("w1", None),
        w.answer("aw", "w1"),
        w.user("u4", "a3"),
        w.answer("a4", "u4"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace)[1] == ["u1", "a2", "u2"]
        assert windows(trace)[3] == ["u1", "a2", "u2", "a3", "u4"]


def test_thinking_from_before_a_message_that_comes_back_is_left_out(tmp_path: Path) -> None:
    """It left with its branch before the model's API had a reason to."""
    w = Writer(model=SONNET)
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1", [thinking("T1")], of="m1"),
        w.answer("a2", "a1", [text("x")], of="m1"),
        w.user("w1", None),
        w.answer("aw", "w1"),
        w.user("u3", "a2"),
        w.answer("a3", "u3"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace)[2] == ["u1", "a2", "u3"]
