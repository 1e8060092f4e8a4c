"""A base's quiet turns: those on which blocks only arrive at the end, as on nearly all turns of a session.

Nobody has to walk over what arrives quietly: a replay begins with all of it in place and touches what a policy changes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ctxview.policies.items import Entry
from ctxview.replay.change import Delta


@dataclass(frozen=True, slots=True)
class Ground:
    """Lists are by turn, from 0 to `now`."""

    opened: Mapping[int, tuple[int, Entry]]
    """Every block that arrives quietly, with the first turn whose window holds it."""
    arrivals: Sequence[Sequence[Entry] | None]
    """What arrives, in order; None where more happens than that, or elsewhere than at the end."""
    tokens: Sequence[int]
    """Tokens of all that has arrived quietly."""
    coming: Sequence[int]
    """Number of blocks that will arrive quietly later."""


def ground_of(deltas: Mapping[int, Delta], now: int) -> Ground:
    """The quiet turns of a base."""
    opened: dict[int, tuple[int, Entry]] = {}
    arrivals: list[Sequence[Entry] | None] = [()] * (now + 1)
    tokens, counts = [0] * (now + 1), [0] * (now + 1)
    known: set[int] = set()
    """Blocks that did not arrive quietly."""
    end = float("-inf")
    for turn in sorted(deltas):
        delta = deltas[turn]
        entries: list[Entry] = []
        top = end
        for n, (entry, _) in delta.items():
            if entry is None or entry.pos <= top or n in opened or n in known:
                break
            entries.append(entry)
            top = entry.pos
        if len(entries) == len(delta):
            arrivals[turn] = entries
            counts[turn] = len(entries)
            total = 0
            for entry in entries:
                opened[entry.n] = (turn, entry)
                total += entry.tokens
            tokens[turn] = total
            end = top
        else:
            arrivals[turn] = None
            known.update(delta)
            end = max([end, *(entry.pos for entry, _ in delta.values() if entry is not None)])
    total, coming = 0, len(opened)
    later = [coming] * (now + 1)
    for turn in range(1, now + 1):
        tokens[turn] = total = total + tokens[turn]
        later[turn] = coming = coming - counts[turn]
    return Ground(opened, arrivals, tokens, later)


def loose(ground: Ground, irregular: Collection[int]) -> dict[int, Delta]:
    """The quiet arrivals that belong to groups which are not whole at all times, by turn: repair has to see them."""
    found: dict[int, Delta] = {}
    if irregular:
        for n, (turn, entry) in ground.opened.items():
            if entry.item.is_paired and entry.item.group in irregular:
                found.setdefault(turn, {})[n] = (entry, None)
    return found
