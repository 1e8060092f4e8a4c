"""Lists under a heading that forbids or sets a condition (`Never:`, `Only with explicit consent`): each item binds."""

from __future__ import annotations

from typing import Final

from ctxview.annotate.patterns import in_lower_case, lazy
from ctxview.annotate.pins.found import Found, shorten
from ctxview.annotate.pins.sentences import Sentence

LONGEST: Final = 60
_BINDS: Final = in_lower_case(
    r"(?:(?:actions?|things|rules?|what|you|agents?|the\s+agent)\s+(?:[a-z]+\s+){0,3}?)?(?:must\s+)?"
    r"(?:never(?:\s+(?:ever\s+)?(?:do|break|allowed))?|(?:do\s+not|don't|must\s+not|should\s+not)(?:\s+(?:ever|do))?"
    r"|forbidden|prohibited|disallowed|not\s+allowed|off[- ]limits|(?:do\s+)?only\s+(?:with|after)\b.*"
    r"(?:consent|approval|permission|confirmation|asking))(?:\s+(?:this|these|actions?|operations?|the\s+following))?\W*$"
)
_ITEM: Final = lazy(r"([ \t]*)(?:[-*•]|\d{1,3}[.)])[ \t]+(\S.*)")


def items_under(sentence: Sentence, text: str) -> list[Found]:
    """The items of the list under `sentence`, if that is a heading of such a kind in `text`; else none."""
    heading = sentence.text
    if len(heading) > LONGEST or heading[-1] in ".!?" or not _BINDS.match(sentence.low):
        return []
    at = text.find(heading)
    while at >= 0 and text[text.rfind("\n", 0, at) + 1 : at].strip(" \t#*"):
        at = text.find(heading, at + 1)
    if at < 0:
        return []
    name = f"lays down: an item under «{heading.strip('*:# ')}»"
    found: list[Found] = []
    indent: str | None = None
    for line in text[at + len(heading) :].lstrip("#*: \t").split("\n"):
        item = _ITEM.match(line)
        if item is not None and indent is None:
            indent = item[1]
        if item is not None and item[1] == indent:
            found.append(Found("constraint", name, shorten(item[2].strip())))
        elif line.strip() and (indent is None or len(line) - len(line.lstrip()) <= len(indent)):
            break
    return found
