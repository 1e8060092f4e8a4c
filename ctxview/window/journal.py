"""The open window of one session, journalled: each change closes or opens a span, so cost is linear in changes.

Order is a key per span (`pos`), fixed while the span is open: appending takes the next whole number, inserting takes
the middle between two neighbours. When a gap is used up, all keys are renumbered in order, which changes no window.
Closed spans can be taken away while the session goes on, so that a long one does not have to be held; from then on a
renumbering splits the open spans, because those that were taken keep the old keys.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

from ctxview.model import NEVER, Form, SpanRow


@dataclass(slots=True)
class _Open:
    """A span under way."""

    block: int
    pos: float
    start: int
    form: Form
    content: int


class Journal:
    """A window that remembers. Block numbers and content keys are the caller's; turns only ever grow.

    `turn` in every method is the first turn whose window shows the change.
    """

    def __init__(self) -> None:
        self._order: list[float] = []  # positions of open spans, sorted
        self._at: dict[float, _Open] = {}
        self._open: dict[int, _Open] = {}
        self._closed: list[SpanRow] = []
        self._next = 0.0
        self._taken = False

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, block: int) -> bool:
        return block in self._open

    def blocks(self) -> list[int]:
        """Open blocks in window order."""
        return [self._at[pos].block for pos in self._order]

    def content(self, block: int) -> int:
        """The content key of an open block's present form."""
        return self._open[block].content

    def start(self, block: int) -> int:
        """The first turn of an open block's present span."""
        return self._open[block].start

    def index(self, block: int) -> int:
        """Position of an open block, counted from 0."""
        return bisect_left(self._order, self._open[block].pos)

    def append(self, block: int, turn: int, content: int, form: Form = "verbatim") -> None:
        self._add(_Open(block, self._next, turn, form, content), len(self._order))
        self._next += 1.0

    def insert(self, block: int, index: int, turn: int, content: int, form: Form = "verbatim") -> None:
        """Put `block` before the open block that now stands at `index`; at the end when there is none."""
        if index >= len(self._order):
            self.append(block, turn, content, form)
            return
        high = self._order[index]
        low = self._order[index - 1] if index else high - 2.0
        pos = (low + high) / 2
        if not low < pos < high:
            self._renumber(turn)
            self.insert(block, index, turn, content, form)
            return
        self._add(_Open(block, pos, turn, form, content), index)

    def drop(self, block: int, turn: int, edit: int | None) -> None:
        span = self._open.pop(block)
        del self._order[bisect_left(self._order, span.pos)]
        del self._at[span.pos]
        self._close(span, turn, edit)

    def replace(self, block: int, turn: int, content: int, form: Form, edit: int | None) -> None:
        """The same block at the same place, in another form."""
        span = self._open[block]
        if span.start == turn and span.content == content and span.form == form:
            return
        self._close(span, turn, edit)
        fresh = _Open(block, span.pos, turn, form, content)
        self._open[block] = self._at[span.pos] = fresh

    @property
    def closed(self) -> int:
        """How many closed spans wait to be taken."""
        return len(self._closed)

    def take(self) -> list[SpanRow]:
        """The spans that were closed since the last time; they are forgotten here."""
        taken, self._closed = self._closed, []
        self._taken = self._taken or bool(taken)
        return taken

    def close(self) -> list[SpanRow]:
        """All spans of the session that were not taken; those still open end NEVER. Of no use afterwards."""
        for span in [self._at[pos] for pos in self._order]:
            self._close(span, NEVER, None)
        return self._closed

    def _add(self, span: _Open, index: int) -> None:
        self._order.insert(index, span.pos)
        self._at[span.pos] = span
        self._open[span.block] = span

    def _close(self, span: _Open, turn: int, edit: int | None) -> None:
        self._closed.append(SpanRow(span.block, span.pos, span.start, turn, span.form, span.content, 0, edit))

    def _renumber(self, turn: int) -> None:
        """Give every key, open and closed, its rank: all orders stay, all gaps become 1."""
        keys = sorted({s.pos for s in self._closed} | set(self._order))
        rank = {pos: float(i) for i, pos in enumerate(keys)}
        if self._taken:
            for span in self._open.values():
                if span.start < turn:
                    self._close(span, turn, None)
                    span.start = turn
        else:
            self._closed = [
                SpanRow(s.block, rank[s.pos], s.start, s.end, s.form, s.content, 0, s.ended_by) for s in self._closed
            ]
        for span in self._open.values():
            span.pos = rank[span.pos]
        self._order = sorted(span.pos for span in self._open.values())
        self._at = {span.pos: span for span in self._open.values()}
        self._next = float(len(keys))
