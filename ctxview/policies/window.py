"""One input window of a policy: entries in order, and the wire messages and turn groups they make."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from ctxview.model import Role
from ctxview.policies.items import Entry

_ASKING: Final = ("user", "image", "tool_result")


@dataclass(frozen=True, slots=True)
class Message:
    """Neighbouring entries that make one wire message. Tool schemas are in none."""

    index: int
    entries: tuple[Entry, ...]

    @property
    def role(self) -> Role:
        return self.entries[0].role

    @property
    def tokens(self) -> int:
        return sum(e.tokens for e in self.entries)

    @property
    def is_system(self) -> bool:
        return self.entries[0].kind == "system"


@dataclass(frozen=True, slots=True)
class Group:
    """A turn group: an assistant message with the results that answer its calls; anything else is a group of its own
    wire message."""

    id: int
    entries: tuple[Entry, ...]

    @property
    def first(self) -> Entry:
        return self.entries[0]

    @property
    def is_turn(self) -> bool:
        """An assistant's group."""
        return any(e.role == "assistant" for e in self.entries)

    @property
    def is_fixed(self) -> bool:
        return self.entries[0].is_fixed

    @property
    def has_calls(self) -> bool:
        return any(e.kind == "tool_call" for e in self.entries)

    @property
    def tokens(self) -> int:
        return sum(e.tokens for e in self.entries)


class Window:
    """Entries in window order. Frozen by convention; what is derived is computed once."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = entries

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    @cached_property
    def by_n(self) -> dict[int, Entry]:
        return {e.n: e for e in self.entries}

    @cached_property
    def tokens(self) -> int:
        return sum(e.tokens for e in self.entries)

    @cached_property
    def all_messages(self) -> tuple[Message, ...]:
        """Wire messages, the system prompt's among them."""
        return tuple(messages_of(self.entries))

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """Wire messages without the system prompt."""
        return tuple(m for m in self.all_messages if not m.is_system)

    @cached_property
    def groups(self) -> tuple[Group, ...]:
        """Turn groups in order of their first entry, system text and tool schemas among them."""
        found: dict[int, list[Entry]] = {}
        for entry in self.entries:
            found.setdefault(entry.item.group, []).append(entry)
        return tuple(Group(id, tuple(entries)) for id, entries in found.items())

    @cached_property
    def turn_groups(self) -> tuple[Group, ...]:
        """The assistant's groups alone."""
        return tuple(g for g in self.groups if g.is_turn)

    @cached_property
    def request(self) -> tuple[Entry, ...]:
        """What was asked last: the blocks after the last assistant block, or the last user message or results."""
        return newest_request(self.entries)

    def without(self, gone: set[int]) -> Window:
        return Window([e for e in self.entries if e.n not in gone])


def messages_of(entries: Sequence[Entry]) -> Iterator[Message]:
    run: list[Entry] = []
    index = 0
    for entry in entries:
        key = entry.item.key
        if key is None:
            continue
        if run and key != run[0].item.key:
            yield Message(index, tuple(run))
            index += 1
            run = []
        run.append(entry)
    if run:
        yield Message(index, tuple(run))


def newest_request(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """What was asked last: the newest message of the person, or the newest batch of results, with what follows it.

    Looks at the end of `entries` only. Where both stand in one place, the one that came last counts.
    """
    tail: list[Entry] = []
    for entry in reversed(entries):
        row = entry.item.row
        if row.kind == "system" or row.kind == "tools":
            continue
        if row.role == "assistant":
            if tail:
                break
            continue
        tail.append(entry)
    tail.reverse()
    last = next((e for e in reversed(tail) if e.item.row.kind in _ASKING), None)
    if last is None:
        return tuple(tail[-1:])
    if last.item.call >= 0:
        start = next(i for i, e in enumerate(tail) if e.item.group == last.item.group)
        return tuple(tail[start:])
    message = last.item.row.message
    start = next(i for i, e in enumerate(tail) if e.item.row.message == message and e.item.row.kind in _ASKING)
    return tuple(e for e in tail[start:] if e.item.call < 0 and e.item.row.kind != "tool_result")
