"""A map from strings to whole numbers that holds no string: for the ids and texts of long sessions.

A dict of a million ids takes about 200 MB, this about 13. Keys are compared by Python's 64-bit hash of text, which is
seeded anew in each process: nobody can prepare two keys that meet, and by chance two of a million do so once in forty
million traces.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable
from typing import Final

_RECENT: Final = 8_192
"""Entries that stay in a dict: nearly all questions are about recent ones."""
_BUCKETS: Final = 4_096


class CompactMap:
    """Numbers by key, below 2^31 or with `wide` below 2^63. A key is set once or again; none is removed."""

    __slots__ = ("_buckets", "_count", "_recent", "_type")

    def __init__(self, wide: bool = False) -> None:
        self._type = "q" if wide else "i"
        self._recent: dict[int, int] = {}
        self._buckets: list[tuple[array[int], array[int]]] = []
        """By the lowest bits of the hash: hashes, and their numbers."""
        self._count = 0

    def __len__(self) -> int:
        """Entries; one that was set long ago and again of late counts twice."""
        return self._count + len(self._recent)

    def __contains__(self, key: Hashable) -> bool:
        return self.get(key) is not None

    def __setitem__(self, key: Hashable, number: int) -> None:
        self._recent[hash(key)] = number
        if len(self._recent) >= _RECENT:
            self._settle()

    def get(self, key: Hashable) -> int | None:
        """The number last set for `key`."""
        mark = hash(key)
        found = self._recent.get(mark)
        if found is None and self._buckets:
            hashes, numbers = self._buckets[mark % _BUCKETS]
            if mark in hashes:
                return numbers[hashes.index(mark)]
        return found

    def _settle(self) -> None:
        if not self._buckets:
            self._buckets = [(array("q"), array(self._type)) for _ in range(_BUCKETS)]
        for mark, number in self._recent.items():
            hashes, numbers = self._buckets[mark % _BUCKETS]
            if mark in hashes:
                numbers[hashes.index(mark)] = number
            else:
                hashes.append(mark)
                numbers.append(number)
                self._count += 1
        self._recent = {}
