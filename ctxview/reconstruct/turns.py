"""A session's model calls: which turn each makes, and what its response reported, however late it came.

Only the newest turns are held. What a response reports after its turn was given away is kept by the turn's number.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from ctxview.compact import CompactMap
from ctxview.model import Call, CallEnd, Fidelity, TurnRow, Usage
from ctxview.values import dataclass

HELD: Final = 256
"""Newest turns that are held while a session is read, because what a response reported may come late."""


@dataclass(slots=True)
class _Turn:
    call: Call
    end: CallEnd | None = None


class Turns:
    """Give it calls and their ends in order, and take the rows of the oldest turns from time to time."""

    def __init__(self) -> None:
        self.count = 0
        """Calls so far: the number of the newest turn."""
        self._held: deque[_Turn] = deque()
        self._earlier = CompactMap()
        """Number of earlier calls, by call id."""
        self._late: dict[int, CallEnd] = {}

    def __len__(self) -> int:
        """How many are held."""
        return len(self._held)

    def __contains__(self, call: str) -> bool:
        return call in self._earlier

    @property
    def late(self) -> Mapping[int, CallEnd]:
        """Turn -> what its response reported after the turn was taken."""
        return self._late

    def begin(self, call: Call) -> None:
        self._earlier[call.id] = self.count
        self._held.append(_Turn(call))
        self.count += 1

    def end(self, event: CallEnd) -> None:
        """Note what the response reported; nothing when its call is not known."""
        earlier = self._earlier.get(event.id)
        if earlier is None:
            return
        index = earlier - (self.count - len(self._held))
        if index < 0:
            self._late[earlier + 1] = _ended(self._late.get(earlier + 1), event)
        else:
            self._held[index].end = _ended(self._held[index].end, event)

    def take(self, held: int) -> list[TurnRow]:
        """The oldest turns that are here, all but the newest `held`; they are let go."""
        rows: list[TurnRow] = []
        while len(self._held) > held:
            number = self.count - len(self._held) + 1
            rows.append(_row(number, self._held.popleft()))
        return rows


def _ended(known: CallEnd | None, event: CallEnd) -> CallEnd:
    """What is known of a response after `event`: a later attempt that was answered undoes an earlier one's failure."""
    if known is None:
        return event
    return replace(
        event,
        usage=event.usage or known.usage,
        stop_reason=event.stop_reason or known.stop_reason,
        error=None if event.answered else event.error or known.error,
    )


def _row(turn: int, t: _Turn) -> TurnRow:
    fidelity: Fidelity = "exact" if t.call.exact else "reconstructed"
    end = t.end
    usage = (end.usage if end is not None else None) or Usage()
    return TurnRow(
        turn=turn,
        call=t.call.id,
        model=t.call.model,
        client=t.call.client,
        at=t.call.at,
        fidelity=fidelity,
        missing=t.call.missing,
        input=usage.input,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        output=usage.output,
        reasoning=usage.reasoning,
        output_partial=usage.partial,
        stop_reason=end.stop_reason if end is not None else None,
        error=end.error if end is not None else None,
        inherited=t.call.inherited,
        file=t.call.origin.file,
        line=t.call.origin.line,
    )
