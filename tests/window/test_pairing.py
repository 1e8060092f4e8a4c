"""A view looks at irregular calls and results alone. What it finds is what pairing the whole window finds."""

from __future__ import annotations

import random

import pytest

from ctxview.annotate import pair
from ctxview.model import NEVER, BlockRow, SessionRow, SpanRow, TurnRow
from ctxview.window import SessionView

SESSION = SessionRow("s", None, None, None, "test", None, None, None, None, False, None, None)


def call(turn: int) -> TurnRow:
    return TurnRow(
        turn, "c", None, None, None, "exact", (), 1, None, None, 1, None, False, None, None, False, "f", turn
    )


def random_view(dice: random.Random, turns: int = 12) -> SessionView:
    """Calls and results that come, go, return, stand twice, share ids, change places or lack the other."""
    blocks: list[BlockRow] = []
    spans: list[SpanRow] = []
    for n in range(60):
        kind = dice.choice(("tool_call", "tool_result", "tool_result", "assistant", "user"))
        asked = kind in ("tool_call", "tool_result")
        id_ = dice.choice([None, *(f"t{i}" for i in range(12))]) if asked else None
        role = "assistant" if kind in ("tool_call", "assistant") else "user"
        blocks.append(BlockRow(
            n, f"b{n}", f"m{n}", role, kind, None, id_, False, dice.randrange(3), 1, False, 1, "x", 0, "f",  # type: ignore[arg-type]
            dice.randrange(9), None, None, False, False, False, False, None, None,
        ))  # fmt: skip
        start = dice.choice((0, 1, dice.randrange(1, turns)))
        end = dice.choice((NEVER, dice.randrange(start, turns + 2)))
        spans.append(SpanRow(n, dice.random() * 99, start, end, "verbatim", 0, 1, None))
        if end != NEVER and dice.random() < 0.2:
            spans.append(SpanRow(n, dice.random() * 99, end + 1, NEVER, "verbatim", 0, 1, None))
    for i in range(20):  # and as nearly all are
        for kind, role in (("tool_call", "assistant"), ("tool_result", "user")):
            n = len(blocks)
            blocks.append(BlockRow(
                n, f"b{n}", f"m{n}", role, kind, None, f"r{i}", False, 0, 1, False, 1, "x", 0, "f", n, None, None,  # type: ignore[arg-type]
                False, False, False, False, None, None,
            ))  # fmt: skip
            spans.append(SpanRow(n, 100.0 + n, i // 2, NEVER if i % 3 else i // 2 + 4, "verbatim", 0, 1, None))
    calls = [call(turn) for turn in range(1, turns + 1)]
    return SessionView(SESSION, calls, blocks, spans, (), (), (), lambda content: "x")


@pytest.mark.parametrize("seed", range(40))
def test_the_short_way_finds_what_the_whole_window_shows(seed: int) -> None:
    view = random_view(random.Random(seed))
    for turn in range(1, view.now + 1):
        window = [view.blocks[span.block] for span in view.spans_at(turn)]
        whole = pair(window, pending=turn == view.now)
        assert view.pairing(turn) == whole
        assert view.pairing(turn, view.spans_at(turn)) == whole
        assert not whole.orphans & (set(range(100)) - set(view.irregular))
    assert not set(view.irregular) & set(range(60, 100))


@pytest.mark.parametrize("seed", range(20))
def test_a_view_that_has_not_settled_gives_the_answers_of_one_that_has(seed: int) -> None:
    view, early = (random_view(random.Random(seed)) for _ in range(2))
    for turn in range(1, view.now + 1):
        early.postpone()
        assert early.spans_at(turn) == view.spans_at(turn)
        assert early.pairing(turn) == view.pairing(turn), turn
        assert early.ended_at(turn) == view.ended_at(turn)
        assert early.changes(turn) == view.changes(turn)
        assert early.tokens(turn) == view.tokens(turn)
        assert early.size(turn) == view.size(turn)
    early.postpone()
    assert all(early.life(n) == view.life(n) for n in range(len(view.blocks))), "more questions than it scans for"
    assert not early.settle(lambda: True), "it was stopped"
    assert early.settle()
    assert [early.size(t) for t in range(view.now + 1)] == list(view.sizes)
