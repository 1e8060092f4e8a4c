"""What passes between layers: for each changed block its new entry, or None when it left, and why."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple, TypeAlias

from ctxview.model import EditRow
from ctxview.policies.edits import Drop, Drops, Insert, Move, Renew, Replace, Restored, Tag
from ctxview.policies.items import Entry
from ctxview.policies.step import Shed


class Why(NamedTuple):
    """Which layer did it, with its edit."""

    layer: str
    edit: Drop | Drops | Replace | Insert | Renew | Move | Tag | Restored


class Renewals(NamedTuple):
    """The cause of many renewals of one marker: that of each is made when it is read."""

    layer: str
    shed: Shed

    def on(self, turn: int) -> Why:
        shed = self.shed
        index = bisect_left(shed.turns, turn)
        news = shed.messages.ns[shed.bounds[index] : shed.bounds[index + 1]]
        return Why(self.layer, shed.insert(index).make(shed.numbers[index], news))


Delta: TypeAlias = dict[int, tuple[Entry | None, Why | EditRow | None]]
"""By block number. The cause is None for arrivals, and the recorded edit itself for the recorded layer's changes."""
