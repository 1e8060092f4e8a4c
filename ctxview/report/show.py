"""`ctxview show`: the window at a turn, block by block, and what happened just before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ctxview.model import EditRow
from ctxview.window import SessionView, WindowBlock


def show_report(view: SessionView, turn: int, *, history: bool = False) -> dict[str, Any]:
    """The window at `turn`; with `history` every block that had arrived by then."""
    call = view.turn(turn)
    sizes = view.tokens(turn)
    rows = view.history(turn) if history else view.window(turn)
    return {
        "session": view.row.session,
        "turn": turn,
        "turns": view.last,
        "model": call.model if call else None,
        "fidelity": view.fidelity_at(turn),
        "missing": list(view.missing_at(turn)),
        "stack": view.stack,
        "fits": view.fits(turn),
        "tokens": {
            "recorded": sizes.recorded,
            "counted": sizes.counted,
            "calibrated": sizes.calibrated,
            "unlogged": sizes.unlogged,
            "limit": sizes.limit,
        },
        "by_kind": view.by_kind(turn),
        "blocks": block_reports(view, rows, turn),
        "edits": [edit_report(view, edit) for edit in view.edits_at(turn)],
    }


def block_report(view: SessionView, row: WindowBlock, turn: int) -> dict[str, Any]:
    """One block as it stands at `turn`."""
    return block_reports(view, [row], turn)[0]


def block_reports(view: SessionView, rows: Sequence[WindowBlock], turn: int) -> list[dict[str, Any]]:
    """Blocks as they stand at `turn`. Their texts are read at once: one by one takes a query each."""
    texts = view.texts_many({row.span.content for row in rows})
    return [_block_report(view, row, turn, texts[row.span.content]) for row in rows]


def _block_report(view: SessionView, row: WindowBlock, turn: int, text: str) -> dict[str, Any]:
    block = row.block
    resource = view.facts.observation_of(block.n)
    change = row.change
    newer = change.because if change and change.state == "superseded" else None
    superseded_by = view.blocks[newer].id if newer is not None else None
    return {
        "id": block.id,
        "turn": block.turn,
        "role": block.role,
        "kind": block.kind,
        "tool": block.tool,
        "call_id": block.call_id,
        "is_error": block.is_error,
        "tokens": row.span.tokens,
        "estimated": block.estimated,
        "form": row.span.form,
        "states": list(row.states),
        "pin": row.pin.kind if row.pin else None,
        "evidence": row.pin.evidence if row.pin else None,
        "resource": resource.key if resource else None,
        "superseded_by": superseded_by,
        "stale_because": change.reason if change and change.state == "stale" else None,
        "age": max(0, turn - block.turn),
        "position": row.position,
        "tag": None,
        "ttl": None,
        "scope": None,
        "tier": None,
        "inherited": block.inherited,
        "entered": row.entered,
        "leaves": row.leaves,
        "left_by": left_by(row.left_by),
        "doubt": view.doubt(block.n, turn),
        "note": block.note,
        "at": block.at,
        "origin": {"file": block.file, "line": block.line, "id": block.origin_id},
        "text": text,
    }


def left_by(edit: EditRow | None) -> str | None:
    """What took a block out of the window, as `layer/rule`."""
    return f"{edit.layer}/{edit.rule}" if edit else None


def edit_report(view: SessionView, edit: EditRow) -> dict[str, Any]:
    return {
        "layer": edit.layer,
        "rule": edit.rule,
        "reason": edit.reason,
        "block": view.blocks[edit.block].id if edit.block is not None else None,
        "action": edit.action,
        "at": edit.at,
        "covers": list(edit.covers),
        "evidence": dict(edit.evidence),
    }
