"""What a client's summary of a compacted conversation still asks for: the tasks it calls pending, and how to go on."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import lazy
from ctxview.annotate.pins.found import Found, shorten

_PENDING: Final = lazy(
    r"^[ \t]*(?:\d+\.|#+)?[ \t]*\**Pending Tasks\**:?\**[ \t]*\n((?:[ \t]*(?:[-*•][ \t]|[ \t]\S).*(?:\n|\Z))+)",
    re.MULTILINE,
)
"""Its lines are marked or indented; the next heading is neither."""
_ITEM: Final = lazy(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(\S.*)", re.MULTILINE)
_NONE: Final = lazy(r"\W*(?:none|no|nothing|n/a)\b", re.IGNORECASE)
_GO_ON: Final = lazy(r"^(?:Please )?[Cc]ontinue the conversation from where (?:it|we) left", re.MULTILINE)


def pending_tasks(summary: str) -> Found | None:
    """The tasks that a summary lists as pending; None when it names none."""
    section = _PENDING.search(summary) if "Pending Tasks" in summary else None
    if section is None:
        return None
    items = [item for item in _ITEM.findall(section[1]) if not _NONE.match(item)]
    quote = "; ".join(item.replace("**", "") for item in items)
    return Found("workflow", "a summary's pending tasks", shorten(quote)) if items else None


def how_to_go_on(summary: str) -> str:
    """The client's own words behind a summary; empty where there are none."""
    starts = [found.start() for found in _GO_ON.finditer(summary)]
    return summary[starts[-1] :] if starts else ""
