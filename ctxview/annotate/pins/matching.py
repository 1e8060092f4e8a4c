"""Tables of phrases, matched fast: all tables' key words are looked for in one pass, and a rule's pattern runs only on
a sentence that holds one of them.

Patterns see the sentence in lower case and without quotations. A rule about an order (`never ...`) counts only where a
clause starts: elsewhere a subject stands in front, and the sentence tells of something.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeAlias

from ctxview.annotate.patterns import in_lower_case, lazy

Candidates: TypeAlias = int
"""A set of rules: the sum of their bits. These are the rules whose key words a sentence holds."""

_CLAUSE: Final = lazy(
    r"(?:^|[,;:()\[]\s*|\s[-—–]+\s*|…\s*|«…»\s+"
    r"|\b(?:and|but|or|so|then|please|pls|plz|just|also|to|instead|yet|therefore|thus|again|remember|important|note|ok"
    r"|okay)\s+"
    r"|\byou\s+(?:should\s+|must\s+|can\s+|will\s+|shall\s+)?)$"
)
_LOOK_BACK: Final = 30
_LETTERS: Final = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))
_numbers: Final = count()


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    keys: tuple[str, ...]
    """Words or phrases in lower case; without any of them the pattern cannot match."""
    pattern: re.Pattern[str]
    bit: int
    """A power of two that no other rule has."""
    starts_clause: bool = False
    """The match must stand where a clause starts."""

    def matches(self, low: str) -> bool:
        if not self.starts_clause:
            return self.pattern.search(low) is not None
        return any(
            _CLAUSE.search(low, max(0, found.start() - _LOOK_BACK), found.start())
            for found in self.pattern.finditer(low)
        )


def rule(name: str, keys: str, pattern: str) -> Rule:
    """`keys` are parted by `|`."""
    return Rule(name, tuple(keys.split("|")), in_lower_case(pattern), 1 << next(_numbers))


def order(name: str, keys: str, pattern: str) -> Rule:
    """A rule whose match starts a clause."""
    return Rule(name, tuple(keys.split("|")), in_lower_case(pattern), 1 << next(_numbers), starts_clause=True)


class Table:
    """Rules in the order in which they are tried."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = {one.bit: one for one in rules}
        self.bits: Candidates = sum(self.rules)

    def first(self, low: str, candidates: Candidates) -> str | None:
        """The name of the first rule among `candidates` that matches `low`."""
        left = candidates & self.bits
        while left:
            bit = left & -left
            one = self.rules[bit]
            if one.matches(low):
                return one.name
            left ^= bit
        return None


class Vocabulary:
    """The key words of several tables, looked up together."""

    def __init__(self, *tables: Table) -> None:
        self._words: dict[bytes, Candidates] = {}
        self._phrases: dict[bytes, list[tuple[str, Candidates]]] = {}
        """By their longest word."""
        for one in (one for table in tables for one in table.rules.values()):
            for key in one.keys:
                words = _words(key)
                if len(words) > 1:
                    self._phrases.setdefault(max(words, key=len), []).append((key, one.bit))
                else:
                    self._words[words[0]] = self._words.get(words[0], 0) | one.bit
        self._known = frozenset({*self._words, *self._phrases})

    def candidates(self, low: str) -> Candidates:
        """The rules that can match a text in lower case. None of it matches where this is 0."""
        answer = 0
        for word in self._known.intersection(_words(low)):
            answer |= self._words.get(word, 0)
            for phrase, bit in self._phrases.get(word, ()):
                if phrase in low:
                    answer |= bit
        return answer


def _words(low: str) -> list[bytes]:
    """Its runs of the letters a to z."""
    return low.encode("ascii", "replace").translate(_LETTERS).split()
