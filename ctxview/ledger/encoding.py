"""The two tests of a row against a text.

Coarse: any one of the row's distinctive tokens occurs. Strict: the noted value itself occurs. They stand side by side,
because a row can pass one and fail the other. Source: scenarios.md S4.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"[A-Za-z0-9_]+(?:[.,][A-Za-z0-9_]+)*")
_NUMBER: Final = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?")
_LEAST_DIGITS: Final = 4
_LEAST_CHARS: Final = 6


def distinctive_tokens(finding: str, value: str) -> tuple[str, ...]:
    """What could only have come from this row: numbers of four digits or more, and identifiers of six characters or
    more that hold `_`, `.`, a digit or mixed case. Never from the source."""
    found: dict[str, None] = {}
    for text in (finding, value):
        for match in _WORD.finditer(text):
            word = match[0].strip(".,")
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
    return any(_pattern(token).search(text) is not None for token in tokens)


def holds_value(text: str, value: str) -> bool:
    """Whether the noted value occurs in `text` as it was noted: case and spacing aside, and numbers with or without
    thousands marks. An empty value is never held."""
    wanted = value.strip()
    return bool(wanted) and _pattern(wanted).search(text) is not None


@lru_cache(maxsize=4096)
def _pattern(wanted: str) -> re.Pattern[str]:
    if _is_number(wanted):
        plain = wanted.replace(",", "")
        whole, dot, rest = plain.partition(".")
        # 18432 and 18,432 are one number; 118432 and 18432.5 are others.
        digits = "".join(
            f"{d},?" if (len(whole) - i - 1) % 3 == 0 and i < len(whole) - 1 else d for i, d in enumerate(whole)
        )
        return re.compile(rf"(?<![\d.,]){digits}{re.escape(dot + rest)}(?![\d]|[.,]\d)")
    words = r"\s+".join(re.escape(word) for word in wanted.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)
