"""Falls of the recorded size that nothing in the log explains: something left the window and was not written down."""

from __future__ import annotations

from bisect import bisect_right
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
    """The recorded size fell from `before`, at the last turn that has one, to `after` at `turn`."""

    turn: int
    before: int
    after: int


def find_unexplained(course: Course, cuts: Sequence[CutRow]) -> list[Fall]:
    """Each fall that neither a logged cut nor the known blocks explain.

    A turn is compared with the last one before it that recorded its size, if the model is the same. A fall that the
    rebuilt windows share is explained, so that a rewind explains what it dropped. A cut that took what nobody can
    count explains any fall: a compaction, content cleared, a captured request that is shorter.
    """
    explained = sorted(c.turn for c in cuts if c.kind != "rewind")
    counted = course.counted()
    found = []
    last: int | None = None
    for turn in range(1, len(course) + 1):
        after = course.recorded(turn)
        if after is None:
            continue
        earlier, last = last, turn
        if earlier is None or course.sender(earlier)[0] != course.sender(turn)[0]:
            continue
        before = course.recorded(earlier) or 0
        known = max(0, counted[earlier] - counted[turn])
        is_cut = bisect_right(explained, earlier) < bisect_right(explained, turn)
        if not is_cut and before - after - known > max(LEAST_TOKENS, LEAST_SHARE * before):
            found.append(Fall(turn, before, after))
    return found
