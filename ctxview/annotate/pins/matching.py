"""Tables of phrases, matched fast: a rule's pattern runs only on a sentence that holds one of its key words.

Patterns see the sentence in lower case and without quotations. A rule about an order (`never ...`) counts only where a
clause starts: elsewhere a subject stands in front, and the sentence tells of something.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

_CLAUSE: Final = re.compile(
    r"(?:^|[,;:()\[]\s*|\s[-—–]+\s*|…\s*|«…»\s+"
    r"|\b(?:and|but|or|so|then|please|pls|plz|just|also|to|instead|yet|therefore|thus|again|remember|important|note|ok"
    r"|okay)\s+"
    r"|\byou\s+(?:should\s+|must\s+|can\s+|will\s+|shall\s+)?)$"
)
_LOOK_BACK: Final = 30
_UPPER: Final = re.compile(r"(\\.)|([A-Z]+)")


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    keys: tuple[str, ...]
    """Lower case; without any of them the pattern cannot match."""
    pattern: re.Pattern[str]
    starts_clause: bool = False
    """The match must stand where a clause starts."""


def rule(name: str, keys: str, pattern: str) -> Rule:
    """`keys` are parted by `|`."""
    return Rule(name, tuple(keys.split("|")), _compiled(pattern))


def order(name: str, keys: str, pattern: str) -> Rule:
    """A rule whose match starts a clause."""
    return Rule(name, tuple(keys.split("|")), _compiled(pattern), starts_clause=True)


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_UPPER.sub(lambda m: m[1] or m[2].lower(), pattern))


def first_match(rules: Iterable[Rule], low: str) -> str | None:
    """The name of the first rule that matches `low`."""
    for one in rules:
        for key in one.keys:
            if key in low:
                if _matches(one, low):
                    return one.name
                break
    return None


def _matches(one: Rule, low: str) -> bool:
    if not one.starts_clause:
        return one.pattern.search(low) is not None
    return any(
        _CLAUSE.search(low, max(0, found.start() - _LOOK_BACK), found.start()) for found in one.pattern.finditer(low)
    )
