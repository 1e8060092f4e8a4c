"""What policies may know of a session beside its blocks: pins, resources, ledger rows. One small protocol.

Every fact carries the turn from which it is known; a policy at turn t asks with t and can learn nothing later.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol, get_args

from ctxview.model import NEVER, Observation, Pin, PinKind, ResourceChange

PIN_KINDS: Final[tuple[str, ...]] = get_args(PinKind)


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """One row of a findings ledger, as far as policies need it."""

    finding: str
    value: str
    source: str
    since: int
    """First turn whose window can know of it."""
    blocks: tuple[int, ...] = ()
    """Blocks whose content lives on in the row: the note-taking call. Of what was read in its source, the row holds one
    finding only."""

    @property
    def line(self) -> str:
        return " | ".join(part for part in (self.finding, self.value, self.source) if part)


class Facts(Protocol):
    """What a policy may ask."""

    def pins(self, n: int) -> Sequence[Pin]: ...

    def all_pins(self) -> Sequence[Pin]:
        """Every pin of the session; a policy asks each for its turns."""
        ...

    def observations(self, n: int) -> Sequence[Observation]: ...

    def observing(self) -> Collection[int]:
        """The blocks that have observations, of the whole session."""
        ...

    def changes(self, n: int) -> Sequence[ResourceChange]:
        """What became of the observations in block `n`, by `since`."""
        ...

    def ledger(self) -> Sequence[LedgerRow]:
        """All rows, by `since`."""
        ...


@dataclass(frozen=True)
class PlainFacts:
    """Facts as plain mappings."""

    pinned: Mapping[int, Sequence[Pin]] = field(default_factory=dict)
    observed: Mapping[int, Sequence[Observation]] = field(default_factory=dict)
    changed: Mapping[int, Sequence[ResourceChange]] = field(default_factory=dict)
    rows: Sequence[LedgerRow] = ()

    def pins(self, n: int) -> Sequence[Pin]:
        return self.pinned.get(n, ())

    def all_pins(self) -> Sequence[Pin]:
        return [pin for n in sorted(self.pinned) for pin in self.pinned[n]]

    def observations(self, n: int) -> Sequence[Observation]:
        return self.observed.get(n, ())

    def observing(self) -> Collection[int]:
        return self.observed.keys()

    def changes(self, n: int) -> Sequence[ResourceChange]:
        return self.changed.get(n, ())

    def ledger(self) -> Sequence[LedgerRow]:
        return self.rows


def pins_at(facts: Facts, n: int, turn: int) -> list[Pin]:
    """The pins of block `n` that hold at `turn`, the strongest first."""
    found = [p for p in facts.pins(n) if p.since <= turn < (p.until or NEVER)]
    found.sort(key=lambda p: -p.priority)
    return found
