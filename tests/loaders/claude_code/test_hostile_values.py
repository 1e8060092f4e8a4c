"""Values that no client would write: they cost themselves, never the file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxview.loaders.claude_code import tree

from .sessions import Line, Writer, cuts, opened, windows


def test_counters_that_cannot_be_are_no_counters(tmp_path: Path) -> None:
    """Three of them would not fit 63 bits."""
    w = Writer()
    usage = {"input_tokens": 2**62, "cache_read_input_tokens": 2**62, "cache_creation_input_tokens": 2**62}
    lines = [w.user("u1", None), w.answer("a1", "u1", usage=usage), w.user("u2", "a1"), w.answer("a2", "u2")]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert [turn.recorded for turn in trace.view().turns] == [None, None]


@pytest.mark.parametrize("size", [-5, True, 1.5, 2**70])
def test_a_size_that_is_no_count_is_not_a_cuts_size(size: object, tmp_path: Path) -> None:
    w = Writer()
    lines = [
        w.user("u1", None),
        w.answer("a1", "u1"),
        w.boundary("b", "a1", preTokens=size),
        w.user("s1", "b", isCompactSummary=True),
        w.answer("a2", "s1"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert [cut.before for cut in trace.view().cuts] == [None]


def nested(line: Line) -> str:
    """As deep as a line may be, with the reader's own objects around it."""
    return json.dumps(line).replace('"@"', "[" * 990 + "1" + "]" * 990)


@pytest.mark.parametrize("many", [tree.MANY, 0])
def test_deep_values_do_not_stop_the_reading(many: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In attachments and in a boundary's metadata, held in memory or put away on disk."""
    monkeypatch.setattr(tree, "MANY", many)
    w = Writer()
    lines: list[Line | str] = [
        w.user("u1", None),
        nested(w.attachment("t1", "u1", type="file", filename="f", content={"x": "@"})),
        nested(w.attachment("t2", "t1", type="task_reminder", content=["@"])),
        w.answer("a1", "t2"),
        nested(w.boundary("b", "a1", x="@")),
        w.user("s1", "b", isCompactSummary=True),
        w.answer("a2", "s1"),
        w.boundary("b2", "a2"),
        w.user("s2", "b2", isCompactSummary=True),
        w.answer("a3", "s2"),
    ]
    with opened(tmp_path / "s.jsonl", lines) as trace:
        assert windows(trace) == [["u1", "t1", "t2"], ["s1"], ["s2"], ["s2", "a3"]]
        assert cuts(trace) == [(2, "compact"), (3, "compact")]
