"""What a client's summary of a compacted conversation still asks for: the tasks it calls pending, and how to go on."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import lazy
from ctxview.annotate.pins.found import Found, shorten

_HEADING: Final = "Pending Tasks"
_PENDING: Final = lazy(
    r"[ \t]*(?:\d+\.|#+)?[ \t]*\**Pending Tasks\**:?\**[ \t]*\n((?:[ \t]*(?:[-*•][ \t]|[ \t]\S).*(?:\n|\Z))+)"
)
"""Its lines are marked or indented; the next heading is neither."""
_ITEM: Final = lazy(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(\S.*)", re.MULTILINE)
_NONE: Final = lazy(r"\W*(?:none|no|nothing|n/a)\b", re.IGNORECASE)
_GO_ON: Final = ("Please continue the conversation from where", "Continue the conversation from where")


def pending_tasks(summary: str) -> Found | None:
    """The tasks that a summary lists as pending; None when it names none."""
    at = summary.find(_HEADING)
    section = _PENDING.match(summary, summary.rfind("\n", 0, at) + 1) if at >= 0 else None
    if section is None:
        return None
    items = [item for item in _ITEM.findall(section[1]) if not _NONE.match(item)]
    quote = "; ".join(item.replace("**", "") for item in items)
    return Found("workflow", "a summary's pending tasks", shorten(quote)) if items else None


def how_to_go_on(summary: str) -> str:
    """The client's own words behind a summary; empty where there are none."""
    at = max(summary.rfind("\n" + start) for start in _GO_ON)
    return summary[at + 1 :] if at >= 0 else ""
