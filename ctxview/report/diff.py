"""`ctxview diff`: what changed between the windows of two turns, and how much of the head they share."""

from __future__ import annotations

from typing import Any

from ctxview.report.show import block_reports
from ctxview.window import SessionView, diff_windows


def diff_report(view: SessionView, turn_a: int, turn_b: int, other: SessionView | None = None) -> dict[str, Any]:
    """The window of `view` at `turn_a` beside that of `other`, by default the same view, at `turn_b`."""
    second = other if other is not None else view
    found = diff_windows(view, turn_a, second, turn_b)
    prefix = found.prefix
    breaks_at = prefix.breaks_at
    return {
        "added": block_reports(second, found.added, turn_b),
        "removed": block_reports(view, found.removed, turn_a),
        "changed": [
            {"a": a, "b": b}
            for a, b in zip(
                block_reports(view, [a for a, _ in found.changed], turn_a),
                block_reports(second, [b for _, b in found.changed], turn_b),
                strict=True,
            )
        ],
        "tokens": {
            "a": found.tokens_a,
            "b": found.tokens_b,
            "source": {"a": _source(view, turn_a), "b": _source(second, turn_b)},
        },
        "prefix": {
            "shared_tokens": prefix.shared_tokens,
            "share": round(prefix.share, 4) if prefix.share is not None else None,
            "breaks_at": breaks_at.block.id if breaks_at else None,
        },
    }


def _source(view: SessionView, turn: int) -> str:
    """Whose number the size of a window is: two of different sources do not make a difference."""
    sizes = view.tokens(turn)
    if view.base is not None:
        return "simulated" if sizes.unlogged is not None else "simulated, without what was never logged"
    if sizes.recorded is not None:
        return "recorded"
    return "counted" if sizes.calibrated is None else "calibrated"
