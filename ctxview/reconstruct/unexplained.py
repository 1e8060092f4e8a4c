"""Falls of the recorded size that nothing in the log explains: something left the window and was not written down."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from ctxview.model import CutRow
from ctxview.reconstruct.course import Course

LEAST_TOKENS: Final = 5_000
LEAST_SHARE: Final = 0.2
"""A fall counts when it is more than both: smaller ones come from reminders and thinking that are not re-sent."""


@dataclass(frozen=True, slots=True)
class Fall:
    """The recorded size fell from `before` to `after` at `turn`."""

    turn: int
    before: int
    after: int


def find_unexplained(course: Course, cuts: Sequence[CutRow]) -> list[Fall]:
    """Each fall that neither a logged cut nor the known blocks explain.

    Only neighbouring turns of one model are compared. A fall that the rebuilt windows share is explained.
    """
    explained = {c.turn for c in cuts}
    counted = course.counted()
    found = []
    for turn in range(2, len(course) + 1):
        before, after = course.recorded(turn - 1), course.recorded(turn)
        if before is None or after is None or course.sender(turn - 1)[0] != course.sender(turn)[0]:
            continue
        known = max(0, counted[turn - 1] - counted[turn])
        if turn not in explained and before - after - known > max(LEAST_TOKENS, LEAST_SHARE * before):
            found.append(Fall(turn, before, after))
    return found
