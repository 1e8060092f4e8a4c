"""A plan by increments, for policies whose plan looks at a whole window but changes little of it from turn to turn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from ctxview.policies.edits import Drops, Edit, Insert, Numbered
from ctxview.policies.facts import Facts
from ctxview.policies.items import Entry

if TYPE_CHECKING:
    from ctxview.policies.policy import Context


class Restart(Exception):
    """A step cannot go on from what it remembers: feed a new one everything that stands."""


class Messages:
    """The wire messages of a stretch, in flat lists."""

    def __init__(self, arrivals: Sequence[Sequence[Entry]], with_system: bool) -> None:
        self.entries: list[Entry] = []
        """Message by message."""
        self.ns: list[int] = []
        """Their block numbers."""
        self.offsets: list[int] = []
        """Where in `ns` each message begins."""
        self.counts: list[int] = []
        """By turn: messages that have begun."""
        self.lengths: list[int] = []
        """By turn: entries that have come."""
        last: str | None = None
        for entries in arrivals:
            for entry in entries:
                item = entry.item
                key = item.key
                if key is None:
                    continue
                if with_system or item.row.kind != "system":
                    if key != last:
                        self.offsets.append(len(self.ns))
                    self.entries.append(entry)
                    self.ns.append(item.n)
                last = key
            self.counts.append(len(self.offsets))
            self.lengths.append(len(self.ns))

    @cached_property
    def sums(self) -> list[int]:
        """Tokens of the entries before each, and of all."""
        return list(accumulate((e.tokens for e in self.entries), initial=0))


class Stretch:
    """The first turns of a session, up to the first on which more happens than that blocks arrive at the end."""

    def __init__(
        self, arrivals: Sequence[Sequence[Entry]], arrived: Mapping[int, tuple[int, Entry]]
    ) -> None:
        """`arrivals`: what arrives, by turn; index 0 is empty. `arrived`: the same by block, with its turn; it may name
        later ones, too."""
        self.arrivals = arrivals
        self.arrived = arrived

    @cached_property
    def messages(self) -> Messages:
        """Wire messages without the system prompt."""
        return Messages(self.arrivals, False)

    @cached_property
    def all_messages(self) -> Messages:
        """Wire messages, the system prompt's among them."""
        return Messages(self.arrivals, True)


@dataclass(frozen=True, slots=True)
class Shed:
    """What a stretch comes to where messages only leave, oldest first: in flat lists, for turn after turn."""

    messages: Messages
    turns: Sequence[int]
    """The turns on which some leave."""
    bounds: Sequence[int]
    """What leaves: entry number i from bounds[i] up to but not including bounds[i + 1] of the messages."""
    drops: Drops
    """Their rule, reason and evidence; no blocks."""
    key: str = ""
    """The key of the marker; empty without one."""
    marks: Mapping[int, tuple[Sequence[Insert], Numbered]] = field(default_factory=dict)
    """Index of `turns` -> what is put in on that turn, the marker first, and how the marker is renewed on those after.
    The first turn has an entry if any has."""
    numbers: Sequence[int] = ()
    """The marker's number, by index of `turns`."""
    tokens: Sequence[int] = ()
    """The marker's tokens, by index of `turns`."""

    def insert(self, index: int) -> Numbered:
        """How the marker of a turn is worded."""
        return self.marks[max(at for at in self.marks if at <= index)][1]


def leaving(messages: Messages, n: int, threshold: int, first: int) -> tuple[list[int], list[int]]:
    """`turns` and `bounds` of what leaves when the last `n` messages stay as soon as there are more than `threshold`.

    Messages before number `first` stay, too.
    """
    offsets = messages.offsets
    begin = offsets[first] if len(offsets) > first else 0
    turns: list[int] = []
    bounds = [begin]
    for turn, count in enumerate(messages.counts):
        if count > threshold:
            end = offsets[count - n]
            if end > begin:
                turns.append(turn)
                bounds.append(end)
                begin = end
    return turns, bounds


def observing(stretch: Stretch, facts: Facts) -> Iterator[tuple[int, Entry]]:
    """What arrives that says anything of a resource, each with its turn."""
    arrived, turns = stretch.arrived, len(stretch.arrivals)
    for n in facts.observing():
        found = arrived.get(n)
        if found is not None and found[0] < turns:
            yield found


class Step(ABC):
    """Says what changes in the set of edits. Must add up to what the plan answers.

    A later edit of the same block or key takes the earlier one's place; `Restored` takes it back. Of its context a step
    may ask for the turn, the parameters, the facts and the counter.
    """

    @abstractmethod
    def arrive(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        """Each arriving entry comes once; the turn may have none."""

    def reform(self, entries: Sequence[Entry], ctx: Context) -> Sequence[Edit]:
        """Blocks that stand come to stand in another form; `arrive` is called afterwards."""
        raise Restart

    def heeds(self, stretch: Stretch, ctx: Context) -> Collection[int] | None:
        """The turns of a stretch on which `arrive` has to be called; None for all."""
        return None

    def shed(self, stretch: Stretch, ctx: Context) -> Shed | None:
        """All of a stretch at once; None when its turns have to be told one by one."""
        return None
