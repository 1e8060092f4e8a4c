"""What passes between layers: for each changed block its new entry, or None when it left, and why."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from ctxview.model import EditRow
from ctxview.policies.edits import Drop, Drops, Insert, Move, Replace, Tag
from ctxview.policies.items import Entry


class Restored(NamedTuple):
    """The block stands again as the layer's input has it."""

    n: int
    rule: str = "restored"
    reason: str = "the policy no longer touches it"


class Why(NamedTuple):
    """Which layer did it, with its edit."""

    layer: str
    edit: Drop | Drops | Replace | Insert | Move | Tag | Restored


Delta: TypeAlias = dict[int, tuple[Entry | None, Why | EditRow | None]]
"""By block number. The cause is None for arrivals, and the recorded edit itself for the recorded layer's changes."""
