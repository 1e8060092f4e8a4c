"""Tables of phrases, matched fast: all tables' key words are looked for in one pass, and a rule's pattern runs only on
a sentence that holds them. A rule names its key words where it stands, and nowhere else.

Patterns see the sentence in lower case and without quotations. A rule about an order (`never ...`) counts only where a
clause starts: elsewhere a subject stands in front, and the sentence tells of something, or the clause is a condition or
a purpose (`if you never ...`, `to avoid ...`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import count, product
from typing import Final, TypeAlias

from ctxview.annotate.patterns import in_lower_case, lazy

Candidates: TypeAlias = int
"""A set of rules: the sum of their bits. These are the rules whose key words a sentence holds."""

_CLAUSE: Final = lazy(
    r"(?:^|[,;:()\[]\s*|\s[-—–]+\s*|…\s*|«…»\s+"
    r"|\b(?:and|but|or|so|then|please|pls|plz|just|also|instead|yet|therefore|thus|again|remember|important|note|ok"
    r"|okay)\s+"
    r"|\b(?:you|remember|try|careful|important|sure|wants?|needs?|has|have|like|prefer|decided|agreed|better)\s+to\s+"
    r"|\byou(?<!\bif you)(?<!\bwhen you)(?<!because you)(?<!whether you)(?<!unless you)(?<!\bthat you)"
    r"\s+(?:should\s+|must\s+|can\s+|will\s+|shall\s+)?)$"
)
_LOOK_BACK: Final = 30
_LETTERS: Final = bytes(code if ord("a") <= code <= ord("z") else ord(" ") for code in range(256))
_COMMON: Final = frozenset(b"you it that for with have do don not and to in i we be is like need please".split())
_numbers: Final = count()


@dataclass(frozen=True, slots=True)
class Rule:
    name: str
    keys: tuple[frozenset[bytes], ...]
    """Sets of words; without all the words of one of them the pattern cannot match."""
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
    """`keys`: the words without which the pattern cannot match, in lower case and parted by `|`. Of a phrase all words
    are needed, in any order; of lists parted by ` & `, one of each."""
    return Rule(name, _word_sets(keys), in_lower_case(pattern), 1 << next(_numbers))


def order(name: str, keys: str, pattern: str) -> Rule:
    """A rule whose match starts a clause."""
    return replace(rule(name, keys, pattern), starts_clause=True)


def _word_sets(keys: str) -> tuple[frozenset[bytes], ...]:
    choices = product(*(part.split("|") for part in keys.split(" & ")))
    return tuple(frozenset(_words(" ".join(chosen))) for chosen in choices)


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
        self._by_word: dict[bytes, dict[frozenset[bytes], Candidates]] = {}
        """The rarest word of each set of key words -> the set -> the rules that have it."""
        for one in (one for table in tables for one in table.rules.values()):
            for words in one.keys:
                sets = self._by_word.setdefault(min(words, key=_how_common), {})
                sets[words] = sets.get(words, 0) | one.bit
        self._rare = frozenset(self._by_word)

    def is_in(self, low: str) -> bool:
        """False where `candidates` of no part of a text in lower case can find a rule."""
        return not self._rare.isdisjoint(_words(low))

    def candidates(self, low: str) -> Candidates:
        """The rules that can match a text in lower case. None of it matches where this is 0."""
        answer = 0
        held = frozenset(_words(low))
        for word in self._rare & held:
            for words, bits in self._by_word[word].items():
                if words <= held:
                    answer |= bits
        return answer


def _how_common(word: bytes) -> tuple[bool, int, bytes]:
    """Long words are rare."""
    return word in _COMMON, -len(word), word


def _words(low: str) -> list[bytes]:
    """Its runs of the letters a to z."""
    return low.encode("ascii", "replace").translate(_LETTERS).split()
