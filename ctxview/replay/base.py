"""What a stack starts from, turn by turn: the recorded window's changes, or the history that only grows.

The history is every block in the order of its first place, entering at its first turn, without what the client's own
cuts put in and without what was never sent. Rewinds stay in force; nothing else ever leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.model import NEVER, EditRow, SpanRow
from ctxview.policies.items import Entry, Item
from ctxview.replay.change import Delta
from ctxview.window import SessionView

UNDO: Final = frozenset({"rewind", "rollback"})
"""Rules of edits that take back what was said; every stack keeps them."""
_NEVER_SENT: Final = "never-sent"


def recorded_base(view: SessionView, items: Sequence[Item]) -> dict[int, Delta]:
    """The recorded spans as they opened and closed, by turn."""
    ranks = {pos: float(i) for i, pos in enumerate(sorted({s.pos for s in view.spans}))}
    deltas: dict[int, Delta] = {}
    spans = [s for s in view.spans if s.start < s.end]
    for span in spans:
        if span.end != NEVER:
            edit = view.edits[span.ended_by] if span.ended_by is not None else None
            deltas.setdefault(span.end, {})[span.block] = (None, edit)
    for span in spans:
        delta = deltas.setdefault(max(1, span.start), {})
        ended = delta.get(span.block)
        entry = Entry(items[span.block], ranks[span.pos], span.tokens, span.form, span.content)
        delta[span.block] = (entry, ended[1] if ended else None)
    return deltas


def history_base(view: SessionView, items: Sequence[Item]) -> dict[int, Delta]:
    """Everything that arrived, by turn. See the module."""
    lives: dict[int, list[SpanRow]] = {}
    for span in view.spans:
        lives.setdefault(span.block, []).append(span)
    edits = view.edits
    unsent = {e.block for e in edits if e.rule == _NEVER_SENT}
    firsts: list[tuple[float, int, int]] = []
    for n, spans in lives.items():
        if view.blocks[n].inserted or (n in unsent and all(s.start == s.end for s in spans)):
            continue
        firsts.append((spans[0].pos, spans[0].start, n))
    firsts.sort()
    deltas: dict[int, Delta] = {}
    for rank, (_, _, n) in enumerate(firsts):
        row = items[n].row
        entry = Entry(items[n], float(rank), row.tokens, "verbatim", row.content)
        spans = lives[n]
        if len(spans) == 1 and spans[0].ended_by is None:
            deltas.setdefault(spans[0].start or 1, {})[n] = (entry, None)
            continue
        for turn, edit, stands in _stays(spans, edits, n in unsent):
            deltas.setdefault(max(1, turn), {})[n] = (entry if stands else None, edit)
    return {turn: _in_order(delta) for turn, delta in deltas.items()}


def _stays(
    spans: Sequence[SpanRow], edits: Sequence[EditRow], skip_empty: bool
) -> list[tuple[int, EditRow | None, bool]]:
    """When one block enters, is taken back, and comes again."""
    found: list[tuple[int, EditRow | None, bool]] = []
    stands = False
    for span in spans:
        if span.start == span.end and skip_empty:
            continue
        if not stands:
            found.append((span.start, None, True))
            stands = True
        edit = edits[span.ended_by] if span.ended_by is not None else None
        if edit is not None and edit.rule in UNDO:
            found.append((span.end, edit, False))
            stands = False
    return found


def _in_order(delta: Delta) -> Delta:
    """Arrivals by their place in the window: a block that was put before others may have come after them."""
    last = -1.0
    for entry, _ in delta.values():
        if entry is not None:
            if entry.pos < last:
                break
            last = entry.pos
    else:
        return delta
    return dict(sorted(delta.items(), key=lambda item: item[1][0].pos if item[1][0] is not None else -1.0))
