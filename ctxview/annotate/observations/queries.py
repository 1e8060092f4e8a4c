"""Questions to the rows: what state an observation is in, what is current, which versions stand side by side.

It prevents policies, checks and screens from each having an idea of "stale": they ask here. Nothing is stored, and
what a turn is told depends only on what was known by then. The functions build an index each time; `Resources` keeps
it for many questions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from ctxview.annotate.observations.keys import type_of
from ctxview.annotate.observations.rules import DEFAULT, DEFAULT_TYPE, STALE_AFTER
from ctxview.model import Observation, ResourceChange, ResourceState

HOLDS_CONTENT: Final = ("read", "write")
"""Effects whose block shows the resource."""

_BEST_FIRST: Final[tuple[ResourceState, ...]] = ("live", "stale", "superseded")


@dataclass(frozen=True, slots=True)
class Reread:
    """The same lines were read again although nothing had changed and the earlier reading stood in the window."""

    block: int
    earlier: int
    key: str
    turn: int
    """The turn that asked again."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """An event was done again with the same arguments. Blocks are those of the results."""

    block: int
    earlier: int
    turn: int
    """The turn that asked again."""


class Resources:
    """The observations and changes of one session, by resource and by block."""

    def __init__(self, observations: Iterable[Observation], changes: Iterable[ResourceChange]) -> None:
        self.by_key: dict[str, list[Observation]] = {}
        self.by_block: dict[int, list[Observation]] = {}
        self.events: list[Observation] = []
        for row in observations:
            self.by_block.setdefault(row.block, []).append(row)
            if row.key is None:
                self.events.append(row)
            else:
                self.by_key.setdefault(row.key, []).append(row)
        self._changes: dict[tuple[int, str], list[ResourceChange]] = {}
        for change in changes:
            self._changes.setdefault((change.block, change.key), []).append(change)

    def change(self, row: Observation, turn: int) -> ResourceChange | None:
        """What made the observation what it is at `turn`; None while it is live. Superseded outranks stale."""
        known = [c for c in self._changes.get((row.block, row.key or ""), ()) if c.since <= turn]
        return max(known, key=lambda c: c.state == "superseded", default=None)

    def state(self, row: Observation, turn: int) -> ResourceState | None:
        """The observation's state in the window of `turn`; None while it is not known yet."""
        if turn < row.since:
            return None
        change = self.change(row, turn)
        return change.state if change else "live"

    def state_at(self, block: int, turn: int, key: str | None = None) -> ResourceState | None:
        """The state of what a block says, of resource `key` where it speaks of several.

        Of several, the best one: a block may only be taken out when nothing in it is current. None for a block that
        says nothing of any resource by then.
        """
        rows = (row for row in self.by_block.get(block, ()) if key is None or row.key == key)
        states = {self.state(row, turn) for row in rows}
        return next((state for state in _BEST_FIRST if state in states), None)

    def known(self, key: str, turn: int) -> list[Observation]:
        """What is known of a resource in the window of `turn`, in order of arrival."""
        return [row for row in self.by_key.get(key, ()) if row.since <= turn]

    def current(self, key: str, turn: int) -> Observation | None:
        """The newest observation that shows the resource and that nothing took the place of; it may be stale.

        A whole one before a part. None when an edit was the last word, or nothing was seen.
        """
        standing = [
            row
            for row in self.known(key, turn)
            if row.effect in HOLDS_CONTENT and self.state(row, turn) != "superseded"
        ]
        whole = [row for row in standing if row.first is None]
        return next(reversed(whole or standing), None)

    def versions_in(self, blocks: Collection[int], turn: int) -> dict[str, list[Observation]]:
        """Resources of which the window holds versions that contradict each other, with these versions, oldest first.

        Equal contents count once, as their newest copy. Parts that share no line are no versions of each other; parts
        that share some are when the older one was replaced or made stale meanwhile.
        """
        shown: dict[str, list[Observation]] = {}
        for block in sorted(blocks):
            for row in self.by_block.get(block, ()):
                if row.key is not None and row.content is not None and row.since <= turn and row.effect != "edit":
                    shown.setdefault(row.key, []).append(row)
        found = {}
        for key, rows in shown.items():
            distinct = {(row.content, row.first, row.last): row for row in rows}
            ordered = sorted(distinct.values(), key=lambda row: (row.since, row.block))
            against = [
                row for row in ordered if any(self._contradict(row, other, turn) for other in ordered if other != row)
            ]
            if len(against) > 1:
                found[key] = against
        return found

    def _contradict(self, a: Observation, b: Observation, turn: int) -> bool:
        if a.content == b.content or not _share_lines(a, b):
            return False
        if (a.first, a.last) == (b.first, b.last):
            return True
        older = min(a, b, key=lambda row: (row.since, row.block))
        return self._changed_meanwhile(older, turn)

    def _changed_meanwhile(self, row: Observation, turn: int) -> bool:
        """Whether the resource itself changed after the observation, rather than being read again."""
        changes = [c for c in self._changes.get((row.block, row.key or ""), ()) if c.since <= turn]
        return any(c.state == "stale" or c.reason in ("edited", "written anew") for c in changes)

    def only_acknowledged(self, blocks: Collection[int], turn: int) -> dict[str, Observation]:
        """Resources of which the window holds an acknowledgement and no content at all, with that acknowledgement."""
        acks: dict[str, Observation] = {}
        content: set[str] = set()
        for block in blocks:
            for row in self.by_block.get(block, ()):
                if row.key is None or row.since > turn:
                    continue
                if row.effect == "ack":
                    if row.key not in acks or acks[row.key].block < row.block:
                        acks[row.key] = row
                elif row.content is not None or row.effect in ("read", "edit"):
                    content.add(row.key)
        return {key: row for key, row in acks.items() if key not in content}

    def wasteful_rereads(self, stands: Callable[[int, int], bool]) -> Iterator[Reread]:
        """Readings of what an earlier one still showed. `stands(block, turn)`: was it in that turn's window?

        The earlier one must have been live in the window of the turn that asked again, hold all lines asked for, and
        agree with what came: a reading that a cut took away, or that brought something new, is no waste.
        """
        for key, rows in self.by_key.items():
            for at, row in enumerate(rows):
                if row.effect != "read" or row.call is None:
                    continue
                earlier = self._still_shown(rows[:at], row, stands)
                if earlier is not None:
                    yield Reread(row.block, earlier.block, key, row.turn)

    def _still_shown(
        self, before: list[Observation], row: Observation, stands: Callable[[int, int], bool]
    ) -> Observation | None:
        for old in reversed(before):
            if old.effect not in HOLDS_CONTENT or old.content is None or row.content is None or old.turn >= row.turn:
                continue
            if not _covers(old, row) or self.state(old, row.turn) != "live" or not stands(old.block, row.turn):
                continue
            if (old.first, old.last) == (row.first, row.last):
                return old if old.content == row.content else None
            found = self._changes.get((old.block, old.key or ""), ())
            changed = any(c.because == row.block and c.state == "stale" for c in found)
            return None if changed else old
        return None

    def repeated_events(self) -> Iterator[Repeat]:
        """Events done again with the same arguments, each with the one before it."""
        last: dict[str, Observation] = {}
        for row in self.events:
            if row.content is None:
                continue
            if row.content in last:
                yield Repeat(row.block, last[row.content].block, row.turn)
            last[row.content] = row


def old_from(observation: Observation, thresholds: Mapping[str, int] = DEFAULT.stale_after) -> int | None:
    """The first turn at which a reading is so old that it should be read again; None for events, edits and notes, which
    do not age."""
    if observation.key is None or observation.effect not in HOLDS_CONTENT:
        return None
    threshold = thresholds.get(type_of(observation.key), thresholds.get(DEFAULT_TYPE, STALE_AFTER))
    return max(observation.since, observation.turn + threshold)


def stale_by_age(observation: Observation, turn: int, thresholds: Mapping[str, int] = DEFAULT.stale_after) -> bool:
    """Whether a reading is so old at `turn` that it should be read again."""
    old = old_from(observation, thresholds)
    return old is not None and turn >= old


def state_at(
    observations: Iterable[Observation],
    changes: Iterable[ResourceChange],
    block: int,
    turn: int,
    key: str | None = None,
) -> ResourceState | None:
    """See `Resources.state_at`."""
    return Resources(observations, changes).state_at(block, turn, key)


def versions_in(
    observations: Iterable[Observation], changes: Iterable[ResourceChange], window_blocks: Collection[int], turn: int
) -> dict[str, list[Observation]]:
    """See `Resources.versions_in`."""
    return Resources(observations, changes).versions_in(window_blocks, turn)


def current(
    observations: Iterable[Observation], changes: Iterable[ResourceChange], key: str, turn: int
) -> Observation | None:
    """See `Resources.current`."""
    return Resources(observations, changes).current(key, turn)


def wasteful_rereads(
    observations: Iterable[Observation], changes: Iterable[ResourceChange], stands: Callable[[int, int], bool]
) -> list[Reread]:
    """See `Resources.wasteful_rereads`."""
    return list(Resources(observations, changes).wasteful_rereads(stands))


def _share_lines(a: Observation, b: Observation) -> bool:
    if a.first is None or a.last is None or b.first is None or b.last is None:
        return True
    return a.first <= b.last and b.first <= a.last


def _covers(a: Observation, b: Observation) -> bool:
    if a.first is None or a.last is None:
        return True
    return b.first is not None and b.last is not None and a.first <= b.first and b.last <= a.last
