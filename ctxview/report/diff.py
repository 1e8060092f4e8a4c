"""`ctxview diff`: what changed between the windows of two turns, and how much of the head they share."""

from __future__ import annotations

from typing import Any

from ctxview.report.show import block_report
from ctxview.window import SessionView, diff_windows


def diff_report(view: SessionView, turn_a: int, turn_b: int, other: SessionView | None = None) -> dict[str, Any]:
    """The window of `view` at `turn_a` beside that of `other`, by default the same view, at `turn_b`."""
    second = other if other is not None else view
    found = diff_windows(view, turn_a, second, turn_b)
    prefix = found.prefix
    breaks_at = prefix.breaks_at
    return {
        "added": [block_report(second, w, turn_b) for w in found.added],
        "removed": [block_report(view, w, turn_a) for w in found.removed],
        "changed": [
            {"a": block_report(view, a, turn_a), "b": block_report(second, b, turn_b)} for a, b in found.changed
        ],
        "tokens": {"a": found.tokens_a, "b": found.tokens_b},
        "prefix": {
            "shared_tokens": prefix.shared_tokens,
            "share": round(prefix.share, 4) if prefix.share is not None else None,
            "breaks_at": breaks_at.block.id if breaks_at else None,
        },
    }
