"""When a value was seen: whenever a window brought it, and never where no window held it."""

from __future__ import annotations

from ctxview.ledger import Ledger, LedgerRow
from ctxview.model import NEVER, BlockRow, SessionRow, SpanRow, TurnRow
from ctxview.window import SessionView

SESSION = SessionRow("s", None, None, None, "test", None, None, None, None, False, None, None)
TEXTS = {0: "go", 1: "the build is 4711", 2: "[cleared]"}


def view_of(*stays: tuple[int, int, int]) -> SessionView:
    """Eight turns; one block that arrives in the first and stands in some turns (from, up to) with a text."""
    turns = [
        TurnRow(t, f"c{t}", None, None, None, "exact", (), 1, 0, 0, 1, None, False, None, None, False, "f", t)
        for t in range(1, 9)
    ]
    block = BlockRow(
        0, "b0", "m0", "user", "tool_result", None, None, False, 1, 5, False, 17, TEXTS[1], 1, "f", 1, None, None,
        False, False, False, False, None, None,
    )  # fmt: skip
    spans = [SpanRow(0, 0.0, start, end, "verbatim", content, 5, None) for start, end, content in stays]
    return SessionView(SESSION, turns, [block], spans, [], [], [], TEXTS.__getitem__)


def seen(view: SessionView, turn: int) -> tuple[int | None, int | None, int | None]:
    row = LedgerRow("L1", "the build", "4711", "", 0, "")
    (state,) = Ledger(view, [row]).at(turn)
    return state.first_seen, state.last_seen, state.age


def test_what_came_back_was_seen_again() -> None:
    view = view_of((2, 4, 1), (6, NEVER, 1))
    assert seen(view, 5) == (2, 2, 3)
    assert seen(view, 7) == (2, 6, 1)


def test_a_placeholder_shows_nothing_and_its_end_does() -> None:
    view = view_of((2, 4, 1), (4, 7, 2), (7, NEVER, 1))
    assert seen(view, 6) == (2, 2, 4)
    assert seen(view, 8) == (2, 7, 1)


def test_a_stay_kept_in_two_pieces_is_one_sight() -> None:
    assert seen(view_of((2, 4, 1), (4, NEVER, 1)), 8) == (2, 2, 6)


def test_what_stood_in_no_window_was_not_seen() -> None:
    """As an answer on a branch that was abandoned."""
    view = view_of((3, 3, 1))
    assert seen(view, 8) == (None, None, None)
    assert Ledger(view, [LedgerRow("L1", "the build", "4711", "", None, "")]).survival.never_seen == 1


def test_a_row_without_a_value_has_none_to_lose() -> None:
    assert Ledger(view_of((2, NEVER, 1)), [LedgerRow("L1", "use the new client", "", "", 1, "")]).survival.values == 0
