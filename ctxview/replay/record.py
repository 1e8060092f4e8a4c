"""What a replay writes down: spans of the output window, edits with their causes, and the cuts they make.

Rows are made when somebody asks, because a screen shows few of the 100,000s that a long session has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

from ctxview.model import NEVER, Action, BlockRow, CutKind, CutRow, EditRow, Form, SpanRow
from ctxview.policies.edits import Drop, Drops, Insert, Move, Replace, Tag
from ctxview.policies.items import Entry, Item, same
from ctxview.replay.change import Delta, Restored, Why

_Cause = Why | EditRow
_Span = tuple[int, float, int, int, Form, int, int, int | None]
"""The values of a span's row."""


class Record:
    """The output window's journal."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._open: dict[int, tuple[int, Entry]] = {}
        self._seen = bytearray(len(items))
        self.tokens = 0
        """Counted tokens of what stands."""
        self._closed: list[_Span] = []
        self.causes: list[tuple[int, int | None, _Cause]] = []
        """Turn, block and cause of each edit."""
        self.cuts: list[tuple[int, CutKind, int, int]] = []
        """Turn, kind, blocks that left and blocks that stayed."""
        self.volatile: set[int] = set()
        """Content keys of texts that depend on the turn."""

    def tag(self, turn: int, why: Why) -> None:
        edit = why.edit
        self.causes.append((turn, edit.n if isinstance(edit, Tag) else None, why))

    def apply(self, turn: int, delta: Delta) -> None:
        """Bring the window of `turn` about."""
        opened, causes, seen, closed = self._open, self.causes, self._seen, self._closed
        own, tokens = len(seen), self.tokens
        dropped = cleared = 0
        compacts = False
        for n, (entry, why) in delta.items():
            held = opened.get(n)
            if entry is None:
                if held is None:
                    if n < own and not seen[n] and why is not None:  # it arrived and left before any call saw it
                        seen[n] = 1
                        row = self._items[n].row
                        closed.append((n, float(n), turn, turn, "verbatim", row.content, row.tokens, len(causes)))
                        causes.append((turn, n, why))
                    continue
                start, old = held
                number = None if why is None else len(causes)
                if why is not None:
                    causes.append((turn, n, why))
                closed.append((n, old.pos, start, turn, old.form, old.content, old.tokens, number))
                tokens -= old.tokens
                del opened[n]
                dropped += 1
                continue
            if held is None:
                if why is not None and (n >= own or seen[n] or entry.form != "verbatim"):
                    causes.append((turn, n, why))
            elif held[1] is entry or same(held[1], entry):
                continue
            else:
                start, old = held
                number = None if why is None else len(causes)
                if why is not None:
                    causes.append((turn, n, why))
                closed.append((n, old.pos, start, turn, old.form, old.content, old.tokens, number))
                tokens -= old.tokens
                cleared += n < own
            if n < own:
                seen[n] = 1
            else:
                compacts = True
            if entry.volatile:
                self.volatile.add(entry.content)
            opened[n] = (turn, entry)
            tokens += entry.tokens
        self.tokens = tokens
        if dropped:
            self.cuts.append((turn, "compact" if compacts else "truncate", dropped, len(opened)))
        elif cleared:
            self.cuts.append((turn, "clear", 0, len(opened)))

    def entry(self, n: int) -> Entry | None:
        """A block of the window that stands now; None when it does not."""
        held = self._open.get(n)
        return held[1] if held is not None else None

    def standing(self) -> Iterator[Entry]:
        """What stands now, in no order."""
        return (entry for _, entry in self._open.values())

    def row(self, n: int, inserted: Sequence[BlockRow]) -> BlockRow:
        """A block's row, whether it is the session's own or was put in."""
        return self._items[n].row if n < len(self._items) else inserted[n - len(self._items)]

    def present(self) -> list[Entry]:
        """The window that stands now, in order."""
        return sorted((entry for _, entry in self._open.values()), key=lambda e: e.pos)

    def spans(self) -> list[SpanRow]:
        """All spans; those still open end NEVER."""
        still = ((n, e.pos, start, NEVER, e.form, e.content, e.tokens, None) for n, (start, e) in self._open.items())
        return [SpanRow(*span) for span in (*self._closed, *still)]


class EditLog(Sequence[EditRow]):
    """The edits of a replay as rows, made one by one when they are read."""

    def __init__(self, causes: Sequence[tuple[int, int | None, _Cause]], blocks: Sequence[BlockRow]) -> None:
        self._causes = causes
        self._blocks = blocks

    def __len__(self) -> int:
        return len(self._causes)

    @overload
    def __getitem__(self, index: int) -> EditRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[EditRow]: ...
    def __getitem__(self, index: int | slice) -> EditRow | Sequence[EditRow]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index if index >= 0 else len(self) + index
        return self._row(at, *self._causes[at])

    def __iter__(self) -> Iterator[EditRow]:
        for n, (turn, block, cause) in enumerate(self._causes):
            yield self._row(n, turn, block, cause)

    def turn_of(self, index: int) -> int:
        return self._causes[index][0]

    def _row(self, n: int, turn: int, block: int | None, cause: _Cause) -> EditRow:
        if isinstance(cause, EditRow):
            return EditRow(
                n, turn, cause.layer, cause.rule, cause.reason, block, cause.action, cause.at, cause.covers,
                cause.evidence, None,
            )  # fmt: skip
        edit = cause.edit
        action: Action
        at: str | None = None
        covers: tuple[str, ...] = ()
        evidence: Any = {}
        match edit:
            case Drop() | Drops():
                action, evidence = "drop", edit.evidence
            case Replace():
                action, evidence = "replace", edit.evidence
            case Insert():
                action, evidence, at = "insert", edit.evidence, self._place(edit.where, edit.ref)
                covers = tuple(self._blocks[c].id for c in (edit.covers if edit.news is None else edit.news))
            case Move():
                action, evidence, at = "move", edit.evidence, self._place(edit.where, edit.ref)
            case Tag():
                action, evidence = "tag", edit.evidence
            case Restored():
                action = "insert"
        return EditRow(n, turn, cause.layer, edit.rule, edit.reason, block, action, at, covers, evidence, None)

    def _place(self, where: str, ref: int | None) -> str:
        return where if ref is None else f"{where}:{self._blocks[ref].id}"


def cut_rows(cuts: Sequence[tuple[int, CutKind, int, int]], trigger: str) -> list[CutRow]:
    return [
        CutRow(n, turn, kind, trigger, None, None, dropped, kept, None, "", 0)
        for n, (turn, kind, dropped, kept) in enumerate(cuts)
    ]
