"""What was seen of a resource, without its text: a hash of the content, one number per line, and ranges of lines.

It prevents a reading with line numbers and a writing of the same text from counting as two versions.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b
from typing import Any, Final, TypeAlias

import orjson

from ctxview.annotate.patterns import lazy
from ctxview.model import NEVER
from ctxview.values import dataclass

Span: TypeAlias = tuple[int, int]
"""First and last line, 1-based; counted from the end when negative."""
Spans: TypeAlias = tuple[Span, ...]
"""Ascending; empty for the whole resource."""

END: Final = NEVER
"""The last line of a range that goes to the end, where the result does not tell it."""
_TRUNCATED: Final = ("truncated", "omitted", "clipped", "<elided_chars>")
_MARKER_CHARS: Final = 160
_NUMBERED: Final = lazy(r" *(\d{1,9})\t")
_WITHIN: Final = lazy(r"…\s?[\d,]+ (?:tokens?|chars|characters|lines|bytes) truncated\s?…")
"""Words of a client that it puts in the middle of a line, where it cut the text."""


@dataclass(frozen=True, slots=True)
class Text:
    """A text's hash and its lines'. Line ends and newlines at the end make no difference."""

    hash: str
    lines: array[int]


def hash_of(data: bytes) -> str:
    return blake2b(data, digest_size=8).hexdigest()


def text_of(text: str) -> Text:
    if "\r" in text:
        text = text.replace("\r\n", "\n")
    text = text.rstrip("\n")
    lines = array("q", map(hash, text.split("\n"))) if text else array("q")
    return Text(hash_of(text.encode("utf-8", "surrogatepass")), lines)


def hash_json(value: Any) -> str:
    """Hash of a JSON value, whatever the order of its keys."""
    try:
        data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except (TypeError, ValueError, RecursionError):
        data = repr(value).encode("utf-8", "surrogatepass")
    return hash_of(data)


def numbered(text: str) -> tuple[int, int, str] | None:
    """First number, last number and the text without them, when every line is numbered as `cat -n` does it.

    The separator is a tab, an arrow (Claude Code) or a colon (SWE-agent).
    """
    start = len(text) - len(text.lstrip(" "))
    digits = start
    while digits < len(text) and text[digits].isdecimal() and digits - start < 9:
        digits += 1
    if digits == start or digits >= len(text) or text[digits] not in "\t→:|":
        return None
    separator = text[digits]
    text = text.rstrip("\n")
    count = text.count("\n") + 1
    first = int(text[start:digits])
    number, _, _ = text[text.rfind("\n") + 1 :].partition(separator)
    number = number.strip()
    if not number.isdecimal() or len(number) > 9 or int(number) - first + 1 != count:
        return None
    return first, int(number), "\n".join([line.partition(separator)[2] for line in text.split("\n")])


def numbered_runs(text: str) -> list[tuple[int, int, str]]:
    """The runs of lines that are numbered one after another, as several files stand that a shell showed: first and last
    number, and the lines with their numbers. Lines without a number part two runs."""
    runs: list[tuple[int, int, list[str]]] = []
    follows = False
    for line in text.split("\n"):
        number = _NUMBERED.match(line)
        if number is None:
            follows = False
            continue
        at = int(number[1])
        if follows and runs and at == runs[-1][1] + 1:
            first, _, lines = runs[-1]
            lines.append(line)
            runs[-1] = first, at, lines
        else:
            runs.append((at, at, [line]))
        follows = True
    return [(first, last, "\n".join(lines)) for first, last, lines in runs]


def truncated_at(text: str) -> int | None:
    """Where a client's words on lines or characters it left out begin; None when the text is complete."""
    for word in _TRUNCATED:
        at = text.find(word)
        while at >= 0:
            start = text.rfind("\n", 0, at) + 1
            end = text.find("\n", at)
            line = text[start : end if end >= 0 else len(text)]
            if len(line) <= _MARKER_CHARS and line.strip().startswith(("[", "…", "...", "<", "(")):
                return start
            if _WITHIN.search(text, max(start, at - _MARKER_CHARS), at + _MARKER_CHARS):
                return start
            at = text.find(word, at + 1)
    return None


# ----------------------------------------------------------------------------------------------------------- ranges


def overlaps(a: Spans, b: Spans) -> bool:
    """Whether two ranges share a line; a whole shares with all, and ends are only compared with ends."""
    return not a or not b or any(x <= v and u <= y for x, y in a for u, v in b)


def without(spans: Spans, taken: Spans) -> Spans:
    """The lines of `spans` that `taken` does not hold."""
    left = list(spans)
    for u, v in taken:
        rest = []
        for x, y in left:
            if v < x or y < u:
                rest.append((x, y))
                continue
            if x < u:
                rest.append((x, u - 1))
            if v < y:
                rest.append((v + 1, y))
        left = rest
    return tuple(left)


def hull(spans: Spans) -> tuple[int | None, int | None]:
    if not spans:
        return None, None
    return min(x for x, _ in spans), max(y for _, y in spans)


def differing(old: Text, old_first: int, new: Text, new_first: int) -> tuple[int, int] | None:
    """First and last line on which two seen ranges, each from its first line on, contradict each other."""
    start = max(old_first, new_first)
    end = min(old_first + len(old.lines), new_first + len(new.lines))
    if start >= end:
        return None
    a = old.lines[start - old_first : end - old_first]
    b = new.lines[start - new_first : end - new_first]
    if a == b:
        return None
    unequal = [i for i, (x, y) in enumerate(zip(a, b)) if x != y]
    return start + unequal[0], start + unequal[-1]
