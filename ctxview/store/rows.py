"""Rows to tuples in column order, and back. Each table's columns stand here once for writing and once for reading.

Writing keeps text and numbers storable whatever a trace holds: lone surrogates become U+FFFD, and an integer beyond
64 bits becomes NULL, since no count of anything is that large.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from operator import attrgetter
from typing import Any, Final, TypeVar

from ctxview.model import (
    BlockRow,
    CutRow,
    EditRow,
    IssueRow,
    Observation,
    Pin,
    ResourceChange,
    SessionRow,
    SpanRow,
    Stretch,
    TurnRow,
)
from ctxview.text import replace_surrogates
from ctxview.window.table import Filled, Flags, Floats, Ints, Mappings, MaybeInts, Strings, Table, Texts, Tuples

Values = tuple[Any, ...]
R = TypeVar(
    "R", SessionRow, IssueRow, BlockRow, TurnRow, SpanRow, EditRow, CutRow, Stretch, Pin, Observation, ResourceChange
)

BLOCKS: Final = """
    SELECT n, id, message, role, kind, tool, call_id, is_error, content, tokens, estimated, chars, preview, turn, file,
        line, origin_id, "at", injected, inherited, human, inserted, note, image, session_n
    FROM blocks WHERE session_n BETWEEN ? AND ?
"""
TURNS: Final = """
    SELECT turn, call, model, client, "at", fidelity, missing, input, cache_read, cache_write, output, reasoning,
        output_partial, stop_reason, error, inherited, file, line, session_n
    FROM turns WHERE session_n BETWEEN ? AND ?
"""
SPANS: Final = """
    SELECT block, pos, start, "end", form, content, tokens, ended_by, session_n
    FROM spans WHERE session_n BETWEEN ? AND ?
"""
EDITS: Final = """
    SELECT n, turn, layer, rule, reason, block, action, "at", CASE WHEN len(covers) > 0 THEN covers END, evidence, cut,
        session_n
    FROM edits WHERE session_n BETWEEN ? AND ?
"""
CUTS: Final = """
    SELECT n, turn, kind, trigger, before, after, dropped, kept, summary_tokens, file, line, session_n
    FROM cuts WHERE session_n BETWEEN ? AND ?
"""
AUDIT: Final = """
    SELECT start, "end", factor, constant, steps, median_error, p95_error, model, session_n
    FROM audit WHERE session_n BETWEEN ? AND ?
"""
PINS: Final = """
    SELECT block, kind, evidence, rule, since, until, priority, quote, session_n
    FROM pins WHERE session_n BETWEEN ? AND ? ORDER BY rowid
"""
OBSERVATIONS: Final = """
    SELECT block, key, effect, turn, since, call, first, last, content, evidence, rule, session_n
    FROM observations WHERE session_n BETWEEN ? AND ? ORDER BY rowid
"""
CHANGES: Final = """
    SELECT block, key, since, state, because, reason, session_n
    FROM changes WHERE session_n BETWEEN ? AND ? ORDER BY rowid
"""
SESSIONS: Final = """
    SELECT session, parent, parent_call, agent, format, client, title, cwd, "limit", joins_roles, started, ended
    FROM sessions ORDER BY place
"""
SESSIONS_BETWEEN: Final = """
    SELECT session, parent, parent_call, agent, format, client, title, cwd, "limit", joins_roles, started, ended, n
    FROM sessions WHERE n BETWEEN ? AND ?
"""
SIZES: Final = """
    SELECT s.n, count(b.session_n) FROM sessions s LEFT JOIN blocks b ON b.session_n = s.n GROUP BY s.n ORDER BY s.n
"""
AMEND_USAGE: Final = """
    UPDATE turns SET input = ?, cache_read = ?, cache_write = ?, output = ?, reasoning = ?, output_partial = ?
    WHERE session_n = ? AND turn = ?
"""
AMEND_END: Final = """
    UPDATE turns SET stop_reason = coalesce(?, stop_reason), error = CASE WHEN ? THEN NULL ELSE coalesce(?, error) END
    WHERE session_n = ? AND turn = ?
"""
STANDING: Final = """
    SELECT s.block, b.kind = 'tool_result' AND (s.start < $2 OR EXISTS (
        SELECT 1 FROM spans p WHERE p.block_key = s.block_key AND p."end" = $2 AND p.start < p."end"
    ))
    FROM spans s JOIN blocks b USING (block_key)
    WHERE s.session_n = $1 AND s.start <= $2 AND s."end" > $2
    ORDER BY s.pos
"""
STALE_AFTER: Final = "SELECT value FROM meta WHERE key = 'stale_after'"
NOTE_RULES: Final = "SELECT value FROM meta WHERE key = 'note_rules'"
NUMBER: Final = "SELECT n FROM sessions WHERE session = ?"
ISSUES: Final = "SELECT file, line, byte, severity, reason, session FROM issues ORDER BY n"
FILES: Final = """
    SELECT n, path, format, bytes, records, "window", duplicates, unreadable FROM files ORDER BY n
"""
RECORDS: Final = "SELECT file, disposition, type, records FROM records ORDER BY rowid"

# ------------------------------------------------------------------------------------------------------- to tuples

_block: Final[Callable[[BlockRow], Values]] = attrgetter(
    "n", "id", "message", "role", "kind", "tool", "call_id", "is_error", "content", "tokens", "estimated", "chars",
    "preview", "turn", "file", "line", "origin_id", "at", "injected", "inherited", "human", "inserted", "note", "image",
)  # fmt: skip
_span: Final[Callable[[SpanRow], Values]] = attrgetter(
    "block", "pos", "start", "end", "form", "content", "tokens", "ended_by"
)
_turn: Final[Callable[[TurnRow], Values]] = attrgetter(
    "turn", "call", "model", "client", "at", "fidelity", "missing", "input", "cache_read", "cache_write", "output",
    "reasoning", "output_partial", "stop_reason", "error", "inherited", "file", "line",
)  # fmt: skip
_cut: Final[Callable[[CutRow], Values]] = attrgetter(
    "n", "turn", "kind", "trigger", "before", "after", "dropped", "kept", "summary_tokens", "file", "line"
)
_stretch: Final[Callable[[Stretch], Values]] = attrgetter(
    "start", "end", "factor", "constant", "steps", "median_error", "p95_error", "model"
)
_pin: Final[Callable[[Pin], Values]] = attrgetter(
    "block", "kind", "evidence", "rule", "since", "until", "priority", "quote"
)
_observation: Final[Callable[[Observation], Values]] = attrgetter(
    "block", "key", "effect", "turn", "since", "call", "first", "last", "content", "evidence", "rule"
)
_change: Final[Callable[[ResourceChange], Values]] = attrgetter("block", "key", "since", "state", "because", "reason")
_session: Final[Callable[[SessionRow], Values]] = attrgetter(
    "session", "parent", "parent_call", "agent", "format", "client", "title", "cwd", "limit", "joins_roles", "started",
    "ended",
)  # fmt: skip
_issue: Final[Callable[[IssueRow], Values]] = attrgetter("file", "line", "byte", "severity", "reason", "session")

_KEY_SHIFT: Final = 32


def block_values(session: int, rows: Iterable[BlockRow]) -> Iterator[Values]:
    base = session << _KEY_SHIFT
    return ((session, base + row.n, *_block(row)) for row in rows)


def span_values(session: int, rows: Iterable[SpanRow]) -> Iterator[Values]:
    """In order of start: see schema.sql."""
    base = session << _KEY_SHIFT
    return ((session, base + row.block, *_span(row)) for row in sorted(rows, key=attrgetter("start", "pos")))


def turn_values(session: int, rows: Iterable[TurnRow]) -> Iterator[Values]:
    return ((session, *_turn(row)) for row in rows)


def edit_values(session: int, rows: Iterable[EditRow]) -> Iterator[Values]:
    return (
        (session, r.n, r.turn, r.layer, r.rule, r.reason, r.block, r.action, r.at, r.covers, _json(r.evidence), r.cut)
        for r in rows
    )


def cut_values(session: int, rows: Iterable[CutRow]) -> Iterator[Values]:
    return ((session, *_cut(row)) for row in rows)


def stretch_values(session: int, rows: Iterable[Stretch]) -> Iterator[Values]:
    return ((session, *_stretch(row)) for row in rows)


def pin_values(session: int, rows: Iterable[Pin]) -> Iterator[Values]:
    return ((session, *_pin(row)) for row in rows)


def observation_values(session: int, rows: Iterable[Observation]) -> Iterator[Values]:
    return ((session, *_observation(row)) for row in rows)


def change_values(session: int, rows: Iterable[ResourceChange]) -> Iterator[Values]:
    return ((session, *_change(row)) for row in rows)


def session_values(number: int, place: int, row: SessionRow) -> Values:
    return (number, place, *_session(row))


def issue_values(first: int, rows: Iterable[IssueRow]) -> Iterator[Values]:
    return ((n, *_issue(row)) for n, row in enumerate(rows, first))


def storable(values: Sequence[Any]) -> Values:
    """The same row, with what DuckDB cannot hold replaced."""
    return tuple(_storable(value) for value in values)


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return replace_surrogates(value)[0]
    if isinstance(value, tuple):
        return storable(value)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        return None
    return value


def _json(evidence: Any) -> str:
    return json.dumps(dict(evidence), ensure_ascii=False, default=str, separators=(",", ":"))


# ------------------------------------------------------------------------------------------------------ from tuples


def _maker(row: Callable[..., R]) -> Callable[[Iterable[Values]], list[R]]:
    return lambda found: list(starmap(row, found))


sessions: Final = _maker(SessionRow)
issues: Final = _maker(IssueRow)
cuts: Final = _maker(CutRow)
pins: Final = _maker(Pin)
observations: Final = _maker(Observation)
changes: Final = _maker(ResourceChange)


def turns(found: Iterable[Values]) -> list[TurnRow]:
    """The database gives each row strings of its own; here rows with the same word hold the same string."""
    words: dict[str | None, str | None] = {}

    def made(values: Values) -> TurnRow:
        own = list(values)
        for place in (2, 3, 5, 13, 14, 16):
            own[place] = words.setdefault(own[place], own[place])
        own[6] = tuple(own[6])
        return TurnRow(*own)

    return list(map(made, found))


def blocks(batches: Iterable[Sequence[Values]]) -> Table[BlockRow]:
    columns: dict[str, Filled] = {
        "n": Ints(), "id": Strings(), "message": Strings(), "role": Strings(), "kind": Strings(), "tool": Strings(),
        "call_id": Strings(), "is_error": Flags(), "content": Ints(), "tokens": Ints(), "estimated": Flags(),
        "chars": Ints(), "preview": Texts(), "turn": Ints(), "file": Strings(), "line": Ints(),
        "origin_id": Strings(), "at": Strings(), "injected": Flags(), "inherited": Flags(), "human": Flags(),
        "inserted": Flags(), "note": Strings(), "image": Strings(),
    }  # fmt: skip
    return Table(columns, BlockRow, batches, ["n"])


def spans(batches: Iterable[Sequence[Values]]) -> Table[SpanRow]:
    columns: dict[str, Filled] = {
        "block": Ints(), "pos": Floats(), "start": Ints(), "end": Ints(), "form": Strings(), "content": Ints(),
        "tokens": Ints(), "ended_by": MaybeInts(),
    }  # fmt: skip
    return Table(columns, SpanRow, batches, ["start", "pos"])


def edits(batches: Iterable[Sequence[Values]]) -> Table[EditRow]:
    columns: dict[str, Filled] = {
        "n": Ints(), "turn": Ints(), "layer": Strings(), "rule": Strings(), "reason": Strings(), "block": MaybeInts(),
        "action": Strings(), "at": Strings(), "covers": Tuples(), "evidence": Mappings(), "cut": MaybeInts(),
    }  # fmt: skip
    return Table(columns, EditRow, batches, ["n"])


def stretches(found: Iterable[Values]) -> list[Stretch]:
    return list(starmap(Stretch, ((*v[:4], tuple(v[4]), *v[5:]) for v in found)))
