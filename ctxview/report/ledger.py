"""`ctxview ledger`: what was noted, and whether it reached what was written."""

from __future__ import annotations

from typing import Any

from ctxview.ledger import Ledger, RowState, rows_beside
from ctxview.window import SessionView


def ledger_report(view: SessionView, turn: int | None = None) -> dict[str, Any]:
    """Rows as the window of `turn` knows them; at the end of the session without one. Raises UsageError for a broken
    ledger file beside the trace."""
    ledger = Ledger(view, rows_beside(view))
    survival = ledger.survival
    return {
        "rows": [_row(state) for state in ledger.at(turn if turn is not None else view.now)],
        "gates": [
            {"turn": g.turn, "section": g.section, "outstanding": list(g.outstanding), "refused": g.refused}
            for g in ledger.gates(turn)
        ],
        "survival": {
            "values": survival.values,
            "never_seen": survival.never_seen,
            "seen_not_noted": survival.seen_not_noted,
            "noted_not_encoded": survival.noted_not_encoded,
            "encoded_without_value": survival.encoded_without_value,
            "shipped": survival.shipped,
        },
        "notes_share": ledger.notes_share,
    }


def _row(state: RowState) -> dict[str, Any]:
    row = state.row
    return {
        "id": row.id,
        "finding": row.finding,
        "value": row.value,
        "source": row.source,
        "noted_at": row.noted_at,
        "section": row.section,
        "status": row.status or None,
        "coarse": state.coarse,
        "strict": state.strict,
        "first_seen": state.first_seen,
        "last_seen": state.last_seen,
        "age": state.age,
        "tier": state.tier,
    }
