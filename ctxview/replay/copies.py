"""Windows that contradict themselves: two readings of the same lines stand in one, and they differ.

A reading counts while it stands in its own words; flagged as old it warns of itself. Parts of different lines cannot be
compared and count for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, TypeAlias

from ctxview.model import NEVER, Observation
from ctxview.policies.facts import Facts
from ctxview.replay.presence import running
from ctxview.window import SessionView
from ctxview.window.absence import Stretch, joined

_CONTENT: Final = ("read", "write")
_Lines: TypeAlias = tuple[str, int | None, int | None]
"""A resource and the first and last line of it that were read; None for all of it."""


def contradictions(view: SessionView, facts: Facts, blocks: int) -> Sequence[int]:
    """By turn, 0 .. now: resources of which two or more differing versions stand, one of them superseded.

    `blocks`: number of the session's own blocks.
    """
    readings: dict[_Lines, list[Observation]] = {}
    for n in sorted(facts.observing()):
        for row in facts.observations(n) if n < blocks else ():
            if row.key is not None and row.content is not None and row.effect in _CONTENT:
                readings.setdefault((row.key, row.first, row.last), []).append(row)
    spoiled: dict[str, list[Stretch]] = {}
    for (key, _, _), rows in readings.items():
        if len({row.content for row in rows}) > 1:
            spoiled.setdefault(key, []).extend(_differing(view, facts, rows))
    deltas = [0] * (view.now + 2)
    for stretches in spoiled.values():
        for start, end in joined(stretches, 1, view.now + 1):
            deltas[start] += 1
            deltas[end] -= 1
    return running(deltas)


def _differing(view: SessionView, facts: Facts, rows: Sequence[Observation]) -> list[Stretch]:
    """The stretches of turns on which readings of the same lines differ."""
    events: dict[int, list[tuple[str, int, bool]]] = {}
    """By turn: a content, how many copies more or fewer stand, and whether they are superseded."""
    for row in rows:
        since = min((c.since for c in facts.changes(row.block) if _supersedes(c.state, c.key, row)), default=NEVER)
        for span in view.life(row.block):
            if span.form != "verbatim" and span.content != view.blocks[row.block].content:
                continue
            a, b = max(1, span.start), min(span.end, view.now + 1)
            for start, end, is_old in ((a, min(b, since), False), (max(a, since), b, True)):
                if start < end:
                    events.setdefault(start, []).append((row.content or "", 1, is_old))
                    events.setdefault(end, []).append((row.content or "", -1, is_old))
    copies: Counter[str] = Counter()
    old, begun = 0, 0
    found = []
    for turn in sorted(events):
        for content, count, is_old in events[turn]:
            copies[content] += count
            old += count if is_old else 0
            if not copies[content]:
                del copies[content]
        differs = len(copies) > 1 and old > 0
        if differs and not begun:
            begun = turn
        elif begun and not differs:
            found.append((begun, turn))
            begun = 0
    return found


def _supersedes(state: str, key: str, row: Observation) -> bool:
    return state == "superseded" and key == row.key
