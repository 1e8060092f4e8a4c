"""How old the oldest block of each window is, and for how long a pin has not been seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ctxview.replay.presence import PinStay
from ctxview.window import SessionView
from ctxview.window.table import column

_FIXED: Final = ("system", "tools")


def oldest(view: SessionView) -> Sequence[int | None]:
    """By turn, 0 .. now: turns since the oldest block of the window came, system text and tool schemas aside; None for
    a window without any other."""
    kinds, came = column(view.blocks, "kind"), column(view.blocks, "turn")
    spans = zip(column(view.spans, "block"), column(view.spans, "start"), column(view.spans, "end"))
    stays = ((came[n], start, end) for n, start, end in spans if kinds[n] not in _FIXED)
    return [None if least is None else max(0, t - least) for t, least in enumerate(_least(stays, view.now))]


def unseen(pins: Iterable[PinStay], now: int) -> Sequence[int]:
    """By turn, 0 .. now: turns since the window that last held a pin which this one lacks, or since the pin became
    known; of several the most. 0 when nothing is missing."""
    gaps = ((start - 1, start, end) for pin in pins for start, end in pin.gaps(now))
    return [0 if seen is None else t - seen for t, seen in enumerate(_least(gaps, now))]


def _least(stays: Iterable[tuple[int, int, int]], now: int) -> Sequence[int | None]:
    """By turn, 0 .. now: the least value among (value, start, end) that hold then. Each turn is settled once."""
    found: list[int | None] = [None] * (now + 1)
    following = list(range(now + 2))
    """The next turn at or after each that is not settled, as far as is known."""
    for value, start, end in sorted(stays):
        turn = _open(following, max(1, start))
        while turn < min(end, now + 1):
            found[turn] = value
            following[turn] = turn + 1
            turn = _open(following, turn)
    return found


def _open(following: list[int], turn: int) -> int:
    turn = min(turn, len(following) - 1)
    while following[turn] != turn:
        following[turn] = following[following[turn]]
        turn = following[turn]
    return turn
