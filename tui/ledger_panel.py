"""The ledger at a turn: what was noted, whether it reached the text, and what that check is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ctxview.focus import Focus
from ctxview.ledger import Gate, Ledger, RowState, Survival
from ctxview.tui.cells import fit, right, shown
from ctxview.tui.facts import Scene
from ctxview.tui.palette import Words
from ctxview.tui.reports import Report, ReportLine

WORTH: Final = "encoded: a token arrived, not that its condition survived"
_STRICT: Final = "value-encoded: the noted value stands in the text, word for word"
_INKS: Final = {
    "encoded": "good", "value-encoded": "good", "missing": "bad", "in-grace": "warn", "unchecked": "warn",
    "not-drafted": "dim",
}  # fmt: skip
_GLYPHS: Final = {
    "encoded": "✓", "value-encoded": "✓", "missing": "✗", "in-grace": "…", "unchecked": "?", "not-drafted": "·",
}  # fmt: skip
_WORK: Final = {"pending": ("☐", "text"), "in_progress": ("▸", "accent"), "completed": ("☑", "good")}
"""How items of work look, by status: they have no value to look for."""


@dataclass(frozen=True, slots=True)
class Noted:
    """The ledger of one turn, read in a thread."""

    turn: int
    states: Sequence[RowState]
    later: int
    """Findings that are noted after this turn."""
    gates: Sequence[Gate]
    survival: Survival
    trouble: str
    """Why the ledger beside the trace could not be read; empty when it could."""


def read_noted(ledger: Ledger, trouble: str, turn: int) -> Noted:
    """Slow: it reads every text of the session once."""
    states = ledger.at(turn)
    return Noted(turn, states, ledger.later(turn), ledger.gates(turn), ledger.survival, trouble)


def ledger_report(scene: Scene, noted: Noted, focus: Focus) -> Report:
    turn = noted.turn
    now = scene.view.turn(turn) is None
    where = "now" if now else f"turn {turn:,}"
    title = f"≡ Ledger at {where}: {len(noted.states):,} row{'' if len(noted.states) == 1 else 's'}"
    lines: list[ReportLine] = []
    if noted.trouble:
        lines += [ReportLine([(shown(noted.trouble, 300), "bad")]), ReportLine([])]
    if not noted.states and not noted.later:
        return Report("≡ Ledger", [*lines, *(ReportLine([(words, "dim")]) for words in _EMPTY)])
    checks = bool(noted.later) or any(not state.row.status for state in noted.states)
    if checks:
        lines += [ReportLine([(WORTH, "warn")]), ReportLine([(_STRICT, "dim")]), ReportLine([])]
    if not noted.states:
        lines.append(ReportLine([(f"nothing noted yet; {noted.later:,} rows come later", "dim")]))
        return Report(title, lines)
    columns = f"{'coarse':<14}{'strict':<17}" if checks else f"{'status':<31}"
    heads = f"{'':5}{columns}{'noted':>6}{'age':>5}  {'lives in':<9}{'value' if checks else ''}"
    lines.append(ReportLine([(heads, "dim")]))
    at = len(lines)
    for state in noted.states:
        lines += _row(scene, state, focus)
    if noted.later:
        lines.append(ReportLine([(f"     {noted.later:,} more are noted later", "dim")]))
    if noted.survival.values:
        lines += [ReportLine([]), *_gates(noted.gates, focus), ReportLine([]), _survival(noted.survival)]
    return Report(title, lines, at)


_EMPTY: Final = (
    "This session noted nothing down.",
    "",
    "Rows come from calls of note-taking tools (append_ledger, add_note,",
    "remember …), of task and todo tools, and from a file beside the trace,",
    "TRACE.ledger.csv or .jsonl: finding, value, source, noted_at, section.",
)


def _row(scene: Scene, state: RowState, focus: Focus) -> list[ReportLine]:
    row = state.row
    goto = None
    if row.noted_at is not None and row.block is not None:
        stands = min(row.noted_at + 1, scene.view.now)
        goto = replace(focus, turn=stands, block=scene.view.blocks[row.block].id)
    noted = "—" if row.noted_at is None else f"{row.noted_at:,}"
    age = "—" if state.age is None else f"{state.age:,}"
    work = _WORK.get(row.status)
    head: Words = [
        (fit(row.id, 5), "ledger"),
        *(
            [(fit(f"{work[0]} {row.status}", 31), work[1])]
            if work
            else [
                (fit(f"{_GLYPHS[state.coarse]} {state.coarse}", 14), _INKS[state.coarse]),
                (fit(f"{_GLYPHS[state.strict]} {state.strict}", 17), _INKS[state.strict]),
            ]
        ),
        (right(noted, 6), "text"),
        (right(age, 5), "text"),
        (f"  {fit(state.tier or 'unseen', 9)}", "text" if state.tier else "dim"),
        (shown(row.value, 200) or ("" if work else "no value"), "accent" if row.value else "dim"),
    ]
    below: Words = [(" " * 5, "dim"), (shown(row.finding, 300), "text")]
    if row.source:
        below.append((f"  ← {shown(row.source, 120)}", "dim"))
    if row.section:
        below.append((f"  § {shown(row.section, 60)}", "dim"))
    return [ReportLine(head, goto), ReportLine(below)]


def _gates(gates: Sequence[Gate], focus: Focus) -> list[ReportLine]:
    if not gates:
        return [ReportLine([("gates: no section was closed so far", "dim")])]
    lines = [ReportLine([(f"gates so far: {len(gates):,}", "dim")])]
    for gate in gates:
        words: Words = [
            (f"  turn {gate.turn:<6,}", "accent"),
            (f"{'✗ would stop' if gate.refused else '✓ would pass':<14}", "bad" if gate.refused else "good"),
            (shown(gate.section, 60), "text"),
        ]
        if gate.outstanding:
            shown_ids = ", ".join(gate.outstanding[:12]) + (" …" if len(gate.outstanding) > 12 else "")
            words.append((f"  {len(gate.outstanding):,} outstanding: {shown_ids}", "warn"))
        lines.append(ReportLine(words, replace(focus, turn=gate.turn, block=None)))
    return lines


def _survival(s: Survival) -> ReportLine:
    return ReportLine(
        [
            ("by the end: ", "dim"),
            (f"{s.values:,} values", "text"),
            (f" · {s.shipped:,} shipped", "good"),
            (f" · {s.encoded_without_value:,} encoded without their value", "warn"),
            (f" · {s.noted_not_encoded:,} noted only", "bad"),
            (f" · {s.seen_not_noted:,} seen only · {s.never_seen:,} never seen", "dim"),
        ]
    )
