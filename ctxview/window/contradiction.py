"""Windows that contradict themselves: two readings of the same lines stand in one, and they differ.

One rule for the screen and for `replay`. A reading counts while it stands in its own words; flagged as old it warns of
itself. Readings of other lines count where a line that both hold was seen to differ, which is when the later one made
the earlier one stale; else they cannot be compared and count for nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, TypeAlias

from ctxview.model import NEVER, Observation
from ctxview.window.view import SessionView

_CONTENT: Final = ("read", "write")
_Lines: TypeAlias = tuple[str, int | None, int | None]
"""A resource and the first and last line of it that were read; None for all of it."""
_Since: TypeAlias = Mapping[tuple[int, str], int]
"""The turn since which a block's reading of a resource is superseded."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Differing readings of the same lines stand, one of them superseded or made stale by the other."""

    key: str
    """The resource."""
    start: int
    """The first window in which they stand."""
    end: int
    """The first window after it in which they do not, else the turn after `now`."""
    versions: int
    """How many differ in the first window."""
    block: int
    """The oldest reading in the first window that is no longer true, by `BlockRow.n`."""


def contradictions(view: SessionView, blocks: int) -> list[Contradiction]:
    """By resource and lines, each stretch of turns by itself.

    `blocks`: number of the session's own blocks; those above were put in.
    """
    readings: dict[_Lines, list[Observation]] = {}
    for n, rows in sorted(view.facts.resources.by_block.items()):
        for row in rows if n < blocks else ():
            if row.key is not None and row.content is not None and row.effect in _CONTENT:
                readings.setdefault((row.key, row.first, row.last), []).append(row)
    since: dict[tuple[int, str], int] = {}
    for change in view.facts.changes:
        if change.state == "superseded":
            at = (change.block, change.key)
            since[at] = min(change.since, since.get(at, NEVER))
    found = []
    for (key, _, _), rows in readings.items():
        if len({row.content for row in rows}) > 1:
            found += _differing(view, key, rows, since)
    found += _seen_to_differ(view, blocks)
    return found


def _seen_to_differ(view: SessionView, blocks: int) -> Iterator[Contradiction]:
    """The stretches of turns on which a reading stands beside one of some of its lines that made it stale."""
    for change in view.facts.changes:
        newer = change.because
        if change.state != "stale" or newer is None or max(newer, change.block) >= blocks:
            continue
        rows = view.facts.resources.by_block.get(newer, ())
        if not any(row.key == change.key and row.effect in _CONTENT for row in rows):
            continue
        for old, new in product(_own_stays(view, change.block), _own_stays(view, newer)):
            start, end = max(old[0], new[0], change.since), min(old[1], new[1])
            if start < end:
                yield Contradiction(change.key, start, end, 2, change.block)


def _own_stays(view: SessionView, block: int) -> list[tuple[int, int]]:
    """The stretches of turns, `now` included, on which a block stands in its own words."""
    own = view.blocks[block].content
    stays = [s for s in view.life(block) if s.form == "verbatim" or s.content == own]
    return [(max(1, s.start), min(s.end, view.now + 1)) for s in stays]


def _differing(view: SessionView, key: str, rows: Sequence[Observation], since: _Since) -> list[Contradiction]:
    """The stretches of turns on which readings of the same lines differ."""
    events: dict[int, list[tuple[Observation, int, bool]]] = {}
    """By turn: a reading, how many copies more or fewer stand, and whether they are superseded."""
    for row in rows:
        old_from = since.get((row.block, key), NEVER)
        for a, b in _own_stays(view, row.block):
            for start, end, is_old in ((a, min(b, old_from), False), (max(a, old_from), b, True)):
                if start < end:
                    events.setdefault(start, []).append((row, 1, is_old))
                    events.setdefault(end, []).append((row, -1, is_old))
    copies: Counter[str | None] = Counter()
    old: Counter[int] = Counter()
    begun: tuple[int, int, int] | None = None
    found = []
    for turn in sorted(events):
        for row, count, is_old in events[turn]:
            copies[row.content] += count
            if not copies[row.content]:
                del copies[row.content]
            if is_old:
                old[row.block] += count
                if not old[row.block]:
                    del old[row.block]
        differs = len(copies) > 1 and bool(old)
        if differs and begun is None:
            begun = (turn, len(copies), min(old))
        elif begun is not None and not differs:
            found.append(Contradiction(key, begun[0], turn, *begun[1:]))
            begun = None
    return found
