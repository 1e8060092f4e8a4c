"""How large a session's windows were, turn by turn: as recorded, as counted, and what framing they had.

A few bytes a turn, kept while spans and turns are handed on to the store, so that a session of any length can be
audited without reading it again.
"""

from __future__ import annotations

from array import array
from typing import Final, TypeAlias

from ctxview.model import NEVER, TurnRow

Sender: TypeAlias = tuple[str | None, str | None]
"""(model, client with its version)"""

FRAMING: Final = {"tool_call": 40, "tool_result": 20, "user": 4, "assistant": 4}
"""Tokens around one block of a kind, before calibration: the round numbers that fitted recorded sessions of several
client versions and models best. They are in no log (role marks, a call's wrapping), so they are part of what is
unlogged; the audit takes them into account."""

_UNKNOWN: Final = -1


class Course:
    """Feed it turns in order, and spans in any order."""

    def __init__(self) -> None:
        self._recorded = array("q")
        self._senders: dict[Sender, int] = {}
        self._names: list[Sender] = []
        self._sender = array("i")
        # Index t: what turn t has more than the turn before it.
        self._counted = array("q")
        self._framing = array("q")

    def __len__(self) -> int:
        """Turns."""
        return len(self._recorded)

    def add_turn(self, row: TurnRow) -> None:
        self._recorded.append(_UNKNOWN if row.recorded is None else row.recorded)
        name = row.model, row.client
        number = self._senders.setdefault(name, len(self._senders))
        if number == len(self._names):
            self._names.append(name)
        self._sender.append(number)

    def amend(self, turn: int, recorded: int | None) -> None:
        """A response reported its usage late."""
        if recorded is not None:
            self._recorded[turn - 1] = recorded

    def add_span(self, start: int, end: int, tokens: int, kind: str) -> None:
        """A block of `kind` stood in the windows of turns start .. end-1 and took `tokens`."""
        if start >= end:
            return
        framing = FRAMING.get(kind, 0)
        self._reach(start)
        self._counted[start] += tokens
        self._framing[start] += framing
        if end != NEVER:
            self._reach(end)
            self._counted[end] -= tokens
            self._framing[end] -= framing

    def _reach(self, turn: int) -> None:
        short = turn + 1 - len(self._counted)
        if short > 0:
            self._counted.extend([0] * short)
            self._framing.extend([0] * short)

    @property
    def has_usage(self) -> bool:
        """Whether any call recorded the size of its window."""
        return any(size != _UNKNOWN for size in self._recorded)

    def recorded(self, turn: int) -> int | None:
        size = self._recorded[turn - 1]
        return None if size == _UNKNOWN else size

    def sender(self, turn: int) -> Sender:
        """Model and client of a turn."""
        return self._names[self._sender[turn - 1]]

    def counted(self) -> array[int]:
        """Counted tokens of each turn's window; index 0 is unused."""
        return _summed(self._counted, len(self))

    def framing(self) -> array[int]:
        """Framing of each turn's window; index 0 is unused."""
        return _summed(self._framing, len(self))


def _summed(deltas: array[int], turns: int) -> array[int]:
    total = 0
    sums = array("q", [0])
    for turn in range(1, turns + 1):
        total += deltas[turn] if turn < len(deltas) else 0
        sums.append(total)
    return sums
