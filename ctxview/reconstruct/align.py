"""Aligns a captured window with the one before it: which blocks stayed, left, changed form, came back or are new.

Blocks are matched by content and in order, never by position, so that a trim of the head, a cleared tool result and an
inserted reminder are each seen as what they are and equal texts are told apart by occurrence.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Final, TypeAlias

Key: TypeAlias = tuple[int, int, int, int]
"""(role, kind, call id or else the id of a block without text, content key), each as a number; 0 for no id."""

Match: TypeAlias = tuple[int, int]
"""(old index, new index)"""

_CAREFUL: Final = 20_000
"""Pairs of equal blocks between two texts up to which the longest common runs are looked for: with more, that would
take time with the cube of their number."""


@dataclass(frozen=True, slots=True)
class Alignment:
    kept: dict[int, int]
    """New index -> old index of the same block in the same form."""
    changed: dict[int, int]
    """New index -> old index of the same block in another form: a call or result with the same call id."""


def align(old: Sequence[Key], new: Sequence[Key]) -> Alignment:
    """Match two windows. Linear where one is a prefix or a suffix-preserving trim of the other.

    Between head and tail, what stands once in both windows is matched first, then what lies between those.
    """
    head, tail = _same_ends(old, new)
    kept = {i: i for i in range(head)}
    kept |= {len(new) - 1 - i: len(old) - 1 - i for i in range(tail)}
    ends = len(old) - tail, len(new) - tail
    for (a, b), (to_a, to_b) in pairwise([(head - 1, head - 1), *_anchors(old, new, head, ends), ends]):
        if a >= head:
            kept[b] = a
        kept |= {b + 1 + j: a + 1 + i for i, j in _matches(old[a + 1 : to_a], new[b + 1 : to_b])}
    return Alignment(kept, _changed(old, new, kept))


def _same_ends(old: Sequence[Key], new: Sequence[Key]) -> tuple[int, int]:
    """How many blocks are equal from the start on, and how many of the others up to the end."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return head, tail


def _anchors(old: Sequence[Key], new: Sequence[Key], head: int, ends: Match) -> list[Match]:
    """The longest run in order of what stands once between head and tail of both windows."""
    once_old, once_new = _once(old, head, ends[0]), _once(new, head, ends[1])
    pairs = [(once_old[key], at) for key, at in once_new.items() if key in once_old]
    # Patience: the last old index of the best run of each length, and for every pair the one before it.
    lasts: list[int] = []
    tops: list[int] = []
    before: list[int | None] = []
    for number, (a, _) in enumerate(pairs):
        length = bisect_left(lasts, a)
        before.append(tops[length - 1] if length else None)
        lasts[length : length + 1] = [a]
        tops[length : length + 1] = [number]
    run: list[Match] = []
    at = tops[-1] if tops else None
    while at is not None:
        run.append(pairs[at])
        at = before[at]
    return run[::-1]


def _once(keys: Sequence[Key], start: int, end: int) -> dict[Key, int]:
    """Index of each key that stands once in `keys[start:end]`, in order."""
    count = Counter(keys[start:end])
    return {keys[i]: i for i in range(start, end) if count[keys[i]] == 1}


def _matches(old: Sequence[Key], new: Sequence[Key]) -> Iterator[Match]:
    """Equal blocks in order, those beside the ends first; where very many are equal, each new one with the next old
    one."""
    head, tail = _same_ends(old, new)
    yield from ((i, i) for i in range(head))
    yield from ((len(old) - i, len(new) - i) for i in range(1, tail + 1))
    old, new = old[: len(old) - tail], new[: len(new) - tail]
    count = Counter(new[head:])
    pairs = sum(count[key] for key in old[head:])
    if pairs > _CAREFUL:
        places: dict[Key, list[int]] = {}
        for i in range(head, len(old)):
            places.setdefault(old[i], []).append(i)
        last = -1
        for j in range(head, len(new)):
            found = places.get(new[j], ())
            at = bisect_right(found, last)
            if at < len(found):
                last = found[at]
                yield last, j
    elif pairs:
        for a, b, size in SequenceMatcher(None, old[head:], new[head:], autojunk=False).get_matching_blocks():
            yield from ((head + a + i, head + b + i) for i in range(size))


def _changed(old: Sequence[Key], new: Sequence[Key], kept: dict[int, int]) -> dict[int, int]:
    """Pair what is left by kind and call id, as long as the order of the survivors holds."""
    taken = set(kept.values())
    by_call: dict[tuple[int, int], int] = {(k[1], k[2]): i for i, k in enumerate(old) if k[2] and i not in taken}
    changed: dict[int, int] = {}
    before = -1
    following = _next_kept(len(new), kept)
    for index, key in enumerate(new):
        if index in kept:
            before = kept[index]
            continue
        match = by_call.get((key[1], key[2]))
        if match is not None and before < match < following[index]:
            changed[index] = before = match
            del by_call[(key[1], key[2])]
    return changed


def _next_kept(length: int, kept: dict[int, int]) -> list[int]:
    """For each new index, the old index of the next kept block; a number past every index when none follows."""
    following = [0] * length
    nearest = 2**62
    for index in range(length - 1, -1, -1):
        following[index] = nearest
        nearest = kept.get(index, nearest)
    return following
