"""One session's events to its spans, turns, edits and cuts, in one pass and without holding any text.

The recorded window is made as every window is: arrivals plus edits, journalled. What the log says outright (edits,
cuts) is applied as it stands; captured windows are aligned with what is known, and the difference becomes edits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

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
    Fidelity,
    Form,
    Kind,
    Origin,
    Place,
    SessionStart,
    Snapshot,
    SpanRow,
    TurnRow,
    Usage,
)
from ctxview.reconstruct.align import Key, align
from ctxview.reconstruct.markers import form_of
from ctxview.window.journal import Journal


@dataclass(frozen=True, slots=True)
class Arrival:
    """A block that arrived, with what reconstruction knows of it."""

    block: Block
    n: int
    turn: int
    content: int


@dataclass(frozen=True, slots=True)
class Built:
    """A finished session."""

    spans: list[SpanRow]
    turns: list[TurnRow]
    edits: list[EditRow]
    cuts: list[CutRow]
    summaries: Mapping[int, tuple[int, ...]]
    """Cut index -> block numbers of the summary it inserted."""


@dataclass(slots=True)
class _Turn:
    call: Call
    usage: Usage = field(default_factory=Usage)
    stop_reason: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Known:
    """What alignment needs of a block."""

    key: Key
    kind: Kind
    chars: int
    human: bool


# What a client re-sends or not as it likes; its coming and going is no cut.
_LOOSE: frozenset[Kind] = frozenset({"note", "thinking", "system", "tools"})


class SessionBuilder:
    """Feed it one session's events in order, then `finish`.

    `keep(text)` stores a text and returns its content key; `arrive(arrival)` receives each block once.
    """

    def __init__(self, start: SessionStart, keep: Callable[[str], int], arrive: Callable[[Arrival], None]) -> None:
        self.start = start
        self._keep = keep
        self._arrive = arrive
        self._journal = Journal()
        self._known: list[_Known] = []
        self._n: dict[str, int] = {}
        self._by_key: dict[Key, list[int]] = {}
        self._turns: list[_Turn] = []
        self._turn_of_call: dict[str, int] = {}
        self._edits: list[EditRow] = []
        self._cuts: list[CutRow] = []
        self._summaries: dict[int, list[int]] = {}
        self._open_cut: int | None = None
        self.first_at: str | None = None
        self.last_at: str | None = None

    # ---------------------------------------------------------------- events

    def feed(self, event: SessionStart | Block | Call | CallEnd | Edit | Cut | Snapshot) -> None:
        match event:
            case Block():
                self._block(event)
            case Call():
                self._call(event)
            case CallEnd():
                self._call_end(event)
            case Edit():
                self._edit(event, None)
            case Cut():
                self._cut(event)
            case Snapshot():
                self._snapshot(event)
            case SessionStart():
                self.start = event

    def finish(self) -> Built:
        return Built(
            spans=self._journal.close(),
            turns=[_turn_row(i + 1, t) for i, t in enumerate(self._turns)],
            edits=self._edits,
            cuts=self._cuts,
            summaries={cut: tuple(blocks) for cut, blocks in self._summaries.items()},
        )

    @property
    def _next_turn(self) -> int:
        return len(self._turns) + 1

    # -------------------------------------------------------------- arrivals

    def _block(self, event: Block) -> None:
        n, content = self._register(event)
        if not event.enters:
            number = len(self._edits)
            self._journal.append(n, self._next_turn, content)
            self._add_edit(n, "drop", "never-sent", event.note or "the log shows no call that it was sent in", None)
            self._journal.drop(n, self._next_turn, number)
        else:
            self._place(n, content, event.place, "summary" if event.kind == "summary" else "verbatim")
        if event.inserted:
            self._note_insert(n, event)

    def _register(self, event: Block) -> tuple[int, int]:
        """Give the block its number and keep its text."""
        content = self._keep(event.text)
        n = len(self._known)
        key = _key(event, content)
        self._known.append(_Known(key, event.kind, len(event.text), event.human))
        self._by_key.setdefault(key, []).append(n)
        self._n[event.id] = n
        if event.at:
            self.first_at = self.first_at or event.at
            self.last_at = event.at
        self._arrive(Arrival(event, n, len(self._turns), content))
        return n, content

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
        ref = self._n.get(place.ref or "")
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
        if event.id in self._turn_of_call:
            return
        self._turn_of_call[event.id] = len(self._turns)
        self._turns.append(_Turn(event))
        self._open_cut = None
        if event.at:
            self.first_at = self.first_at or event.at
            self.last_at = event.at

    def _call_end(self, event: CallEnd) -> None:
        index = self._turn_of_call.get(event.id)
        if index is None:
            return
        turn = self._turns[index]
        turn.usage = event.usage or turn.usage
        turn.stop_reason = event.stop_reason or turn.stop_reason
        turn.error = event.error or turn.error

    # ----------------------------------------------------------------- edits

    def _edit(self, event: Edit, cut: int | None) -> bool:
        """Apply one edit of the log; False when it had nothing to act on."""
        n = self._n.get(event.block)
        if n is None:
            return False
        journal, turn = self._journal, self._next_turn
        is_open = n in journal
        number = len(self._edits)
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
            self._place(n, self._known[n].key[3], event.place or Place(), event.form)
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
                n=len(self._edits),
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

    def _cut(self, event: Cut) -> None:
        number = len(self._cuts)
        before = len(self._journal)
        dropped = sum(self._edit(edit, number) and edit.action == "drop" for edit in event.edits)
        self._add_cut(event.kind, event.origin, event.trigger, event.before, event.after, dropped, before - dropped)

    def _add_cut(
        self,
        kind: CutKind,
        origin: Origin,
        trigger: str | None,
        before: int | None,
        after: int | None,
        dropped: int,
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
        new_keys = [_key(b, c) for b, c in zip(event.blocks, contents)]
        found = align([(*self._known[n].key[:3], self._journal.content(n)) for n in old], new_keys)
        staying = {old[i] for i in found.kept.values()} | {old[i] for i in found.changed.values()}
        gone = [n for n in old if n not in staying]
        cleared = [
            i
            for i, a in found.changed.items()
            if form_of(event.blocks[i].text, self._known[old[a]].chars) != "verbatim"
        ]
        kind = event.cut or self._kind_of_cut(gone, cleared)
        cut = len(self._cuts) if kind is not None and old else None
        for n in gone:
            number = len(self._edits)
            self._add_edit(n, "drop", kind or "not-resent", f"not in the captured request: {event.why}", cut)
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
        lost = [n for n in gone if self._known[n].kind not in _LOOSE and self._journal.start(n) < turn]
        if lost:
            return "truncate"
        return "clear" if cleared else None

    def _change(self, n: int, block: Block, content: int, cut: int | None, why: str) -> None:
        form = form_of(block.text, self._known[n].chars)
        number = len(self._edits)
        evidence = {"chars_before": self._known[n].chars, "chars_after": len(block.text)}
        self._add_edit(n, "replace", form, f"sent in another form: {why}", cut, evidence=evidence)
        self._journal.replace(n, self._next_turn, content, form, number)

    def _gone(self, block: Block, key: Key) -> int | None:
        """A block that left, of the same content: the one of the same id, else the oldest."""
        gone = [n for n in self._by_key.get(key, ()) if n not in self._journal]
        same = self._n.get(block.id)
        return same if same in gone else next(iter(gone), None)

    def _enter(self, block: Block, index: int, key: Key, cut: int | None, why: str) -> None:
        """A block of the snapshot that was not in the window before: one that comes back, or a new one."""
        back = self._gone(block, key)
        form: Form = "summary" if block.kind == "summary" else "verbatim"
        if back is not None and self._turns:
            self._journal.insert(back, index, self._next_turn, key[3], form)
            self._add_edit(back, "insert", "sent-again", f"back in the captured request: {why}", cut)
            return
        n, content = self._register(_renamed(block, self._n))
        self._journal.insert(n, index, self._next_turn, content, form)
        if block.inserted:
            self._note_insert(n, block)


def _key(block: Block, content: int) -> Key:
    """What tells a block from others: its content, and where it has no text (thinking that was not logged) its id."""
    return block.role, block.kind, block.call_id or (None if block.text else block.id), content


def _renamed(block: Block, taken: Mapping[str, int]) -> Block:
    """The block under an id that is still free: equal texts are told apart by occurrence."""
    if block.id not in taken:
        return block
    count = 2
    while f"{block.id}-{count}" in taken:
        count += 1
    return replace(block, id=f"{block.id}-{count}")


def _place_text(place: Place | None) -> str | None:
    if place is None:
        return None
    if place.where in ("before", "after"):
        return f"{place.where}:{place.ref}"
    return f"index:{place.index}" if place.where == "index" else place.where


def _turn_row(turn: int, t: _Turn) -> TurnRow:
    fidelity: Fidelity = "exact" if t.call.exact else "reconstructed"
    usage = t.usage
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
        stop_reason=t.stop_reason,
        error=t.error,
        inherited=t.call.inherited,
        file=t.call.origin.file,
        line=t.call.origin.line,
    )
