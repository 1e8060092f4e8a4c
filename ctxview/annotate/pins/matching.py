"""Tables of phrases, matched fast: all tables' key words are looked for in one pass, and a rule's pattern runs only on
a sentence that holds them. A rule names its key words where it stands, and nowhere else.

Patterns see the sentence in lower case and without quotations. A rule about an order (`never ...`) counts only where a
clause starts: elsewhere a subject stands in front, and the sentence tells of something, or the clause is a condition or
a purpose (`if you never ...`, `to avoid ...`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain, count, product
from typing import Final, NamedTuple, TypeAlias

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
_REACH: Final = 110
"""Characters in front of what ends an order, in which it opens."""
_OPENERS: Final = frozenset(
    {
        "and", "but", "or", "so", "then", "please", "pls", "plz", "just", "also", "instead", "yet", "therefore", "thus",
        "again", "remember", "important", "note", "ok", "okay", "to", "you", "should", "must", "can", "will", "shall",
    }
)  # fmt: skip
"""The last words of what `_CLAUSE` finds, where it ends with a word."""
_MARKS: Final = frozenset(",;:()[…")
"""What it ends with, where any such mark will do."""
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
    opens: re.Pattern[str] | None = None
    """What must stand where a clause starts, not far in front of the match and with no full stop between."""

    def matches(self, low: str) -> bool:
        if self.opens is not None:
            return any(_is_opened(low, found.start(), self.opens) for found in self.pattern.finditer(low))
        if not self.starts_clause:
            return self.pattern.search(low) is not None
        return any(_starts_clause(low, found.start()) for found in self.pattern.finditer(low))


def _is_opened(low: str, at: int, opens: re.Pattern[str]) -> bool:
    start = max(at - _REACH, 1 + max(low.rfind(mark, 0, at) for mark in ".;:"))
    return any(_starts_clause(low, found.start()) for found in opens.finditer(low, start, at))


def _starts_clause(low: str, at: int) -> bool:
    if at == 0:
        return True
    before = low[max(0, at - _LOOK_BACK) : at].rstrip()
    if before[-1:] in _MARKS:
        return True
    word = before[before.rfind(" ") + 1 :]
    if word.isalpha() and word not in _OPENERS:
        return False
    return _CLAUSE.search(low, max(0, at - _LOOK_BACK), at) is not None


def rule(name: str, keys: str, pattern: str) -> Rule:
    """`keys`: the words without which the pattern cannot match, in lower case and parted by `|`. Of a phrase all words
    are needed, in any order; of lists parted by ` & `, one of each; of such combinations parted by ` / `, one. A word
    in capitals is a class of `word_class` and stands for any of its words."""
    return Rule(name, _word_sets(keys), in_lower_case(pattern), 1 << next(_numbers))


def order(name: str, keys: str, pattern: str) -> Rule:
    """A rule whose match starts a clause."""
    return replace(rule(name, keys, pattern), starts_clause=True)


def ending(name: str, keys: str, opens: re.Pattern[str], pattern: str) -> Rule:
    """A rule about an order that opens and ends so. Its start is only looked for in front of such an end."""
    return replace(rule(name, keys, pattern), opens=opens)


def by_first_letter(words: Iterable[str]) -> str:
    """A pattern for any of `words`, of which few are tried at each place."""
    letters: dict[str, list[str]] = {}
    for word in words:
        letters.setdefault(word[0], []).append(word[1:])
    return "|".join(f"{letter}(?:{'|'.join(rests)})" for letter, rests in letters.items())


def word_class(name: str, words: Iterable[str]) -> None:
    """Lets rules name many words, any of which they need, by one word in capitals."""
    _classes[name.encode()] = frozenset(word.encode() for word in words)


_classes: Final[dict[bytes, frozenset[bytes]]] = {}


def _word_sets(keys: str) -> tuple[frozenset[bytes], ...]:
    combinations = (product(*(part.split("|") for part in one.split(" & "))) for one in keys.split(" / "))
    chosen = chain.from_iterable(combinations)
    return tuple(frozenset(word for phrase in phrases for word in _words_of(phrase)) for phrases in chosen)


def _words_of(phrase: str) -> list[bytes]:
    word = phrase.encode("ascii")
    return [word] if word in _classes else word.translate(_LETTERS).split()


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
        sets: dict[bytes, dict[frozenset[bytes], Candidates]] = {}
        for one in (one for table in tables for one in table.rules.values()):
            for words in one.keys:
                with_rarest = sets.setdefault(min(words, key=_how_common), {})
                with_rarest[words] = with_rarest.get(words, 0) | one.bit
        named = {word for rules in sets.values() for words in rules for word in words}
        self._classes = tuple((name, words) for name, words in _classes.items() if name in named)
        self._words = frozenset(named.union(*(words for _, words in self._classes)))
        self._by_word = {word: _needs(word, rules) for word, rules in sets.items()}

    def candidates(self, low: str) -> Candidates:
        """The rules that can match a text in lower case. None of it matches where this is 0."""
        held = self._words.intersection(low.encode("ascii", "replace").translate(_LETTERS).split())
        for name, words in self._classes:
            if not words.isdisjoint(held):
                held |= {name}
        answer = 0
        for word in held:
            found = self._by_word.get(word)
            if found is not None:
                alone, pairs, seconds, longer = found
                answer |= alone
                for second in seconds & held:
                    answer |= pairs[second]
                for others, bits in longer:
                    if others <= held:
                        answer |= bits
        return answer


class _Needs(NamedTuple):
    """What rules need of which one word is the rarest."""

    alone: Candidates
    """The rules that need no other word."""
    pairs: dict[bytes, Candidates]
    """The rules that need one other word, by that."""
    seconds: frozenset[bytes]
    """The keys of `pairs`."""
    longer: tuple[tuple[frozenset[bytes], Candidates], ...]


def _needs(word: bytes, rules: dict[frozenset[bytes], Candidates]) -> _Needs:
    others = {words - {word}: bits for words, bits in rules.items()}
    alone = others.pop(frozenset(), 0)
    pairs = {next(iter(words)): bits for words, bits in others.items() if len(words) == 1}
    longer = tuple((words, bits) for words, bits in others.items() if len(words) > 1)
    return _Needs(alone, pairs, frozenset(pairs), longer)


def _how_common(word: bytes) -> tuple[bool, int, bytes]:
    """Long words are rare, classes of them are not."""
    return word in _COMMON or word in _classes, -len(word), word
