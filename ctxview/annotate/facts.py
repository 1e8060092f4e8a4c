"""All facts of one session in one value: what its blocks are pinned for, and what they say of which resource."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ctxview.annotate.note_rules import NoteRules
from ctxview.annotate.observations.queries import Resources, old_from
from ctxview.annotate.observations.rules import DEFAULT
from ctxview.model import Observation, Pin, ResourceChange


@dataclass(frozen=True)
class Facts:
    """Rows in order of arrival. What they say of a turn depends only on what was known by then."""

    pins: tuple[Pin, ...] = ()
    observations: tuple[Observation, ...] = ()
    changes: tuple[ResourceChange, ...] = ()
    stale_after: Mapping[str, int] | None = None
    """Resource type -> turns after which a reading is stale; None for the defaults."""
    note_rules: NoteRules = field(default_factory=NoteRules)
    """Which calls write the ledger."""

    @cached_property
    def by_block(self) -> Mapping[int, tuple[Pin, ...]]:
        """All pins of each block, the most important first."""
        found: dict[int, list[Pin]] = {}
        for pin in self.pins:
            found.setdefault(pin.block, []).append(pin)
        return {n: tuple(sorted(pins, key=lambda p: -p.priority)) for n, pins in found.items()}

    @cached_property
    def first_by_block(self) -> Mapping[int, Pin]:
        """The most important pin of each block."""
        return {n: pins[0] for n, pins in self.by_block.items()}

    def pin_at(self, block: int, turn: int) -> Pin | None:
        """The most important pin that holds for `block` in the window of `turn`."""
        return next((p for p in self.by_block.get(block, ()) if p.since <= turn < p.until), None)

    @cached_property
    def resources(self) -> Resources:
        return Resources(self.observations, self.changes)

    def observation_of(self, block: int) -> Observation | None:
        """The first resource a block speaks of."""
        rows = [row for row in self.resources.by_block.get(block, ()) if row.key is not None]
        return rows[0] if rows else None

    def change_at(self, block: int, turn: int) -> ResourceChange | None:
        """What made all that a block says of resources superseded or stale by `turn`; None while some of it is live.

        A reading that has only grown old is stale, too, with no block to blame.
        """
        rows = [row for row in self.resources.by_block.get(block, ()) if row.key is not None and row.since <= turn]
        if not rows:
            return None
        found = [self.resources.change(row, turn) or self._grown_old(row, turn) for row in rows]
        if any(change is None for change in found):
            return None
        known = [change for change in found if change is not None]
        return next((c for c in known if c.state == "stale"), known[0])

    def old_from(self, row: Observation) -> int | None:
        """The first turn at which a reading has grown old; None for what does not age."""
        return old_from(row, DEFAULT.stale_after if self.stale_after is None else self.stale_after)

    def _grown_old(self, row: Observation, turn: int) -> ResourceChange | None:
        old = self.old_from(row)
        if old is None or turn < old:
            return None
        age = turn - row.turn
        return ResourceChange(row.block, row.key or "", turn, "stale", None, f"{age} turns old: read it again")
