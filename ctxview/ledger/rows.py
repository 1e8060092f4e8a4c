"""Rows of the ledger, from the agent's own note-taking calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from ctxview.annotate.note_rules import NoteRules
from ctxview.ledger.outcomes import failed_calls
from ctxview.window import SessionView
from ctxview.window.table import column, pick


@dataclass(frozen=True, slots=True)
class LedgerRow:
    id: str
    finding: str
    value: str
    source: str
    """File and lines, or whatever the note says; empty when it says nothing."""
    noted_at: int | None
    """The turn whose answer noted it; None for a row that only the sidecar knows, without a turn."""
    section: str
    block: int | None = None
    """Block number of the call that noted it; None when it came from a sidecar."""
    status: str = ""
    """Of an item of work: pending, in_progress or completed; empty for a finding."""


def find_rows(view: SessionView, rules: NoteRules | None = None, until: int | None = None) -> tuple[LedgerRow, ...]:
    """The rows noted by the session's own calls, in order. `until`: only calls answered before that turn's window.

    A call that failed noted nothing; a row noted again in the same words counts once. Without `rules`,
    those that the project's settings give hold.
    """
    rules = rules or view.facts.note_rules
    tools = column(view.blocks, "tool")
    takers = {tool for tool in set(tools) if rules.takes_notes(tool)}
    taken = pick(view.blocks, [n for n, tool in enumerate(tools) if tool in takers]) if takers else ()
    notes = [b for b in taken if b.kind == "tool_call" and (until is None or b.turn < until)]
    failed = failed_calls(view, notes) if notes else set()
    found: dict[tuple[str, str, str], LedgerRow] = {}
    for block in notes:
        if block.n in failed:
            continue
        for note in _notes(_arguments(view.text(block.content))):
            row = _row(note, rules, f"L{len(found) + 1}", block.turn, block.n)
            if row is not None:
                found.setdefault((row.finding, row.value, row.section), row)
    return tuple(found.values())


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"note": text}
    return value if isinstance(value, dict) else {"note": text}


_SENTENCES: Final = ("observations", "contents")
"""Where a memory server's tools keep what they note of one thing: a list of sentences."""


def _notes(arguments: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """One call may note several rows in a list, and each of them several sentences."""
    if "command" in arguments and "path" in arguments:  # the memory tool: its path says where the note is kept
        arguments = {"section": arguments["path"], **{k: v for k, v in arguments.items() if k != "path"}}
    for value in arguments.values():
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for item in value:
                yield from _sentences(item)
            return
    yield arguments


def _sentences(item: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in _SENTENCES:
        said = item.get(key)
        if isinstance(said, list):
            for sentence in said:
                yield {"section": item.get("name"), **item, "finding": sentence}
            return
    yield item


def _row(note: Mapping[str, Any], rules: NoteRules, row_id: str, turn: int, block: int) -> LedgerRow | None:
    finding = _first(note, rules.finding_keys)
    value = _first(note, rules.value_keys)
    if not finding and not value:
        return None
    source = _first(note, rules.source_keys)
    lines = _first(note, ("lines", "line", "line_range"))
    if lines and source and lines not in source:
        source = f"{source}:{lines}"
    return LedgerRow(row_id, finding, value, source, turn, _first(note, rules.section_keys), block)


def _first(note: Mapping[str, Any], keys: Iterable[str]) -> str:
    for key in keys:
        value = note.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return str(value)
    return ""
