"""Each row at each turn: drafted or not, encoded or not, when it was last seen, and where its value was lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from typing import Final, Literal, TypeAlias

from ctxview.annotate.note_rules import NoteRules
from ctxview.errors import UsageError
from ctxview.ledger.drafts import Draft, Drafts, Written, find_drafts
from ctxview.ledger.encoding import distinctive_tokens, holds_any, holds_value, value_pattern
from ctxview.ledger.rows import LedgerRow, find_rows
from ctxview.ledger.sidecar import rows_beside
from ctxview.ledger.work import Work
from ctxview.window import SessionView

Coarse: TypeAlias = Literal["encoded", "missing", "unchecked", "in-grace", "not-drafted"]
Strict: TypeAlias = Literal["value-encoded", "missing", "not-drafted"]
Tier: TypeAlias = Literal["window", "ledger", "source"]
_READ: Final = 256
"""Texts read at once."""
_Overdue: TypeAlias = Literal["missing", "in-grace", "not-drafted"]


@dataclass(frozen=True, slots=True)
class RowState:
    """One row in the window of one turn."""

    row: LedgerRow
    coarse: Coarse
    strict: Strict
    first_seen: int | None
    """First turn whose window could hold the value; None when it was never seen before that turn."""
    last_seen: int | None
    """Newest turn by which the value was read or brought back."""
    age: int | None
    """Turns since then."""
    tier: Tier | None
    """Where the fact lives: in the window itself, in the ledger alone, or only in a source that was read."""


_MOST_TURNS: Final = 200
"""Turns with drafts that are looked at for when a value was lost."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A section was closed with rows outstanding: refused once, with the list; the second try passes."""

    turn: int
    section: str
    outstanding: tuple[str, ...]
    """Ids of the rows."""
    refused: bool


@dataclass(frozen=True, slots=True)
class Survival:
    """How far each value came, over the whole session. The parts add up to `values`."""

    values: int
    never_seen: int
    seen_not_noted: int
    noted_not_encoded: int
    encoded_without_value: int
    shipped: int


def ledger_of(view: SessionView) -> tuple[Ledger, str]:
    """A session's ledger with the rows of the file beside its trace; and why that file could not be read, empty when
    it could or there is none."""
    try:
        return Ledger(view, rows_beside(view)), ""
    except UsageError as error:
        return Ledger(view), error.cause


class Ledger:
    """The rows of one session, from its own note calls and from a sidecar, and their fate."""

    def __init__(self, view: SessionView, extra: Sequence[LedgerRow] = (), rules: NoteRules | None = None) -> None:
        self._view = view
        self._rules = rules or view.facts.note_rules
        noted = find_rows(view, self._rules)
        known = {(r.finding, r.value) for r in noted}
        merged = [*noted, *(r for r in extra if (r.finding, r.value) not in known)]
        self.rows: tuple[LedgerRow, ...] = tuple(
            LedgerRow(f"L{i}", r.finding, r.value, r.source, r.noted_at, r.section, r.block)
            for i, r in enumerate(merged, 1)
        )
        self._work = Work(view)
        self._tokens = {r.id: distinctive_tokens(r.finding, r.value) for r in self.rows}

    @cached_property
    def drafts(self) -> Drafts:
        return find_drafts(self._view)

    def known_at(self, turn: int) -> tuple[LedgerRow, ...]:
        """The rows noted before the window of `turn`."""
        return tuple(r for r in self.rows if r.noted_at is not None and r.noted_at < turn)

    def at(self, turn: int) -> tuple[RowState, ...]:
        """Every finding known in the window of `turn`, at the end also those that only the sidecar has; behind them
        the items of work."""
        text = self.drafts.text_at(turn)
        drafts = self.drafts.before(turn)
        findings = tuple(self._state(row, turn, text, drafts) for row in self._findings(turn))
        return findings + tuple(self._work_state(row, turn, drafts) for row in self._work.at(turn))

    def _findings(self, turn: int) -> tuple[LedgerRow, ...]:
        return self.rows if turn >= self._view.now else self.known_at(turn)

    def later(self, turn: int) -> int:
        """How many findings are noted after the window of `turn`."""
        return len(self.rows) - len(self._findings(turn))

    def _state(self, row: LedgerRow, turn: int, text: str, drafts: Sequence[Draft]) -> RowState:
        seen = [t for t in self._sightings[row.id] if t <= turn]
        return RowState(
            row=row,
            coarse=self._coarse(row, turn, text, drafts),
            strict=self._strict(row, turn, text, drafts),
            first_seen=seen[0] if seen else None,
            last_seen=seen[-1] if seen else None,
            age=turn - seen[-1] if seen else None,
            tier=self._tier(row, turn, bool(seen)),
        )

    def _work_state(self, row: LedgerRow, turn: int, drafts: Sequence[Draft]) -> RowState:
        """An item of work: no value of it can be looked for in a text, so that it is never missing there."""
        assert row.block is not None
        assert row.noted_at is not None
        written = self._view.blocks[row.block].turn + 1
        return RowState(
            row=row,
            coarse="unchecked" if drafts else "not-drafted",
            strict="not-drafted",
            first_seen=row.noted_at + 1,
            last_seen=written,
            age=turn - written,
            tier="window" if any(s.block == row.block for s in self._view.spans_at(turn)) else "ledger",
        )

    def _coarse(self, row: LedgerRow, turn: int, text: str, drafts: Sequence[Draft]) -> Coarse:
        if not drafts:
            return "not-drafted"
        tokens = self._tokens[row.id]
        if not tokens:
            return "unchecked"
        if holds_any(text, tokens):
            return "encoded"
        return self._overdue(row, turn, drafts)

    def _strict(self, row: LedgerRow, turn: int, text: str, drafts: Sequence[Draft]) -> Strict:
        if not drafts:
            return "not-drafted"
        if holds_value(text, row.value):
            return "value-encoded"
        return "not-drafted" if self._overdue(row, turn, drafts) == "not-drafted" else "missing"

    def _overdue(self, row: LedgerRow, turn: int, drafts: Sequence[Draft]) -> _Overdue:
        """What a row that is not in the text is: missing once its own section was written, or two sections were since
        it was noted, or the document was finished; in the grace of one section before that."""
        if turn >= self._view.now or self._is_closed(drafts):
            return "missing"
        since = [d for d in drafts if row.noted_at is None or d.turn > row.noted_at]
        if row.section:
            return "missing" if any(_same(d.section, row.section) for d in since) else "not-drafted"
        sections = len({d.section for d in since})
        return "missing" if sections >= 2 else "in-grace" if sections else "not-drafted"

    def _is_closed(self, drafts: Sequence[Draft]) -> bool:
        """Whether the document was finished: at the final close everything outstanding counts."""
        return any(d.is_final for d in drafts)

    def gates(self, until: int | None = None) -> tuple[Gate, ...]:
        """Each close of a section or of the document, and what was outstanding then."""
        tried: set[str] = set()
        found: list[Gate] = []
        written, drafts = Written(), list[Draft]()
        for asked_in, group in groupby(self.drafts.items, key=attrgetter("turn")):
            turn = asked_in + 1
            if until is not None and turn > until:
                break
            together = tuple(group)
            for draft in together:
                written.add(draft)
            drafts += together
            text = written.text
            outstanding = tuple(
                row.id for row in self.known_at(turn) if self._coarse(row, turn, text, drafts) == "missing"
            )
            for draft in together:
                refused = bool(outstanding) and draft.section not in tried
                found.append(Gate(turn, draft.section, outstanding, refused))
                if outstanding:
                    tried.add(draft.section)
        return tuple(found)

    def lost(self) -> tuple[tuple[int, LedgerRow], ...]:
        """The values that what was written lacks at the end, each with the turn since which it does; by turn."""
        rows = [row for row in self.rows if row.value]
        if not rows:
            return ()
        since: dict[str, int] = {}
        turns = sorted({draft.turn + 1 for draft in self.drafts.items})[-_MOST_TURNS:]
        for turn in (self._view.now, *reversed(turns)):
            text, drafts = self.drafts.text_at(turn), self.drafts.before(turn)
            known = {row.id for row in self._findings(turn)}
            rows = [row for row in rows if row.id in known and self._strict(row, turn, text, drafts) == "missing"]
            since |= {row.id: turn for row in rows}
        lost = [(since[row.id], row) for row in self.rows if row.id in since]
        return tuple(sorted(lost, key=lambda found: found[0]))

    @cached_property
    def survival(self) -> Survival:
        """Where each value was lost, by the end of the session; a row without a value has none to lose."""
        counts = {
            "never_seen": 0,
            "seen_not_noted": 0,
            "noted_not_encoded": 0,
            "encoded_without_value": 0,
            "shipped": 0,
        }
        text, drafts = self.drafts.text_at(self._view.now), self.drafts.before(self._view.now)
        rows = [row for row in self.rows if row.value]
        for row in rows:
            state = self._state(row, self._view.now, text, drafts)
            if state.strict == "value-encoded":
                counts["shipped"] += 1
            elif state.row.block is None and state.row.noted_at is None:
                counts["seen_not_noted" if state.first_seen is not None else "never_seen"] += 1
            elif state.coarse == "encoded":
                counts["encoded_without_value"] += 1
            else:
                counts["noted_not_encoded"] += 1
        return Survival(len(rows), **counts)

    @cached_property
    def notes_share(self) -> float | None:
        """Share of the turns whose answer took a note or wrote the list of work; None without turns."""
        if not self._view.last:
            return None
        calls = [b for b in self._view.blocks if b.kind == "tool_call"]
        turns = {b.turn for b in calls if self._rules.takes_notes(b.tool)} | {b.turn for b in self._work.calls}
        return round(len(turns) / self._view.last, 4)

    @cached_property
    def _sightings(self) -> dict[str, list[int]]:
        """Row id -> turns whose windows brought its value, oldest first: in any block but the system text that came,
        came back or took another form then. What stood in no window was not seen."""
        found: dict[str, list[int]] = {row.id: [] for row in self.rows}
        before: dict[int, tuple[int, int]] = {}
        """By block: where its latest span ended, and with which content."""
        for span in self._view.spans:
            if span.start >= span.end:
                continue
            stays_on = before.get(span.block) == (span.start, span.content)
            before[span.block] = span.end, span.content
            held = self._holders.get(span.content)
            if not held or stays_on or self._view.blocks[span.block].kind in ("system", "tools"):
                continue
            turn = max(1, span.start)
            for row_id in held:
                if turn not in found[row_id][-1:]:
                    found[row_id].append(turn)
        return found

    @cached_property
    def _holders(self) -> dict[int, list[str]]:
        """Content key -> ids of the rows whose value its text holds. Every text is read once, many at a time."""
        patterns = {row.id: value_pattern(row.value.strip()) for row in self.rows if row.value.strip()}
        found: dict[int, list[str]] = {}
        if not patterns:
            return found
        contents = sorted({s.content for s in self._view.spans})
        for low in range(0, len(contents), _READ):
            for content, text in self._view.texts_many(contents[low : low + _READ]).items():
                held = [row_id for row_id, pattern in patterns.items() if pattern.search(text)]
                if held:
                    found[content] = held
        return found

    def _tier(self, row: LedgerRow, turn: int, seen: bool) -> Tier | None:
        if not seen:
            return None
        if any(row.id in self._holders.get(s.content, ()) for s in self._view.spans_at(turn)):
            return "window"
        return "ledger" if row.noted_at is not None else "source"


def _same(a: str, b: str) -> bool:
    return a.strip().casefold() == b.strip().casefold()
