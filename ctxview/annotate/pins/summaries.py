"""What a client's summary of a compacted conversation still asks for: the tasks it calls pending, and how to go on."""

from __future__ import annotations

import re
from typing import Final

from ctxview.annotate.patterns import lazy
from ctxview.annotate.pins.found import Found, shorten

_PENDING: Final = lazy(
    r"^[ \t]*(?:\d+\.|#+)?[ \t]*\**(?:(?:Pending|Remaining|Outstanding|Open|Next)"
    r"(?: (?:Tasks?|Work|Items?|Steps?|To-?dos?))?|To-?dos?(?: list)?)"
    r"\**:?\**[ \t]*\n+((?:[ \t]*(?:[-*•][ \t]|\d+[.)][ \t]|[ \t]\S).*(?:\n|\Z))+)",
    re.MULTILINE | re.IGNORECASE,
)
"""A heading and its lines: they are marked or indented, the next heading is neither."""
_ITEM: Final = lazy(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+(\S.*)", re.MULTILINE)
_NONE: Final = lazy(r"\W*(?:none|no|nothing|n/a)\b", re.IGNORECASE)
_CONDENSED: Final = "USER_CONTEXT:"
_GO_ON: Final = ("Please continue the conversation from where", "Continue the conversation from where")


def pending_tasks(summary: str) -> Found | None:
    """The tasks that a summary lists as pending; None when it names none."""
    for section in _PENDING.finditer(summary):
        items = [item for item in _ITEM.findall(section[1]) if not _NONE.match(item)]
        if items:
            quote = "; ".join(item.replace("**", "") for item in items)
            return Found("workflow", "a summary's pending tasks", shorten(quote))
    return None


def is_condensed(text: str) -> bool:
    """A summary that stands as a message of the person (OpenHands' condenser)."""
    return text.startswith(_CONDENSED)


def how_to_go_on(summary: str) -> str:
    """The client's own words behind a summary; empty where there are none."""
    at = max(summary.rfind("\n" + start) for start in _GO_ON)
    return summary[at + 1 :] if at >= 0 else ""
