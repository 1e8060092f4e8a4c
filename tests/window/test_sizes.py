"""Sizes and fidelity of windows that no call recorded."""

from __future__ import annotations

from dataclasses import replace

from ctxview.model import NEVER, BlockRow, Kind, SessionRow, SpanRow, TurnRow
from ctxview.window import SessionView

SESSION = SessionRow("s", None, None, None, "test", None, None, None, 200_000, False, None, None)


def call(turn: int, recorded: int | None) -> TurnRow:
    return TurnRow(
        turn,
        "c",
        None,
        None,
        None,
        "reconstructed",
        (),
        recorded,
        None,
        None,
        1,
        None,
        False,
        None,
        None,
        False,
        "f",
        turn,
    )


def view_of(turns: list[TurnRow], *blocks: tuple[Kind, int, int]) -> SessionView:
    """Blocks by kind, tokens and the first turn whose window holds them."""
    rows = [
        BlockRow(
            n, f"b{n}", f"m{n}", "user", kind, None, None, False, n, tokens, False, 1, "x", start - 1, "f", n, None,
            None, False, False, False, False, None, None,
        )
        for n, (kind, tokens, start) in enumerate(blocks)
    ]  # fmt: skip
    spans = [SpanRow(n, n, start, NEVER, "verbatim", n, tokens, None) for n, (_, tokens, start) in enumerate(blocks)]
    return SessionView(SESSION, turns, rows, spans, [], [], [], str)


def test_a_window_that_grew_beyond_the_limit_since_the_last_call_does_not_fit() -> None:
    """What was sent and never logged does not vanish because the next call has not been made."""
    view = view_of([call(1, 191_000)], ("user", 1_000, 1), ("tool_result", 60_000, 2))
    assert view.fits(1)
    assert not view.fits(view.now)


def test_a_call_without_usage_sent_what_was_never_logged_too() -> None:
    view = view_of([call(1, 150_000), call(2, None)], ("user", 1_000, 1), ("tool_result", 60_000, 2))
    assert not view.fits(2)
    assert view_of([call(1, None), call(2, None)], ("user", 1_000, 1), ("tool_result", 60_000, 2)).fits(2)


def test_what_no_request_has_sent_yet_is_not_known_exactly() -> None:
    view = view_of([call(1, 10)], ("user", 5, 1))
    sent = SessionView(SESSION, [replace(view.turns[0], fidelity="exact")], view.blocks, view.spans, [], [], [], str)
    assert (sent.fidelity, sent.fidelity_at(1), sent.fidelity_at(sent.now)) == ("exact", "exact", "reconstructed")
