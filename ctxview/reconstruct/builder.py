"""One session's events to its spans, turns, edits and cuts, in one pass and without holding any text.

The recorded window is made as every window is: arrivals plus edits, journalled. What the log says outright (edits,
cuts) is applied as it stands; captured windows are aligned with what is known, and the difference becomes edits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from ctxview.model import (
    Action,
    Block,
    Call,
    CallEnd,
    Cut,
    CutKind,
    CutRow,
    Edit,
    EditRow,
    Form,
    Origin,
    Place,
    SessionEvent,
    SessionStart,
    Snapshot,
    SpanRow,
    TurnRow,
)
from ctxview.reconstruct.align import Key, align
from ctxview.reconstruct.arrived import Arrived, key_of
from ctxview.reconstruct.markers import form_of
from ctxview.reconstruct.turns import HELD, Turns
from ctxview.values import dataclass
from ctxview.window.journal import Journal

_HELD: Final = 4_096
"""Closed spans and edits that wait, at most, before they are handed on."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A block that arrived, with what reconstruction knows of it."""

    block: Block
    n: int
    turn: int
    content: int


class Taker(Protocol):
    """Takes the rows of a session while it is being built, so that a long one does not have to be held."""

    def take(self, turns: list[TurnRow], spans: list[SpanRow], edits: list[EditRow]) -> None: ...


@dataclass(frozen=True, slots=True)
class Built:
    """A finished session: its rows, those that were handed on while it was built left out."""

    spans: list[SpanRow]
    turns: list[TurnRow]
    edits: list[EditRow]
    cuts: list[CutRow]
    summaries: Mapping[int, tuple[int, ...]]
    """Cut index -> block numbers of the summary it inserted."""
    late: Mapping[int, CallEnd]
    """Turn -> what its response reported after the turn was handed on."""


class SessionBuilder:
    """Feed it one session's events in order, then `finish`.

    `keep(text)` stores a text and returns its content key; `arrive(arrival)` receives each block once; `taker`, if
    there is one, receives finished rows from time to time.
    """

    def __init__(
        self,
        start: SessionStart,
        keep: Callable[[str], int],
        arrive: Callable[[Arrival], None],
        taker: Taker | None = None,
    ) -> None:
        self.start = start
        self._keep = keep
        self._arrive = arrive
        self._taker = taker
        self._journal = Journal()
        self._arrived = Arrived()
        self._turns = Turns()
        self._edits: list[EditRow] = []
        self._edit_count = 0
        self._cuts: list[CutRow] = []
        self._summaries: dict[int, list[int]] = {}
        self._open_cut: int | None = None
        self.first_at: str | None = None
        self.last_at: str | None = None

    # ---------------------------------------------------------------- events

    def feed(self, event: SessionEvent) -> None:
        # By the exact class, the most common first: this runs once per block of a trace.
        if type(event) is Block:
            self._block(event)
        elif type(event) is Call:
            self._call(event)
        elif type(event) is CallEnd:
            self._turns.end(event)
        elif type(event) is Edit:
            self._edit(event, None)
        elif type(event) is Cut:
            self._cut(event)
        elif type(event) is Snapshot:
            self._snapshot(event)
        elif isinstance(event, SessionStart):
            self.start = event

    def finish(self) -> Built:
        return Built(
            spans=self._journal.close(),
            turns=self._turns.take(0),
            edits=self._edits,
            cuts=self._cuts,
            summaries={cut: tuple(blocks) for cut, blocks in self._summaries.items()},
            late=self._turns.late,
        )

    @property
    def edits(self) -> int:
        """How many there were so far."""
        return self._edit_count

    @property
    def _next_turn(self) -> int:
        return self._turns.count + 1

    def _hand_on(self) -> None:
        """Give away what is finished, once there is enough of it."""
        if self._taker is None:
            return
        if self._journal.closed + len(self._edits) >= _HELD or len(self._turns) > 2 * HELD:
            edits, self._edits = self._edits, []
            self._taker.take(self._turns.take(HELD), self._journal.take(), edits)

    # -------------------------------------------------------------- arrivals

    def _block(self, event: Block) -> None:
        content = self._keep(event.text)
        n = self._register(event, content)
        if not event.enters:
            number = self._edit_count
            self._journal.append(n, self._next_turn, content)
            self._add_edit(n, "drop", "never-sent", event.note or "the log shows no call that it was sent in", None)
            self._journal.drop(n, self._next_turn, number)
        else:
            self._place(n, content, event.place, "summary" if event.kind == "summary" else "verbatim")
        if event.inserted:
            self._note_insert(n, event)

    def _register(self, event: Block, content: int) -> int:
        """Give the block its number. `content` is the key of its text."""
        key = key_of(event, content)
        event = self._arrived.told_apart(event)
        n = self._arrived.add(event, key)
        if event.at:
            self.first_at = self.first_at or event.at
            self.last_at = event.at
        self._arrive(Arrival(event, n, self._turns.count, content))
        return n

    def _place(self, n: int, content: int, place: Place, form: Form) -> None:
        turn = self._next_turn
        if place.where == "end":
            self._journal.append(n, turn, content, form)
            return
        self._journal.insert(n, self._index(place), turn, content, form)

    def _index(self, place: Place) -> int:
        if place.where == "start":
            return 0
        if place.where == "index":
            return place.index
        ref = self._arrived.number(place.ref or "")
        if ref is None or ref not in self._journal:
            return len(self._journal)
        return self._journal.index(ref) + (place.where == "after")

    def _note_insert(self, n: int, event: Block) -> None:
        cut = self._open_cut
        is_summary = event.kind == "summary"
        if is_summary and cut is not None and self._cuts[cut].turn == self._next_turn:
            self._summaries.setdefault(cut, []).append(n)
        rule = "summary" if is_summary else "client"
        self._add_edit(n, "insert", rule, "the client put it in", cut, place=event.place)

    # ----------------------------------------------------------------- calls

    def _call(self, event: Call) -> None:
        if event.id in self._turns:
            return
        self._hand_on()
        self._turns.begin(event)
        self._open_cut = None
        if event.at:
            self.first_at = self.first_at or event.at
            self.last_at = event.at

    # ----------------------------------------------------------------- edits

    def _edit(self, event: Edit, cut: int | None) -> bool:
        """Apply one edit of the log; False when it had nothing to act on."""
        n = self._arrived.number(event.block)
        if n is None:
            return False
        journal, turn = self._journal, self._next_turn
        is_open = n in journal
        number = self._edit_count
        if event.action == "drop":
            if not is_open:
                return False
            journal.drop(n, turn, number)
        elif event.action == "replace":
            if not is_open or event.text is None:
                return False
            journal.replace(n, turn, self._keep(event.text), event.form, number)
        elif event.action == "insert":
            if is_open:
                return False
            content = self._arrived.content(n) if event.text is None else self._keep(event.text)
            self._place(n, content, event.place or Place(), event.form)
        elif event.action == "move":
            if not is_open:
                return False
            content = journal.content(n)
            journal.drop(n, turn, number)
            self._place(n, content, event.place or Place(), event.form)
        self._add_edit(
            n,
            event.action,
            event.rule,
            event.reason,
            cut,
            layer=event.layer,
            place=event.place,
            covers=event.covers,
            evidence=event.evidence,
        )
        return True

    def _add_edit(
        self,
        n: int | None,
        action: Action,
        rule: str,
        reason: str,
        cut: int | None,
        *,
        layer: str = "recorded",
        place: Place | None = None,
        covers: Sequence[str] = (),
        evidence: Mapping[str, Any] | None = None,
    ) -> None:
        self._edits.append(
            EditRow(
                n=self._edit_count,
                turn=self._next_turn,
                layer=layer,
                rule=rule,
                reason=reason,
                block=n,
                action=action,
                at=_place_text(place),
                covers=tuple(covers),
                evidence=evidence or {},
                cut=cut,
            )
        )
        self._edit_count += 1

    def _cut(self, event: Cut) -> None:
        number = len(self._cuts)
        before = len(self._journal)
        dropped = sum(self._edit(edit, number) and edit.action == "drop" for edit in event.edits)
        told = None if event.unlogged else dropped
        self._add_cut(event.kind, event.origin, event.trigger, event.before, event.after, told, before - dropped)

    def _add_cut(
        self,
        kind: CutKind,
        origin: Origin,
        trigger: str | None,
        before: int | None,
        after: int | None,
        dropped: int | None,
        kept: int,
    ) -> None:
        self._open_cut = len(self._cuts)
        self._cuts.append(
            CutRow(
                n=len(self._cuts),
                turn=self._next_turn,
                kind=kind,
                trigger=trigger,
                before=before,
                after=after,
                dropped=dropped,
                kept=kept,
                summary_tokens=None,
                file=origin.file,
                line=origin.line,
            )
        )

    # ------------------------------------------------------------- snapshots

    def _snapshot(self, event: Snapshot) -> None:
        """Make the window exactly `event.blocks`, naming every difference as an edit."""
        old = self._journal.blocks()
        contents = [self._keep(b.text) for b in event.blocks]
        new_keys = [key_of(block, content) for block, content in zip(event.blocks, contents)]
        found = align([self._arrived.key(n, self._journal.content(n)) for n in old], new_keys)
        staying = {old[i] for i in found.kept.values()} | {old[i] for i in found.changed.values()}
        gone = [n for n in old if n not in staying]
        chars = self._arrived.chars
        cleared = [i for i, a in found.changed.items() if form_of(event.blocks[i].text, chars(old[a])) != "verbatim"]
        kind = event.cut or self._kind_of_cut(gone, cleared)
        cut = len(self._cuts) if kind is not None and old else None
        for n in gone:
            number = self._edit_count
            self._add_edit(n, "drop", kind or "not-resent", f"not in the {event.why}", cut)
            self._journal.drop(n, self._next_turn, number)
        for index, block in enumerate(event.blocks):
            if index in found.changed:
                self._change(old[found.changed[index]], block, contents[index], cut, event.why)
        if cut is not None and kind is not None:
            self._add_cut(kind, event.origin, event.trigger, event.before, event.after, len(gone), len(staying))
        for index, block in enumerate(event.blocks):
            if index not in found.kept and index not in found.changed:
                self._enter(block, index, new_keys[index], cut, event.why)

    def _kind_of_cut(self, gone: Sequence[int], cleared: Sequence[int]) -> CutKind | None:
        """Whether the difference is a cut: conversation that was sent before and no longer is, or content cleared.

        A response that the client did not send on (an aborted one) was in no window yet and makes no cut.
        """
        turn = self._next_turn
        lost = [n for n in gone if not self._arrived.is_loose(n) and self._journal.start(n) < turn]
        if lost:
            return "truncate"
        return "clear" if cleared else None

    def _change(self, n: int, block: Block, content: int, cut: int | None, why: str) -> None:
        chars = self._arrived.chars(n)
        form = form_of(block.text, chars)
        number = self._edit_count
        evidence = {"chars_before": chars, "chars_after": len(block.text)}
        self._add_edit(n, "replace", form, f"in another form in the {why}", cut, evidence=evidence)
        self._journal.replace(n, self._next_turn, content, form, number)

    def _gone(self, block: Block, key: Key) -> int | None:
        """A block that left, of the same content: the one of the same id, else the oldest."""
        gone = [n for n in self._arrived.alike(key) if n not in self._journal]
        same = self._arrived.number(block.id)
        return same if same in gone else next(iter(gone), None)

    def _enter(self, block: Block, index: int, key: Key, cut: int | None, why: str) -> None:
        """A block of the snapshot that was not in the window before: one that comes back, or a new one."""
        back = self._gone(block, key)
        form: Form = "summary" if block.kind == "summary" else "verbatim"
        if back is not None and self._turns.count:
            self._journal.insert(back, index, self._next_turn, key[3], form)
            self._add_edit(back, "insert", "sent-again", f"back in the {why}", cut)
            return
        n = self._register(block, key[3])
        self._journal.insert(n, index, self._next_turn, key[3], form)
        if block.inserted:
            self._note_insert(n, block)


def _place_text(place: Place | None) -> str | None:
    if place is None:
        return None
    if place.where in ("before", "after"):
        return f"{place.where}:{place.ref}"
    return f"index:{place.index}" if place.where == "index" else place.where
