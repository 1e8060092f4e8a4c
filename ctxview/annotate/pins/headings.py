"""Lists under a heading that forbids or sets a condition (`Never:`, `Only with explicit consent`): each item binds."""

from __future__ import annotations

from collections.abc import Iterator
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


def items_under(sentence: Sentence, text: str, start: int) -> tuple[list[Found], int]:
    """The items of the list under `sentence`, if that is a heading of such a kind in `text`, and where they end; else
    none and `start`, from where on it is looked for."""
    heading = sentence.text
    if len(heading) > LONGEST or heading[-1] in ".!?" or not _BINDS.match(sentence.low):
        return [], start
    at = text.find(heading, start)
    while at >= 0 and text[text.rfind("\n", 0, at) + 1 : at].strip(" \t#*"):
        at = text.find(heading, at + 1)
    if at < 0:
        return [], start
    name = f"lays down: an item under «{heading.strip('*:# ')}»"
    found: list[Found] = []
    indent: str | None = None
    end = at + len(heading)
    for line in _lines(text, end):
        item = _ITEM.match(line)
        if item is not None and indent is None:
            indent = item[1]
        if item is not None and item[1] == indent:
            found.append(Found("constraint", name, shorten(item[2].strip())))
        elif line.strip("#*: \t") and (indent is None or len(line) - len(line.lstrip()) <= len(indent)):
            break
        end += len(line) + 1
    return found, min(end, len(text))


def _lines(text: str, start: int) -> Iterator[str]:
    """The lines from `start` on, one at a time: most lists are short."""
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
