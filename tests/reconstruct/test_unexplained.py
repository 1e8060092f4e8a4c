"""Falls of the recorded size that nothing in the log explains."""

from __future__ import annotations

import pytest

from ctxview.model import NEVER, CutKind, CutRow, TurnRow
from ctxview.reconstruct import Course, Fall, find_unexplained


def turn(number: int, size: int | None) -> TurnRow:
    return TurnRow(
        turn=number, call=f"m{number}", model="claude-demo-5", client=None, at=None, fidelity="reconstructed",
        missing=(), input=size, cache_read=None, cache_write=None, output=1, reasoning=None, output_partial=False,
        stop_reason=None, error=None, inherited=False, file="s.jsonl", line=number,
    )  # fmt: skip


def course(*sizes: int | None) -> Course:
    made = Course()
    for number, size in enumerate(sizes, 1):
        made.add_turn(turn(number, size))
    made.add_span(1, NEVER, 50_000, "user")
    return made


def cut(kind: CutKind, at: int) -> CutRow:
    return CutRow(
        n=0, turn=at, kind=kind, trigger=None, before=None, after=None, dropped=1, kept=1, summary_tokens=None,
        file="s.jsonl", line=1,
    )  # fmt: skip


def test_a_fall_across_a_turn_without_a_size_is_seen() -> None:
    assert find_unexplained(course(903_000, None, 275_000, 275_100), []) == [Fall(3, 903_000, 275_000)]
    assert find_unexplained(course(903_000, None, 275_000), [cut("compact", 2)]) == []
    assert find_unexplained(course(903_000, None, 275_000), [cut("compact", 1)]) == [Fall(3, 903_000, 275_000)]


@pytest.mark.parametrize("dropped", [10, 500_000])
def test_a_rewind_explains_what_it_dropped_and_no_more(dropped: int) -> None:
    made = course(902_000, 903_000, 275_000)
    made.add_span(1, 3, dropped, "user")
    found = find_unexplained(made, [cut("rewind", 3)])
    assert found == ([Fall(3, 903_000, 275_000)] if dropped == 10 else [])
