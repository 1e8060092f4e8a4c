"""A model's context size: what the log proves or states, else the documented rule, else unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ctxview.model import SessionRow, TurnRow

_CLAUDE: Final = 200_000
_CLAUDE_LONG: Final = 1_000_000


def limit_of(row: SessionRow, turns: Sequence[TurnRow]) -> int | None:
    """Tokens, or None when neither the log nor a rule says.

    In order: the log's own number; 1,000,000 when a recorded prompt is above 200,000 or the model's name holds
    `[1m]`; 200,000 for `claude-*`. Source: architecture.md, Limit.
    """
    models = [t.model or "" for t in turns]
    claude = any(m.startswith("claude-") or "/claude-" in m for m in models)
    largest = max((t.recorded or 0 for t in turns), default=0)
    if row.limit is not None and largest <= row.limit:
        return row.limit
    if any("[1m]" in m for m in models) or (claude and largest > _CLAUDE):
        return _CLAUDE_LONG
    return _CLAUDE if claude else None
