"""What a replay writes down: spans of the output window, edits with their causes, and the cuts they make.

Rows are made when somebody asks, because a screen shows few of the 100,000s that a long session has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple, TypeAlias, cast, overload

from ctxview.model import NEVER, Action, BlockRow, CutRow, EditRow, Form, SpanRow
from ctxview.policies.edits import Drop, Drops, Insert, Move, Renew, Replace, Restored, Tag
from ctxview.policies.items import Entry, Item, same
from ctxview.replay.change import Delta, Renewals, Why
from ctxview.window.table import Column, Listed, Rows, ordered

_Cause = Why | EditRow | Renewals
_CUT: Final = 4
"""Values of one cut in the flat list of them. Long sessions have 100,000s of spans, edits and cuts: too many for an
object each."""
_LESS: Final = frozenset({"placeholder", "pointer", "truncated"})
"""Forms that say less than the block does. A flag, another place or the block's own text again takes nothing away."""
Held: TypeAlias = tuple[int, Entry]
"""A span under way: its first turn, and what stands."""


class Edits:
    """Turn, block and cause of each edit, in lists of their own."""

    def __init__(self) -> None:
        self.turns: list[int] = []
        self.blocks: list[int | None] = []
        self.whys: list[_Cause] = []

    def add(self, turn: int, block: int | None, why: _Cause) -> None:
        self.turns.append(turn)
        self.blocks.append(block)
        self.whys.append(why)


class _Series(NamedTuple):
    """Closed spans of one block that was put in and said something new turn after turn."""

    entry: Entry
    """The same at the end: its place and its form do not change."""
    turns: Sequence[int]
    """The first turn of each span, and the end of the last."""
    contents: Sequence[int]
    tokens: Sequence[int]
    ended_by: int
    """Number of the edit that ended the first of them; one each follows."""


class _Field:
    """One attribute of what stood, by span: first of the spans that are held as objects, then of others."""

    def __init__(self, held: Sequence[Held], name: str, others: Sequence[Any], order: Sequence[int]) -> None:
        """`order`: the spans' numbers in the order of the column."""
        self._held = held
        self._get = attrgetter(name)
        self._others = others
        self._order = order

    def __getitem__(self, index: int) -> Any:
        at = self._order[index]
        return self._get(self._held[at][1]) if at < len(self._held) else self._others[at - len(self._held)]

    def all(self) -> Sequence[Any]:
        values = [*map(self._get, map(itemgetter(1), self._held)), *self._others]
        return [values[i] for i in self._order]


class Record:
    """The output window's journal."""

    def __init__(self, items: Sequence[Item], opened: Mapping[int, Held]) -> None:
        """`opened`: blocks that come without being told of, with the turn on which each does."""
        self._items = items
        self.own = len(items)
        """Number of the session's own blocks; those above were put in."""
        self._open: dict[int, Held] = dict(opened)
        self.coming = len(self._open)
        """How many of `opened` are still to come."""
        self._seen = bytearray(len(items))
        self.tokens = 0
        """Counted tokens of what stands, less those of `opened`."""
        self._blocks: list[int] = []
        self._held: list[Held] = []
        self._ends: list[int] = []
        self._enders: list[int | None] = []
        """Closed spans: the block, what stood, the end, and the number of the edit that ended it."""
        self._series: list[_Series] = []
        """More closed spans."""
        self.edits = Edits()
        self.cuts: list[Any] = []
        """Turn, kind, blocks that left and blocks that stayed, again and again."""
        self.volatile: set[int] = set()
        """Content keys of texts that depend on the turn."""

    def tag(self, turn: int, why: Why) -> None:
        edit = why.edit
        self.edits.add(turn, edit.n if isinstance(edit, Tag) else None, why)

    def apply(self, turn: int, delta: Delta) -> None:
        """Bring the window of `turn` about."""
        opened, seen, own = self._open, self._seen, self.own
        dropped = cleared = 0
        compacts = False
        for n, (entry, why) in delta.items():
            held = opened.get(n)
            if held is not None and held[0] == turn:  # it comes on this turn: it has not stood yet
                del opened[n]
                self.tokens -= held[1].tokens
                held = None
            if held is None:
                if entry is None:
                    if n < own and not seen[n] and why is not None:  # it arrived and left before any call saw it
                        seen[n] = 1
                        self._close(n, (turn, self._unseen(n)), turn, why)
                    continue
                if why is not None and (n >= own or seen[n] or entry.form != "verbatim"):
                    self.edits.add(turn, n, why)
            else:
                old = held[1]
                if entry is not None and (old is entry or same(old, entry)):
                    continue
                self._close(n, held, turn, why)
                self.tokens -= old.tokens
                if entry is None:
                    del opened[n]
                    if n < own:
                        seen[n] = 1
                    dropped += 1
                    continue
                cleared += n < own and entry.form in _LESS and entry.content != old.content
            if n < own:
                seen[n] = 1
            else:
                compacts = True
            if entry.volatile:
                self.volatile.add(entry.content)
            if entry.cause is not None and isinstance(why, Why) and isinstance(why.edit, Restored):
                self.edits.add(turn, n, cast("Why", entry.cause))  # it stands again, not in its own words
            opened[n] = (turn, entry)
            self.tokens += entry.tokens
        if dropped:
            self.cuts += (turn, "compact" if compacts else "truncate", dropped, len(opened) - self.coming)
        elif cleared:
            self.cuts += (turn, "clear", 0, len(opened) - self.coming)

    def drop(self, turn: int, ns: Sequence[int], why: Why, renewed: tuple[Entry, Why] | None) -> None:
        """`apply` where some of the session's own blocks that stand leave, and one that was put in may be renewed."""
        opened, edits, count = self._open, self.edits, len(ns)
        number = len(edits.turns)
        held = list(map(opened.pop, ns))
        self._blocks += ns
        self._held += held
        self._ends += [turn] * count
        self._enders += range(number, number + count)
        edits.turns += [turn] * count
        edits.blocks += ns
        edits.whys += [why] * count
        tokens = self.tokens
        for _, entry in held:
            tokens -= entry.tokens
        for n in ns:
            self._seen[n] = 1
        if renewed is not None:
            entry, because = renewed
            n = entry.n
            last = opened[n]
            self._close(n, last, turn, because)
            opened[n] = (turn, entry)
            tokens += entry.tokens - last[1].tokens
        self.tokens = tokens
        self.cuts += (turn, "truncate" if renewed is None else "compact", count, len(opened) - self.coming)

    def shed(
        self, ns: Sequence[int], turns: Sequence[int], counts: Sequence[int], why: Why, coming: Sequence[int]
    ) -> None:
        """`drop` for several turns: on each the next so many of `ns`. `coming` is by turn."""
        opened, edits = self._open, self.edits
        number, standing = len(edits.turns), len(opened)
        held = list(map(opened.pop, ns))
        ends = [turn for turn, count in zip(turns, counts) for _ in range(count)]
        self._blocks += ns
        self._held += held
        self._ends += ends
        self._enders += range(number, number + len(ns))
        edits.turns += ends
        edits.blocks += ns
        edits.whys += [why] * len(ns)
        seen, cuts = self._seen, self.cuts
        for n, (_, entry) in zip(ns, held):
            seen[n] = 1
            self.tokens -= entry.tokens
        for turn, count in zip(turns, counts):
            standing -= count
            cuts += (turn, "truncate", count, standing - coming[turn])

    def renew(
        self, turns: Sequence[int], contents: Sequence[int], tokens: Sequence[int], newest: Entry, cause: Renewals
    ) -> None:
        """After `shed`: what was put in says something new on each of its turns, on the last what `newest` says."""
        edits, count, n = self.edits, len(turns), newest.n
        number = len(edits.turns)
        _, first = held = self._open[n]
        self._blocks.append(n)
        self._held.append(held)
        self._ends.append(turns[0])
        self._enders.append(number)
        self._series.append(_Series(newest, turns, contents[:-1], tokens[:-1], number + 1))
        edits.turns += turns
        edits.blocks += [n] * count
        edits.whys += [cause] * count
        self._open[n] = (turns[-1], newest)
        self.tokens += newest.tokens - first.tokens
        cuts = self.cuts
        for at in range(len(cuts) - _CUT * count + 1, len(cuts), _CUT):
            cuts[at] = "compact"

    def _close(self, n: int, held: Held, turn: int, why: Why | EditRow | None) -> None:
        self._blocks.append(n)
        self._held.append(held)
        self._ends.append(turn)
        if why is None:
            self._enders.append(None)
        else:
            self._enders.append(len(self.edits.turns))
            self.edits.add(turn, n, why)

    def _unseen(self, n: int) -> Entry:
        item = self._items[n]
        return Entry(item, float(n), item.row.tokens, "verbatim", item.row.content)

    def stood(self, n: int, turn: int) -> bool:
        """Whether a block was in the window before that of `turn`, and nothing was done to it since."""
        held = self._open.get(n)
        return held is not None and held[0] < turn

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

    def spans(self) -> Rows[SpanRow]:
        """All spans, by start and place; those still open end NEVER."""
        held = [*self._held, *self._open.values()]
        blocks, ends = [*self._blocks, *self._open], self._ends + [NEVER] * len(self._open)
        enders: list[int | None] = self._enders + [None] * len(self._open)
        starts = list(map(itemgetter(0), held))
        places = list(map(attrgetter("pos"), map(itemgetter(1), held)))
        forms: list[Form] = []
        contents: list[int] = []
        tokens: list[int] = []
        for series in self._series:
            count = len(series.contents)
            blocks += [series.entry.n] * count
            places += [series.entry.pos] * count
            forms += [series.entry.form] * count
            contents += series.contents
            tokens += series.tokens
            starts += series.turns[:-1]
            ends += series.turns[1:]
            enders += range(series.ended_by, series.ended_by + count)
        keys = list(zip(starts, places))
        order = range(len(keys)) if ordered(keys) else sorted(range(len(keys)), key=keys.__getitem__)
        columns: dict[str, Column] = {
            "block": Listed([blocks[i] for i in order]), "pos": Listed([places[i] for i in order]),
            "start": Listed([starts[i] for i in order]), "end": Listed([ends[i] for i in order]),
            "form": _Field(held, "form", forms, order), "content": _Field(held, "content", contents, order),
            "tokens": _Field(held, "tokens", tokens, order), "ended_by": Listed([enders[i] for i in order]),
        }  # fmt: skip
        return Rows(columns, SpanRow, len(order))


class EditLog(Sequence[EditRow]):
    """The edits of a replay as rows, made one by one when they are read."""

    def __init__(self, edits: Edits, blocks: Sequence[BlockRow]) -> None:
        self._edits = edits
        self._blocks = blocks

    def __len__(self) -> int:
        return len(self._edits.turns)

    @overload
    def __getitem__(self, index: int) -> EditRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[EditRow]: ...
    def __getitem__(self, index: int | slice) -> EditRow | Sequence[EditRow]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index if index >= 0 else len(self) + index
        if not 0 <= at < len(self):
            raise IndexError(index)
        return self._row(at)

    def __iter__(self) -> Iterator[EditRow]:
        return map(self._row, range(len(self)))

    def _row(self, n: int) -> EditRow:
        turn, block, cause = self._edits.turns[n], self._edits.blocks[n], self._edits.whys[n]
        if isinstance(cause, Renewals):
            cause = cause.on(turn)
        if isinstance(cause, EditRow):
            return EditRow(
                n, turn, cause.layer, cause.rule, cause.reason, block, cause.action, cause.at, cause.covers,
                cause.evidence, None,
            )  # fmt: skip
        edit = cause.edit
        if isinstance(edit, Renew):
            edit = edit.insert.make(edit.number, edit.news)
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
        # What takes an earlier edit back has no numbers of its own: the turn on which its cause ended speaks for it.
        return EditRow(
            n, turn, cause.layer, edit.rule, edit.reason, block, action, at, covers, evidence or {"turn": turn}, None
        )

    def _place(self, where: str, ref: int | None) -> str:
        return where if ref is None else f"{where}:{self._blocks[ref].id}"


class CutLog(Sequence[CutRow]):
    """The cuts of a replay as rows, made one by one when they are read."""

    def __init__(self, cuts: Sequence[Any], trigger: str) -> None:
        """`cuts`: those of a record."""
        self._cuts = cuts
        self._trigger = trigger

    def __len__(self) -> int:
        return len(self._cuts) // _CUT

    @overload
    def __getitem__(self, index: int) -> CutRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[CutRow]: ...
    def __getitem__(self, index: int | slice) -> CutRow | Sequence[CutRow]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        at = index if index >= 0 else len(self) + index
        if not 0 <= at < len(self):
            raise IndexError(index)
        turn, kind, dropped, kept = self._cuts[_CUT * at : _CUT * (at + 1)]
        return CutRow(at, turn, kind, self._trigger, None, None, dropped, kept, None, "", 0)
