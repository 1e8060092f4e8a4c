"""Aligns a captured window with the one before it: which blocks stayed, left, changed form, came back or are new.

Blocks are matched by content and in order, never by position, so that a trim of the head, a cleared tool result and an
inserted reminder are each seen as what they are and equal texts are told apart by occurrence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TypeAlias

Key: TypeAlias = tuple[int, int, int, int]
"""(role, kind, call id or else the id of a block without text, content key), each as a number; 0 for no id."""


@dataclass(frozen=True, slots=True)
class Alignment:
    kept: dict[int, int]
    """New index -> old index of the same block in the same form."""
    changed: dict[int, int]
    """New index -> old index of the same block in another form: a call or result with the same call id."""


def align(old: Sequence[Key], new: Sequence[Key]) -> Alignment:
    """Match two windows. Linear where one is a prefix or a suffix-preserving trim of the other."""
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    kept = {i: i for i in range(head)}
    kept |= {len(new) - 1 - i: len(old) - 1 - i for i in range(tail)}
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if middle_old and middle_new:
        for a, b, size in SequenceMatcher(None, middle_old, middle_new, autojunk=False).get_matching_blocks():
            kept |= {head + b + i: head + a + i for i in range(size)}
    return Alignment(kept, _changed(old, new, kept))


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
