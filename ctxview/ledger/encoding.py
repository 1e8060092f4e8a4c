"""The two tests of a row against a text.

Coarse: any one of the row's distinctive tokens occurs. Strict: the noted value itself occurs. They stand side by side,
because a row can pass one and fail the other. Source: scenarios.md S4.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_NUMERAL: Final = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER: Final = re.compile(_NUMERAL)
_WORD: Final = re.compile(rf"(?<![A-Za-z0-9_.])(?:{_NUMERAL})(?![A-Za-z0-9_]|\.\w)|[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")
_PARTS: Final = re.compile(rf"(?<![\w.])(?:{_NUMERAL})(?!\w|\.\w)|\s+|(?:(?!\s).)")
"""Of a value: its numbers, the space in it, and all else letter by letter."""
_LEAST_DIGITS: Final = 4
_LEAST_CHARS: Final = 6


def distinctive_tokens(finding: str, value: str) -> tuple[str, ...]:
    """What could only have come from this row: numbers of four digits or more, and identifiers of six characters or
    more that hold `_`, `.`, a digit or mixed case. Never from the source."""
    found: dict[str, None] = {}
    for text in (finding, value):
        for match in _WORD.finditer(text):
            word = match[0]
            if _is_number(word):
                if sum(c.isdigit() for c in word) >= _LEAST_DIGITS:
                    found[word] = None
            elif len(word) >= _LEAST_CHARS and _is_identifier(word):
                found[word] = None
    return tuple(found)


def _is_number(word: str) -> bool:
    return _NUMBER.fullmatch(word) is not None


def _is_identifier(word: str) -> bool:
    if "_" in word or "." in word or any(c.isdigit() for c in word):
        return True
    return word != word.lower() and word != word.upper() and not word.istitle()


def holds_any(text: str, tokens: tuple[str, ...]) -> bool:
    """Whether one of the tokens occurs in `text` as a word of its own; numbers with or without thousands marks."""
    return any(value_pattern(token).search(text) is not None for token in tokens)


def holds_value(text: str, value: str) -> bool:
    """Whether the noted value occurs in `text` as it was noted: case and spacing aside, and numbers with or without
    thousands marks. An empty value is never held."""
    wanted = value.strip()
    return bool(wanted) and value_pattern(wanted).search(text) is not None


@lru_cache(maxsize=4096)
def value_pattern(wanted: str) -> re.Pattern[str]:
    """Finds `wanted`, which is not empty, as a word of its own: case and spacing aside, and its numbers with or without
    thousands marks."""
    parts = [_part(match[0]) for match in _PARTS.finditer(wanted)]
    return re.compile(rf"(?<!\w){''.join(parts)}(?!\w)", re.IGNORECASE)


def _part(part: str) -> str:
    if part.isspace():
        return r"\s+"
    if not _is_number(part):
        return re.escape(part)
    # 18432 and 18,432 are one number; 118432, 1,018,432 and 18432.5 are others.
    whole, dot, rest = part.replace(",", "").partition(".")
    left = range(len(whole) - 1, -1, -1)
    digits = "".join(f"{d},?" if n and n % 3 == 0 else d for d, n in zip(whole, left))
    before = r"(?<!\d\.)(?<!\d,)" if len(whole) % 3 == 0 else r"(?<!\d\.)"
    return rf"{before}{digits}{re.escape(dot + rest)}(?!\.\d|,\d{{3}}(?!\d))"
