"""Falls of the recorded size that nothing in the log explains: something left the window and was not written down."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from ctxview.model import CutRow, TurnRow

LEAST_TOKENS: Final = 5_000
LEAST_SHARE: Final = 0.2
"""A fall counts when it is more than both: smaller ones come from reminders and thinking that are not re-sent."""


def find_unexplained(
    turns: Sequence[TurnRow], cuts: Sequence[CutRow], counted: Callable[[int], int]
) -> list[tuple[int, int, int]]:
    """(turn, recorded before, recorded at turn) of each fall that neither a logged cut nor the known blocks explain.

    Only neighbouring turns of one model are compared. `counted(turn)` gives the counted tokens of a window: a fall
    that the rebuilt window shares is explained.
    """
    explained = {c.turn for c in cuts}
    found = []
    for before, after in pairwise(turns):
        if before.recorded is None or after.recorded is None or before.model != after.model:
            continue
        fall = before.recorded - after.recorded
        known = max(0, counted(before.turn) - counted(after.turn))
        if after.turn not in explained and fall - known > max(LEAST_TOKENS, LEAST_SHARE * before.recorded):
            found.append((after.turn, before.recorded, after.recorded))
    return found
