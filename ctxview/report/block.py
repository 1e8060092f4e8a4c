"""`ctxview block`: one block's whole life."""

from __future__ import annotations

from typing import Any

from ctxview.annotate import Pairing
from ctxview.report.show import block_report, left_by
from ctxview.window import SessionView

_NO_PAIRING = Pairing(frozenset(), frozenset(), frozenset())


def block_life_report(view: SessionView, block_id: str) -> dict[str, Any]:
    """Its spans, the turns at which its state changed and why, and the turns that spoke of it again."""
    block = view.block(block_id)
    spans = view.life(block.n)
    row = view.stay_at(block.n, view.now)
    ended = [view.edits[s.ended_by] if s.ended_by is not None else None for s in spans]
    return {
        "block": block_report(view, row, view.now) if row else None,
        "spans": [
            {
                "from": span.start,
                "to": None if span.end > view.now else span.end,
                "form": span.form,
                "tokens": span.tokens,
                "ended_by": left_by(edit),
                "reason": edit.reason if edit else None,
            }
            for span, edit in zip(spans, ended, strict=True)
        ],
        "states": _states(view, block.n),
        "doubts": [
            {"turn": edit.turn, "because": edit.reason}
            for edit in view.edits
            if edit.action == "tag" and edit.block == block.n
        ],
        "used_at": _used_at(view, block.n),
    }


def _states(view: SessionView, n: int) -> list[dict[str, Any]]:
    """The turns at which what is said of the block changes."""
    found: list[dict[str, Any]] = []
    before: tuple[str, ...] | None = None
    for turn in _moments(view, n):
        span = next((s for s in view.life(n) if s.start <= turn < s.end), None)
        if span is None:
            states: tuple[str, ...] = ("absent",)
            ended = next((s for s in reversed(view.life(n)) if s.end <= turn), None)
            edit = view.edits[ended.ended_by] if ended and ended.ended_by is not None else None
            because = edit.reason if edit else None
        else:
            row = view.stand(span, _NO_PAIRING, turn)
            states = row.states
            because = row.change.reason if row.change else row.pin.rule if row.pin else None
        if states != before:
            found.append({"turn": turn, "state": ",".join(states), "because": because})
            before = states
    return found


def _moments(view: SessionView, n: int) -> list[int]:
    """The turns at which anything about the block can change."""
    turns = {t for s in view.life(n) for t in (s.start, s.end) if t <= view.now}
    for pin in view.facts.by_block.get(n, ()):
        turns |= {t for t in (pin.since, pin.until) if t <= view.now}
    turns |= {c.since for c in view.facts.changes if c.block == n}
    turns |= {old for o in view.facts.resources.by_block.get(n, ()) if (old := view.facts.old_from(o)) is not None}
    return sorted(t for t in turns if 1 <= t <= view.now)


def _used_at(view: SessionView, n: int) -> list[int]:
    """Turns whose answer observed or changed the same resource later."""
    own = view.facts.observation_of(n)
    if own is None or own.key is None:
        return []
    later = view.facts.resources.by_key.get(own.key, ())
    return sorted({o.turn for o in later if o.turn > own.turn})
